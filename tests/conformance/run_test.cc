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
  ASSERT_TRUE(executable->signature());
  EXPECT_EQ(executable->signature()->parameters.size(), 2U);
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
  pjrt::set_signature(*executable, std::nullopt);
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
