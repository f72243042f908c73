// Layouts: what an executable takes in its own layout never gets data in another one.
#include <optional>

#include "pjrt/internal.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

// With xla.CompileOptionsProto.argument_layouts: f32[2,3]{0,1}.
Bytes asking_for_columns(const CompileOptions& options) {
  const std::string layout("\x0a\x02\x00\x01", 4);       // minor_to_major 0, 1
  std::string shape("\x10\x0b\x1a\x02\x02\x03\x2a", 7);  // f32, dimensions 2 and 3, layout
  shape += static_cast<char>(layout.size());
  shape += layout;
  std::string field("\x0a", 1);
  field += static_cast<char>(shape.size());
  return Bytes(options.serialized()) + field + shape;
}

class LayoutConformance : public Conformance {
 protected:
  static std::int64_t device() { return device_ids().front(); }
  static TensorSpec spec(std::vector<std::int64_t> minor_to_major) {
    TensorSpec spec;
    spec.type = {ElementType::f32, {2, 3}};
    spec.minor_to_major = std::move(minor_to_major);
    return spec;
  }
  // Plus one; the parameter is column-major on the device, the result is not.
  static std::optional<CompiledExecutable> with_column_major_argument() {
    const auto options =
        CompileOptions::from_serialized(asking_for_columns(replicas_on({device()})));
    EXPECT_TRUE(options) << options.error().to_string();
    if (!options) return std::nullopt;
    auto executable = client().compile(program(kPlusOne), *options);
    EXPECT_TRUE(executable) << executable.error().to_string();
    return executable ? std::optional(*executable) : std::nullopt;
  }
};

TEST_F(LayoutConformance, BuffersInAnotherLayoutComeBackRowMajor) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const TensorSpec wanted = spec({0, 1});
  const auto buffer = client().to_device(matrix(0), device(), &wanted);
  PRECAST_ASSERT_OK(buffer);
  const auto host = buffer->to_host();
  PRECAST_ASSERT_OK(host);
  EXPECT_EQ(host->data, matrix(0).data);
}

TEST_F(LayoutConformance, InputsAreSentInTheLayoutThatTheProgramAsksFor) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = compiled(kColumnMajor, {device()});
  ASSERT_TRUE(executable);
  ASSERT_TRUE(executable->signature());
  EXPECT_EQ(executable->signature()->parameters.at(0).to_string(), "f32[2,3]{0,1}");
  EXPECT_EQ(executable->signature()->results.at(0).to_string(), "f32[2,3]{0,1}");
  const auto outputs = executable->run({matrix(0)});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at(0).at(0).data, matrix(1).data);
}

TEST_F(LayoutConformance, InputsAreSentInTheLayoutThatTheOptionsAskFor) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = with_column_major_argument();
  ASSERT_TRUE(executable);
  ASSERT_TRUE(executable->signature());
  EXPECT_EQ(executable->signature()->parameters.at(0).to_string(), "f32[2,3]{0,1}");
  EXPECT_EQ(executable->signature()->results.at(0).to_string(), "f32[2,3]");
  const auto outputs = executable->run({matrix(0)});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at(0).at(0).data, matrix(1).data);
}

// The test above would pass on a plugin that converts by itself. None of ours does: this is what it
// protects from.
TEST_F(LayoutConformance, WithoutTheLayoutTheResultWouldBeWrong) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = with_column_major_argument();
  ASSERT_TRUE(executable);
  ProgramSignature lying;
  lying.parameters = {spec({1, 0})};
  pjrt::set_signature(*executable, std::nullopt);
  const auto plain = client().to_device(matrix(0), device(), &lying.parameters[0]);
  PRECAST_ASSERT_OK(plain);
  pjrt::note_layout_wishes(*executable, nullptr, CompileOptions());
  const auto outputs = executable->execute({{&*plain}});
  PRECAST_ASSERT_OK(outputs);
  const auto host = outputs->at(0).at(0).to_host();
  PRECAST_ASSERT_OK(host);
  EXPECT_NE(host->data, matrix(1).data);
}

TEST_F(LayoutConformance, ResultsComeBackRowMajor) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = compiled(kColumnMajorResult, {device()});
  ASSERT_TRUE(executable);
  ASSERT_TRUE(executable->signature());
  EXPECT_EQ(executable->signature()->parameters.at(0).to_string(), "f32[2,3]");
  EXPECT_EQ(executable->signature()->results.at(0).to_string(), "f32[2,3]{0,1}");
  const auto outputs = executable->run({matrix(0)});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at(0).at(0).data, matrix(1).data);
}

TEST_F(LayoutConformance, ABufferInAnotherLayoutIsRefused) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto column_major = compiled(kColumnMajor, {device()});
  const auto row_major = compiled(kPlusOne, {device()});
  ASSERT_TRUE(column_major && row_major);
  const auto plain = client().to_device(matrix(0), device());
  PRECAST_ASSERT_OK(plain);
  const auto refused = column_major->execute({{&*plain}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  PRECAST_EXPECT_HAS(refused.error().message(),
                     "parameter 0 takes f32[2,3]{0,1} but the buffer lies as f32[2,3]");

  const auto turned =
      client().to_device(matrix(0), device(), &column_major->signature()->parameters.at(0));
  PRECAST_ASSERT_OK(turned);
  const auto outputs = column_major->execute({{&*turned}});
  PRECAST_ASSERT_OK(outputs);
  const auto host = outputs->at(0).at(0).to_host();
  PRECAST_ASSERT_OK(host);
  EXPECT_EQ(host->data, matrix(1).data);
  // A result in one layout as the input of a program that takes another.
  const auto chained = row_major->execute({{&outputs->at(0).at(0)}});
  ASSERT_FALSE(chained);
  EXPECT_EQ(chained.error().code(), ErrorCode::invalid_argument);
}

TEST_F(LayoutConformance, LayoutsThatNobodyTellsAreRefused) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = compiled(kColumnMajor, {device()});
  ASSERT_TRUE(executable);
  pjrt::set_signature(*executable, std::nullopt);
  const auto outputs = executable->run({matrix(0)});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code(), ErrorCode::unsupported);
  const auto buffer = client().to_device(matrix(0), device());
  PRECAST_ASSERT_OK(buffer);
  EXPECT_EQ(executable->execute({{&*buffer}}).error().code(), ErrorCode::unsupported);
}

TEST_F(LayoutConformance, LayoutsAreKeptOverALoad) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = compiled(kColumnMajor, {device()});
  ASSERT_TRUE(executable);
  const auto bytes = executable->serialize();
  PRECAST_ASSERT_OK(bytes);
  const auto loaded =
      pjrt::deserialize_and_load(client(), *bytes, replicas_on({device_ids().back()}).serialized());
  PRECAST_ASSERT_OK(loaded);
  pjrt::set_signature(*loaded, pjrt::read_signature(*loaded));
  ASSERT_TRUE(loaded->signature());
  EXPECT_EQ(*loaded->signature(), *executable->signature());
  const auto outputs = loaded->run({matrix(0)});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at(0).at(0).data, matrix(1).data);
}

}  // namespace
}  // namespace precast::conformance
