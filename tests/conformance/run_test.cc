// Buffers and running.
#include <optional>
#include <thread>

#include "pjrt/internal.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

class RunConformance : public Conformance {
 protected:
  static std::int64_t device() { return device_ids().front(); }
  static ProgramSignature signature() {
    TensorSpec spec;
    spec.type = {ElementType::f32, {2, 3}};
    spec.minor_to_major = {1, 0};
    return {"add_one", {spec, spec}, {spec, spec}};
  }
};

TEST_F(RunConformance, GivesTheResults) {
  const auto executable = compiled(kAddOne, {device()});
  ASSERT_TRUE(executable);
  RunTimes times{-1, -1, -1};
  const auto outputs = executable->run({matrix(0), matrix(10)}, &times);
  PRECAST_ASSERT_OK(outputs);
  ASSERT_EQ(outputs->size(), 1U);
  ASSERT_EQ(outputs->front().size(), 2U);
  EXPECT_EQ(outputs->front()[0].type, (TensorType{ElementType::f32, {2, 3}}));
  EXPECT_EQ(outputs->front()[0].data, matrix(1).data);
  EXPECT_EQ(outputs->front()[1].data, matrix(11).data);
  EXPECT_GE(times.transfer_ms, 0);
  EXPECT_GE(times.run_ms, 0);
  EXPECT_GE(times.fetch_ms, 0);
}

TEST_F(RunConformance, GivesEveryDeviceTheSameInputs) {
  const std::vector<std::int64_t> ids = device_ids();
  if (ids.size() < 2) GTEST_SKIP() << "the client has one device";
  const auto executable = compiled(kAddOne, {ids[1], ids[0]});
  ASSERT_TRUE(executable);
  const auto outputs = executable->run({matrix(0), matrix(10)});
  PRECAST_ASSERT_OK(outputs);
  ASSERT_EQ(outputs->size(), 2U);
  for (const auto& of_device : *outputs) EXPECT_EQ(of_device.at(1).data, matrix(11).data);
}

TEST_F(RunConformance, ExecutesWithBuffersPerDevice) {
  const std::vector<std::int64_t> ids = device_ids();
  if (ids.size() < 2) GTEST_SKIP() << "the client has one device";
  const auto executable = compiled(kAddOne, {ids[0], ids[1]});
  ASSERT_TRUE(executable);
  std::vector<Buffer> buffers;
  for (const std::int64_t id : {ids[0], ids[1]}) {
    auto buffer = client().to_device(matrix(static_cast<float>(id * 100)), id);
    PRECAST_ASSERT_OK(buffer);
    buffers.push_back(std::move(*buffer));
  }
  const auto outputs =
      executable->execute({{&buffers[0], &buffers[0]}, {&buffers[1], &buffers[1]}});
  PRECAST_ASSERT_OK(outputs);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto host = outputs->at(d).at(0).to_host();
    PRECAST_ASSERT_OK(host);
    EXPECT_EQ(host->data, matrix(static_cast<float>(ids[d] * 100) + 1).data);
    EXPECT_FALSE(buffers[d].is_deleted());
  }
}

TEST_F(RunConformance, ConsumesDonatedBuffers) {
  const auto executable = compiled(kDonating, {device()});
  ASSERT_TRUE(executable);
  const HostTensor input = tensor<std::int32_t>(ElementType::s32, {4}, {1, 2, 3, 4});
  const auto buffer = client().to_device(input, device());
  PRECAST_ASSERT_OK(buffer);
  EXPECT_FALSE(buffer->is_deleted());
  const auto outputs = executable->execute({{&*buffer}});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_TRUE(buffer->is_deleted());
  EXPECT_FALSE(buffer->to_host());
  EXPECT_FALSE(executable->execute({{&*buffer}}));
  // run() sends its inputs anew each time.
  for (int i = 0; i < 2; ++i) {
    const auto results = executable->run({input});
    PRECAST_ASSERT_OK(results);
    EXPECT_EQ(values_of<std::int32_t>(results->at(0).at(0)),
              (std::vector<std::int32_t>{2, 3, 4, 5}));
  }
}

TEST_F(RunConformance, ChecksInputsAgainstTheSignature) {
  const auto executable = compiled(kAddOne, {device()});
  ASSERT_TRUE(executable);
  pjrt::set_signature(*executable, signature());
  PRECAST_ASSERT_OK(executable->run({matrix(0), matrix(10)}));
  const HostTensor wrong = tensor<float>(ElementType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto outputs = executable->run({matrix(0), wrong});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(outputs.error().message(), "parameter 1 takes f32[2,3] but the input is f32[3,2]");
}

TEST_F(RunConformance, AWrongCountIsAnErrorWithAndWithoutASignature) {
  const auto executable = compiled(kAddOne, {device()});
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->run({matrix(0)}).error().code(), ErrorCode::plugin_error);
  pjrt::set_signature(*executable, signature());
  EXPECT_EQ(executable->run({matrix(0)}).error().code(), ErrorCode::invalid_argument);
  const auto buffer = client().to_device(matrix(0), device());
  PRECAST_ASSERT_OK(buffer);
  EXPECT_EQ(executable->execute({{&*buffer}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(executable->execute({}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(executable->execute({{&*buffer, nullptr}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(executable->execute({{&*buffer, &*buffer}, {&*buffer, &*buffer}}).error().code(),
            ErrorCode::invalid_argument);
}

TEST_F(RunConformance, BuffersKeepTheirBytes) {
  const std::vector<HostTensor> tensors = {
      tensor<std::uint8_t>(ElementType::pred, {3}, {0, 1, 1}),
      tensor<std::int8_t>(ElementType::s8, {2}, {-1, 2}),
      tensor<std::int64_t>(ElementType::s64, {2}, {-1, INT64_MAX}),
      tensor<std::uint16_t>(ElementType::bf16, {2}, {0x3f80, 0x4000}),
      tensor<double>(ElementType::f64, {1, 2}, {0.1, -0.0}),
      tensor<float>(ElementType::c64, {2}, {1, 2, 3, 4}),
      tensor<std::uint8_t>(ElementType::s4, {5}, {0x08, 0x0f, 0, 1, 7}),  // upper bits do not count
      tensor<float>(ElementType::f32, {}, {4}),
      tensor<float>(ElementType::f32, {0, 3}, {}),
      tensor<float>(ElementType::f32, {2, 1, 3}, {1, 2, 3, 4, 5, 6}),
  };
  for (const HostTensor& sent : tensors) {
    const auto buffer = client().to_device(sent, device());
    PRECAST_ASSERT_OK(buffer);
    const auto type = buffer->type();
    PRECAST_ASSERT_OK(type);
    EXPECT_EQ(*type, sent.type);
    const auto received = buffer->to_host();
    PRECAST_ASSERT_OK(received);
    EXPECT_EQ(received->type, sent.type);
    EXPECT_EQ(received->data, sent.data) << sent.type.to_string();
  }
}

TEST_F(RunConformance, BuffersInAnotherLayoutComeBackRowMajor) {
  PRECAST_SKIP_IF_LACKING("layouts");
  TensorSpec spec = signature().parameters[0];
  spec.minor_to_major = {0, 1};
  const auto buffer = client().to_device(matrix(0), device(), &spec);
  PRECAST_ASSERT_OK(buffer);
  const auto host = buffer->to_host();
  PRECAST_ASSERT_OK(host);
  EXPECT_EQ(host->data, matrix(0).data);
}

TEST_F(RunConformance, InputsAreSentInTheLayoutOfTheExecutable) {
  PRECAST_SKIP_IF_LACKING("layouts");
  const auto executable = compiled(kColumnMajor, {device()});
  ASSERT_TRUE(executable);
  ProgramSignature taken;
  taken.parameters = {signature().parameters[0]};
  taken.parameters[0].minor_to_major = {0, 1};
  pjrt::set_signature(*executable, taken);
  const auto outputs = executable->run({matrix(0)});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at(0).at(0).data, matrix(1).data);
}

TEST_F(RunConformance, BuffersGoToTheWantedMemory) {
  TensorSpec spec = signature().parameters[0];
  for (const std::string& kind : client().devices().front().memory_kinds) {
    spec.memory_kind = kind;
    const auto buffer = client().to_device(matrix(0), device(), &spec);
    PRECAST_ASSERT_OK(buffer);
    const auto host = buffer->to_host();
    PRECAST_ASSERT_OK(host);
    EXPECT_EQ(host->data, matrix(0).data);
  }
  spec.memory_kind = "no_such_memory";
  const auto buffer = client().to_device(matrix(0), device(), &spec);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code(), ErrorCode::invalid_argument);
  PRECAST_EXPECT_HAS(buffer.error().message(), "no_such_memory");
}

TEST_F(RunConformance, BuffersAreCheckedBeforeTheyAreSent) {
  HostTensor cut = matrix(0);
  cut.data.pop_back();
  EXPECT_EQ(client().to_device(cut, device()).error().code(), ErrorCode::invalid_argument);

  const std::int64_t none = device_ids().back() + 1;
  const auto nowhere = client().to_device(matrix(0), none);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code(), ErrorCode::invalid_argument);
  PRECAST_EXPECT_HAS(nowhere.error().message(), std::to_string(none));

  TensorSpec spec = signature().parameters[0];
  spec.type.dimensions = {3, 2};
  EXPECT_EQ(client().to_device(matrix(0), device(), &spec).error().code(),
            ErrorCode::invalid_argument);
  spec = signature().parameters[0];
  spec.has_tiles = true;
  EXPECT_EQ(client().to_device(matrix(0), device(), &spec).error().code(), ErrorCode::unsupported);
}

TEST_F(RunConformance, ThreadsMayRunTheSameExecutable) {
  const auto executable = compiled(kAddOne, {device()});
  ASSERT_TRUE(executable);
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto start = static_cast<float>(t);
      for (int i = 0; i < 20; ++i) {
        const auto outputs = executable->run({matrix(start), matrix(start)});
        if (outputs && outputs->at(0).at(0).data == matrix(start + 1).data) ++right[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 20));
}

}  // namespace
}  // namespace precast::conformance
