// What the fake plugin pretends to be, and what it injects and counts, by the environment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "testing/env_guard.h"
#include "testing/fake_plugin_driver.h"
#include "testing/temp_dir.h"

namespace precast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kProgram = "module @m {}";

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Compiles and gives the outcome.
Outcome try_compile(Driver& driver, PJRT_Client* client) {
  driver.failure = {};
  if (auto* executable = driver.compile(client, kProgram, compile_options(1, 1))) {
    driver.destroy(executable);
  }
  return driver.failure;
}

TEST(FakePluginFaults, FailsOnceStickilyOrAlways) {
  const EnvGuard faults("PRECAST_FAKE_FAULT",
                        "PJRT_Client_Compile:UNAVAILABLE:once:2;"
                        "PJRT_Client_Compile:DATA_LOSS:for good:4:sticky;"
                        "PJRT_Client_Devices:ABORTED:always");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  std::vector<PJRT_Error_Code> codes;
  for (int i = 0; i < 5; ++i) codes.push_back(try_compile(driver, client).code);
  EXPECT_THAT(codes,
              ElementsAre(PJRT_Error_Code_OK, PJRT_Error_Code_UNAVAILABLE, PJRT_Error_Code_OK,
                          PJRT_Error_Code_DATA_LOSS, PJRT_Error_Code_DATA_LOSS));
  EXPECT_EQ(driver.failure.message, "for good");
  driver.failure = {};
  EXPECT_EQ(driver.device(client, 0), nullptr);
  EXPECT_EQ(driver.failure.code, PJRT_Error_Code_ABORTED);
  driver.destroy(client);
}

TEST(FakePluginFaults, AreReadAtEveryCall) {
  Driver driver;
  PJRT_Client* client = driver.create_client();
  {
    const EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Compile:INTERNAL:now:1");
    EXPECT_EQ(try_compile(driver, client).message, "now");
    EXPECT_TRUE(try_compile(driver, client).ok());
  }
  EXPECT_TRUE(try_compile(driver, client).ok());
  driver.destroy(client);
}

TEST(FakePluginFaults, ACallCountGoesOnOverClientsOfTheSameFaults) {
  const EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Create:INTERNAL:second:2");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  EXPECT_NE(client, nullptr);
  EXPECT_EQ(driver.create_client(), nullptr);
  EXPECT_EQ(driver.failure.message, "second");
  driver.destroy(client);
}

TEST(FakePluginFaultsDeathTest, CanEndTheProcess) {
  const EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Compile:ABORT:crashed in the compiler");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  EXPECT_DEATH(try_compile(driver, client), "crashed in the compiler");
  driver.destroy(client);
}

TEST(FakePluginFaultsDeathTest, DoesNotAcceptAMistypedVariable) {
  const EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Compile:INTERNALL:x");
  Driver driver;
  EXPECT_DEATH(driver.create_client(), "PRECAST_FAKE_FAULT: 'INTERNALL' is no error code");
}

TEST(FakePluginFaults, Waits) {
  const EnvGuard latency("PRECAST_FAKE_LATENCY", "PJRT_Client_Compile:50");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(try_compile(driver, client).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
  driver.destroy(client);
}

TEST(FakePluginCounter, CountsOverProcesses) {
  const TempDir folder;
  const EnvGuard counter("PRECAST_FAKE_COUNTER", folder.file("count"));
  const EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Compile:INTERNAL:not compiled:3");
  constexpr int kProcesses = 4;
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() == 0) {
      Driver driver;
      PJRT_Client* client = driver.create_client();
      PJRT_LoadedExecutable* compiled = driver.compile(client, kProgram, compile_options(1, 1));
      const std::string bytes = driver.serialize(compiled);
      driver.destroy(driver.load(client, bytes));
      driver.destroy(compiled);
      try_compile(driver, client);
      const bool good = driver.failure.ok();
      try_compile(driver, client);  // fails, and so does not count
      ::_exit(good && !driver.failure.ok() ? 0 : 1);
    }
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = -1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  const std::string counted = read_all(folder.file("count"));
  EXPECT_EQ(std::count(counted.begin(), counted.end(), 'C'), 2 * kProcesses);
  EXPECT_EQ(std::count(counted.begin(), counted.end(), 'S'), kProcesses);
  EXPECT_EQ(std::count(counted.begin(), counted.end(), 'D'), kProcesses);
}

TEST(FakePluginCounter, LogsEveryCallByName) {
  const TempDir folder;
  const EnvGuard log("PRECAST_FAKE_LOG", folder.file("log"));
  Driver driver;
  PJRT_Client* client = driver.create_client();
  driver.load(client, "junk");
  driver.destroy(client);
  EXPECT_EQ(read_all(folder.file("log")),
            "PJRT_Client_Create\nPJRT_Executable_DeserializeAndLoad\nPJRT_Error_GetCode\n"
            "PJRT_Error_Message\nPJRT_Error_Destroy\nPJRT_Client_Destroy\n");
}

TEST(FakePluginApi, RefusesSmallerStructsAndAcceptsLargerOnes) {
  const EnvGuard version("PRECAST_FAKE_API_VERSION", "0.113");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  struct {
    PJRT_Client_ProcessIndex_Args args;
    char spare[64];
  } block{};
  block.args.client = client;
  block.args.struct_size = pjrt::kStructSize<PJRT_Client_ProcessIndex_Args> + 64;
  EXPECT_TRUE(driver.outcome(driver.api().PJRT_Client_ProcessIndex(&block.args)).ok());
  block.args.struct_size = pjrt::kStructSize<PJRT_Client_ProcessIndex_Args> - 1;
  const Outcome refused = driver.outcome(driver.api().PJRT_Client_ProcessIndex(&block.args));
  EXPECT_EQ(refused.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message,
              HasSubstr("Unexpected PJRT_Client_ProcessIndex_Args size: expected 28, got 27."));
  EXPECT_THAT(refused.message, HasSubstr("API version 0.113."));

  // An array element of another size than its stride is refused, larger or smaller.
  auto option = make_args<PJRT_NamedValue>();
  option.struct_size += 64;
  EXPECT_EQ(driver.create_client({option}), nullptr);
  EXPECT_THAT(driver.failure.message, HasSubstr("Unexpected PJRT_NamedValue size"));

  // XLA lets a few structs that grew be as short as they once were.
  driver.failure = {};
  auto load = make_args<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = client;
  load.struct_size = 64;
  EXPECT_THAT(driver.outcome(driver.api().PJRT_Executable_DeserializeAndLoad(&load)).message,
              HasSubstr("deserialization failed"));
  driver.destroy(client);
}

TEST(FakePluginApi, CanBeOlderAndLackMembers) {
  const EnvGuard version("PRECAST_FAKE_API_VERSION", "0.57");
  const EnvGuard size("PRECAST_FAKE_STRUCT_SIZE", "848");
  const EnvGuard null("PRECAST_FAKE_NULL", "PJRT_Executable_Serialize,PJRT_Client_LookupDevice");
  const Driver driver;
  EXPECT_EQ(driver.api().struct_size, 848);
  EXPECT_EQ(driver.api().pjrt_api_version.minor_version, 57);
  EXPECT_EQ(driver.api().PJRT_Executable_Serialize, nullptr);
  EXPECT_EQ(driver.api().PJRT_Client_LookupDevice, nullptr);
  EXPECT_NE(driver.api().PJRT_Client_Compile, nullptr);
}

TEST(FakePluginApi, HasTheTopologyItIsGiven) {
  const EnvGuard devices("PRECAST_FAKE_DEVICES", "3");
  const EnvGuard ids("PRECAST_FAKE_DEVICE_IDS", "7,5");
  const EnvGuard kinds("PRECAST_FAKE_DEVICE_KINDS", "fast,slow");
  const EnvGuard processes("PRECAST_FAKE_PROCESS_INDICES", "0,1,1");
  const EnvGuard process("PRECAST_FAKE_PROCESS_INDEX", "1");
  const EnvGuard attributes("PRECAST_FAKE_DEVICE_ATTRIBUTES",
                            "coords=ints:0,0,1;core_on_chip=int:0|name=str:x");
  const EnvGuard features("PRECAST_FAKE_CPU_FEATURES", "+amx,-avx512f");
  Driver driver;
  PJRT_Client* client = driver.create_client();
  std::vector<int> seen_ids;
  std::vector<std::string> seen_kinds;
  std::vector<bool> addressable;
  std::vector<std::size_t> attribute_counts;
  for (std::size_t i = 0; i < 3; ++i) {
    auto get = make_args<PJRT_Device_GetDescription_Args>();
    get.device = driver.device(client, i);
    driver.api().PJRT_Device_GetDescription(&get);
    auto id = make_args<PJRT_DeviceDescription_Id_Args>();
    id.device_description = get.device_description;
    driver.api().PJRT_DeviceDescription_Id(&id);
    seen_ids.push_back(id.id);
    auto kind = make_args<PJRT_DeviceDescription_Kind_Args>();
    kind.device_description = get.device_description;
    driver.api().PJRT_DeviceDescription_Kind(&kind);
    seen_kinds.emplace_back(kind.device_kind, kind.device_kind_size);
    auto local = make_args<PJRT_Device_IsAddressable_Args>();
    local.device = get.device;
    driver.api().PJRT_Device_IsAddressable(&local);
    addressable.push_back(local.is_addressable);
    auto list = make_args<PJRT_DeviceDescription_Attributes_Args>();
    list.device_description = get.device_description;
    driver.api().PJRT_DeviceDescription_Attributes(&list);
    attribute_counts.push_back(list.num_attributes);
  }
  EXPECT_THAT(seen_ids, ElementsAre(7, 5, 6));
  EXPECT_THAT(seen_kinds, ElementsAre("fast", "slow", "slow"));
  EXPECT_THAT(addressable, ElementsAre(false, true, true));
  EXPECT_THAT(attribute_counts, ElementsAre(2, 1, 1));

  auto topology = make_args<PJRT_Client_TopologyDescription_Args>();
  topology.client = client;
  driver.api().PJRT_Client_TopologyDescription(&topology);
  auto serialized = make_args<PJRT_TopologyDescription_Serialize_Args>();
  serialized.topology = topology.topology;
  driver.api().PJRT_TopologyDescription_Serialize(&serialized);
  const std::string bytes(serialized.serialized_bytes, serialized.serialized_bytes_size);
  serialized.serialized_topology_deleter(serialized.serialized_topology);
  EXPECT_THAT(bytes, HasSubstr("xla.CpuTopologyProto"));
  EXPECT_THAT(bytes, HasSubstr("+amx,-avx512f"));
  EXPECT_TRUE(driver.failure.ok()) << driver.failure.message;
  driver.destroy(client);
}

}  // namespace
}  // namespace precast::testing
