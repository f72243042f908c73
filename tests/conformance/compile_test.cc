// Compiling, and what executables say about themselves.
#include "pjrt/internal.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

using CompileConformance = Conformance;

// Only what was compiled in this process can be serialized.
template <typename T>
concept Serializable = requires(const T& executable) { executable.serialize(); };
static_assert(Serializable<CompiledExecutable>);
static_assert(!Serializable<LoadedExecutable>);

const TensorType kMatrix{ElementType::f32, {2, 3}};

TEST_F(CompileConformance, OnTheDefaultDevice) {
  const auto executable = client().compile(program(kAddOne), CompileOptions());
  PRECAST_ASSERT_OK(executable);
  EXPECT_EQ(executable->name(), "add_one");
  EXPECT_EQ(executable->replicas(), 1);
  EXPECT_EQ(executable->partitions(), 1);
  EXPECT_EQ(executable->result_count(), 2U);
  EXPECT_EQ(executable->device_ids(), std::vector<std::int64_t>{device_ids().front()});
}

TEST_F(CompileConformance, OnTheAssignedDevices) {
  const std::vector<std::int64_t> ids = device_ids();
  if (ids.size() < 2) GTEST_SKIP() << "the client has one device";
  const std::vector<std::vector<std::int64_t>> places = {
      {ids.back()}, {ids[0], ids[1]}, {ids[1], ids[0]}};
  for (const auto& place : places) {
    const auto executable = compiled(kAddOne, place);
    ASSERT_TRUE(executable);
    EXPECT_EQ(executable->device_ids(), place);
    EXPECT_EQ(executable->replicas(), static_cast<int>(place.size()));
  }
}

TEST_F(CompileConformance, InPartitions) {
  const std::vector<std::int64_t> ids = device_ids();
  if (ids.size() < 2) GTEST_SKIP() << "the client has one device";
  CompileOptions options;
  options.set_partitions(2);
  options.set_use_spmd(true);
  options.set_assignment(DeviceAssignment{1, 2, {ids[1], ids[0]}});
  const auto executable = client().compile(program(kAddOne), options);
  PRECAST_ASSERT_OK(executable);
  EXPECT_EQ(executable->replicas(), 1);
  EXPECT_EQ(executable->partitions(), 2);
  EXPECT_EQ(executable->device_ids(), (std::vector<std::int64_t>{ids[1], ids[0]}));
}

TEST_F(CompileConformance, ResultsHaveTypesAndPlaces) {
  const auto executable = compiled(kAddOne, {device_ids().front()});
  ASSERT_TRUE(executable);
  const auto types = executable->result_types();
  PRECAST_ASSERT_OK(types);
  EXPECT_EQ(*types, (std::vector<TensorType>{kMatrix, kMatrix}));
  PRECAST_SKIP_IF_LACKING("result_memory_kinds");
  const auto kinds = executable->result_memory_kinds();
  PRECAST_ASSERT_OK(kinds);
  EXPECT_EQ(kinds->size(), 2U);
}

TEST_F(CompileConformance, MemoryStatsCountArgumentsAndOutputs) {
  const auto executable = compiled(kAddOne, {device_ids().front()});
  ASSERT_TRUE(executable);
  const auto stats = executable->memory_stats();
  PRECAST_ASSERT_OK(stats);
  EXPECT_EQ(stats->arguments, 48);
  EXPECT_GE(stats->outputs, 48);
  EXPECT_EQ(stats->aliased, 0);
}

TEST_F(CompileConformance, OptionalFactsAreThereOrSaidToBeMissing) {
  const auto executable = compiled(kAddOne, {device_ids().front()});
  ASSERT_TRUE(executable);
  const auto missing = [](const Error& error) {
    return error.code() == ErrorCode::unsupported || error.plugin_code() == 12;
  };
  const auto cost = executable->cost_analysis();
  EXPECT_TRUE(cost ? !cost->empty() : missing(cost.error()));
  const auto fingerprint = executable->fingerprint();
  EXPECT_TRUE(fingerprint ? !fingerprint->empty() : missing(fingerprint.error()));
}

TEST_F(CompileConformance, TheOptimizedProgramIsAMessage) {
  if (!plugin().capabilities().optimized_program) GTEST_SKIP() << "no optimized_program";
  const auto executable = compiled(kAddOne, {device_ids().front()});
  ASSERT_TRUE(executable);
  const auto optimized = executable->optimized_program();
  PRECAST_ASSERT_OK(optimized);
  ASSERT_FALSE(optimized->empty());
  EXPECT_EQ(optimized->front(), '\x0a');  // field 1, the module
  PRECAST_EXPECT_HAS(*optimized, "add_one");
}

TEST_F(CompileConformance, ThePluginsWordsAreKept) {
  const auto executable = client().compile(program(kBroken), CompileOptions());
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code(), ErrorCode::plugin_error);
  EXPECT_NE(executable.error().plugin_code(), 0);
  PRECAST_EXPECT_HAS(executable.error().message(), "error: ");
  EXPECT_EQ(executable.error().frames(), std::vector<std::string>{"in PJRT_Client_Compile"});
}

TEST_F(CompileConformance, DevicesThatAreNotThereAreRefusedBeforeTheCall) {
  const std::vector<std::int64_t> ids = device_ids();
  const std::int64_t none = ids.back() + 1;
  for (const std::vector<std::int64_t>& place :
       {std::vector<std::int64_t>{none}, {-1}, {ids[0], none}, {ids[0], ids[0]}}) {
    const auto executable = client().compile(program(kAddOne), replicas_on(place));
    ASSERT_FALSE(executable);
    EXPECT_EQ(executable.error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(CompileConformance, AnUnknownOptionIsNamed) {
  PRECAST_SKIP_IF_LACKING("xla_options");
  CompileOptions options;
  ASSERT_TRUE(options.set_option("xla_no_such_option", "1"));
  const auto executable = client().compile(program(kAddOne), options);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code(), ErrorCode::plugin_error);
  PRECAST_EXPECT_HAS(executable.error().message(), "xla_no_such_option");
}

TEST_F(CompileConformance, ASortIsSerializedBeforeItsFirstRun) {
  const auto executable = compiled(kSorting, {device_ids().front()});
  ASSERT_TRUE(executable);
  const auto bytes = executable->serialize();
  PRECAST_ASSERT_OK(bytes);
  EXPECT_FALSE(bytes->empty());
}

TEST_F(CompileConformance, WhatCannotBeSerializedRuns) {
  PRECAST_SKIP_IF_LACKING("serialize_refusal");
  if (client().platform_name() != "cpu") GTEST_SKIP() << "no such program is known for others";
  const auto executable = compiled(kNotSerializable, {device_ids().front()});
  ASSERT_TRUE(executable);
  const HostTensor input = tensor<float>(ElementType::f32, {64}, std::vector<float>(64, 1));
  PRECAST_ASSERT_OK(executable->run({input}));
  const auto bytes = executable->serialize();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code(), ErrorCode::plugin_error);
  PRECAST_EXPECT_HAS(bytes.error().message(), "serializ");
  PRECAST_ASSERT_OK(executable->run({input}));
}

}  // namespace
}  // namespace precast::conformance
