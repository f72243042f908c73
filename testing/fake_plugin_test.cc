// The fake plugin's programs: compile, serialize, load and run by hand through the C ABI.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "testing/fake_plugin_driver.h"

namespace precast::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kProgram = "module @m {}";

TEST(FakePlugin, CompilesSerializesLoadsAndRuns) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  PJRT_LoadedExecutable* compiled = driver.compile(client, kProgram, compile_options(1, 1));
  ASSERT_TRUE(driver.failure.ok()) << driver.failure.message;
  EXPECT_THAT(driver.run(client, compiled, {driver.device(client, 0)}, {{1, 2, 3, 4}}),
              ElementsAre(ElementsAre(2, 3, 4, 5)));
  const std::string bytes = driver.serialize(compiled);
  EXPECT_EQ(bytes.substr(0, 1), "\n");  // a plain ExecutableAndOptionsProto begins with field 1
  EXPECT_EQ(driver.serialize(compiled), bytes);

  PJRT_LoadedExecutable* loaded = driver.load(client, bytes);
  EXPECT_THAT(driver.run(client, loaded, {driver.device(client, 0)}, {{-1, 0, 0.5, 1e6}}),
              ElementsAre(ElementsAre(0, 1, 1.5, 1000001)));
  EXPECT_TRUE(driver.failure.ok()) << driver.failure.message;

  EXPECT_THAT(driver.serialize(loaded), IsEmpty());
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_FAILED_PRECONDITION);
  driver.destroy(loaded);
  driver.destroy(compiled);
  driver.destroy(client);
}

TEST(FakePlugin, LoadsOnTheDevicesOfTheOverriddenOptions) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  PJRT_LoadedExecutable* compiled = driver.compile(client, kProgram, compile_options(1, 1, {0}));
  const std::string bytes = driver.serialize(compiled);
  driver.destroy(compiled);

  PJRT_LoadedExecutable* loaded = driver.load(client, bytes, compile_options(1, 1, {3}));
  EXPECT_THAT(driver.run(client, loaded, {driver.device(client, 3)}, {{1, 1, 1, 1}}),
              ElementsAre(ElementsAre(2, 2, 2, 2)));
  EXPECT_TRUE(driver.failure.ok()) << driver.failure.message;
  EXPECT_THAT(driver.run(client, loaded, {driver.device(client, 0)}, {{1, 1, 1, 1}}), IsEmpty());
  EXPECT_THAT(driver.failure.message, HasSubstr("is on device 0, the run is on device 3"));
  driver.destroy(loaded);

  driver.failure = {};
  EXPECT_EQ(driver.load(client, bytes, compile_options(1, 1, {4})), nullptr);
  EXPECT_EQ(driver.failure.message, "No matching device found for device_id 4");
  driver.destroy(client);
}

TEST(FakePlugin, RunsOnTheDevicesOfAnAssignmentInItsOrder) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  // Two replicas of two partitions: positions 0 to 3 are on devices 2, 3, 0 and 1.
  const std::string options = compile_options(2, 2, {2, 3, 0, 1});
  PJRT_LoadedExecutable* compiled = driver.compile(client, kProgram, options);
  std::vector<PJRT_Device*> devices;
  for (const std::size_t id : {2, 3, 0, 1}) devices.push_back(driver.device(client, id));
  auto list = make_args<PJRT_LoadedExecutable_AddressableDevices_Args>();
  list.executable = compiled;
  driver.api().PJRT_LoadedExecutable_AddressableDevices(&list);
  EXPECT_EQ(std::vector(list.addressable_devices,
                        list.addressable_devices + list.num_addressable_devices),
            devices);
  EXPECT_THAT(driver.run(client, compiled, devices, {{0, 0, 0, 0}}), Each(ElementsAre(1, 1, 1, 1)));
  EXPECT_TRUE(driver.failure.ok()) << driver.failure.message;
  EXPECT_THAT(driver.run(client, compiled, {devices[0]}, {{0, 0, 0, 0}}), IsEmpty());
  EXPECT_EQ(driver.failure.message, "the run is for 1 devices, the executable is on 4");

  // The stored assignment is DeviceAssignmentProto: per partition, one id per replica.
  auto assignment = make_args<PJRT_LoadedExecutable_GetDeviceAssignment_Args>();
  assignment.executable = compiled;
  driver.api().PJRT_LoadedExecutable_GetDeviceAssignment(&assignment);
  EXPECT_EQ(std::string(assignment.serialized_bytes, assignment.serialized_bytes_size),
            options.substr(options.size() - assignment.serialized_bytes_size));
  EXPECT_GT(assignment.serialized_bytes_size, 0u);
  assignment.serialized_device_assignment_deleter(assignment.serialized_device_assignment);
  driver.destroy(compiled);
  driver.destroy(client);
}

TEST(FakePlugin, RefusesEveryDamagedByteAndEveryTruncation) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  PJRT_LoadedExecutable* compiled = driver.compile(client, kProgram, compile_options(1, 1));
  const std::string bytes = driver.serialize(compiled);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(driver.load(client, damaged), nullptr) << i;
    EXPECT_EQ(driver.load(client, bytes.substr(0, i)), nullptr) << i;
  }
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_INTERNAL);
  driver.destroy(compiled);
  driver.destroy(client);
}

TEST(FakePlugin, ProgramsChooseTheirSignature) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  PJRT_LoadedExecutable* compiled = driver.compile(
      client, "// fake: params=f32[2],f32[3] results=f32[2],bf16[2,2] donate=0 name=two\nmodule {}",
      compile_options(1, 1));
  ASSERT_TRUE(driver.failure.ok()) << driver.failure.message;
  auto get = make_args<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = compiled;
  driver.api().PJRT_LoadedExecutable_GetExecutable(&get);
  auto types = make_args<PJRT_Executable_OutputElementTypes_Args>();
  types.executable = get.executable;
  driver.api().PJRT_Executable_OutputElementTypes(&types);
  EXPECT_THAT(std::vector(types.output_types, types.output_types + types.num_output_types),
              ElementsAre(PJRT_Buffer_Type_F32, PJRT_Buffer_Type_BF16));
  auto dimensions = make_args<PJRT_Executable_OutputDimensions_Args>();
  dimensions.executable = get.executable;
  driver.api().PJRT_Executable_OutputDimensions(&dimensions);
  EXPECT_THAT(std::vector(dimensions.dim_sizes, dimensions.dim_sizes + 2), ElementsAre(1, 2));
  EXPECT_THAT(std::vector(dimensions.dims, dimensions.dims + 3), ElementsAre(2, 2, 2));

  // The optimized program: first the size, then the bytes.
  auto program = make_args<PJRT_Program>();
  auto optimized = make_args<PJRT_Executable_OptimizedProgram_Args>();
  optimized.executable = get.executable;
  optimized.program = &program;
  driver.api().PJRT_Executable_OptimizedProgram(&optimized);
  EXPECT_EQ(std::string_view(program.format, program.format_size), "hlo_with_config");
  std::string code(program.code_size, '\0');
  program.code = code.data();
  EXPECT_TRUE(driver.outcome(driver.api().PJRT_Executable_OptimizedProgram(&optimized)).ok());
  EXPECT_THAT(code, HasSubstr("two"));
  EXPECT_THAT(code, HasSubstr(std::string("\x42\x09\x0a\x07\x0a\x01\x00\x10\x00\x20\x01", 11)))
      << "HloModuleProto.input_output_alias: result 0 from parameter 0, may alias";

  auto destroy = make_args<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  driver.api().PJRT_Executable_Destroy(&destroy);
  driver.destroy(compiled);
  driver.destroy(client);
}

TEST(FakePlugin, ARunConsumesDonatedBuffersAlsoAfterALoad) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  PJRT_LoadedExecutable* compiled = driver.compile(
      client, "// fake: params=f32[1],f32[1] results=f32[1] donate=1", compile_options(1, 1));
  PJRT_LoadedExecutable* loaded = driver.load(client, driver.serialize(compiled));
  for (PJRT_LoadedExecutable* executable : {compiled, loaded}) {
    std::vector<bool> consumed;
    driver.run(client, executable, {driver.device(client, 0)}, {{1}, {2}}, &consumed);
    EXPECT_THAT(consumed, ElementsAre(false, true));
    consumed.clear();
    driver.run(client, executable, {driver.device(client, 0)}, {{1}, {2}}, &consumed, {1});
    EXPECT_THAT(consumed, ElementsAre(false, false));
    driver.destroy(executable);
  }
  EXPECT_TRUE(driver.failure.ok()) << driver.failure.message;
  driver.destroy(client);
}

TEST(FakePlugin, ProgramsCanFailAndCanBeUnserializable) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  EXPECT_EQ(driver.compile(client, "// fake: fail=RESOURCE_EXHAUSTED:no: memory\n",
                           compile_options(1, 1)),
            nullptr);
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_RESOURCE_EXHAUSTED);
  EXPECT_EQ(driver.failure.message, "no: memory");

  driver.failure = {};
  EXPECT_EQ(driver.compile(client, "// fake: parms=f32[4]", compile_options(1, 1)), nullptr);
  EXPECT_EQ(driver.failure.message, "fake program: unknown word 'parms=f32[4]'");

  driver.failure = {};
  PJRT_LoadedExecutable* compiled =
      driver.compile(client, "// fake: not_serializable", compile_options(1, 1));
  EXPECT_TRUE(driver.failure.ok());
  EXPECT_THAT(driver.serialize(compiled), IsEmpty());
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_UNIMPLEMENTED);
  driver.destroy(compiled);
  driver.destroy(client);
}

TEST(FakePlugin, RefusesOptionsWithoutCountsAndUnknownOptions) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  EXPECT_EQ(driver.compile(client, kProgram, ""), nullptr);
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_INVALID_ARGUMENT);
  driver.failure = {};
  EXPECT_EQ(driver.compile(client, kProgram, compile_options(3, 2)), nullptr);
  EXPECT_EQ(driver.failure.message, "3 replicas x 2 partitions do not fit 4 devices");
  driver.destroy(client);

  auto option = make_args<PJRT_NamedValue>();
  option.name = "cpu_count";
  option.name_size = 9;
  option.type = PJRT_NamedValue_kInt64;
  option.int64_value = 2;
  option.value_size = 1;
  driver.failure = {};
  EXPECT_EQ(driver.create_client({option}), nullptr);
  EXPECT_EQ(driver.failure.message,
            "Unexpected option name passed to PJRT_Client_Create: cpu_count");

  option.name = "cpu_device_count";
  option.name_size = 16;
  driver.failure = {};
  client = driver.create_client({option});
  EXPECT_NE(driver.device(client, 1), nullptr);
  EXPECT_EQ(driver.device(client, 2), nullptr);
  driver.destroy(client);
}

TEST(FakePlugin, ExportsNothingButTheEntryPoint) {
  FILE* symbols = ::popen("nm -D --defined-only --format=just-symbols " PRECAST_FAKE_PLUGIN, "r");
  ASSERT_NE(symbols, nullptr);
  std::string names(4096, '\0');
  names.resize(std::fread(names.data(), 1, names.size(), symbols));
  EXPECT_EQ(::pclose(symbols), 0);
  EXPECT_EQ(names, "GetPjrtApi\n");
}

}  // namespace
}  // namespace precast::testing
