// What the PJRT layer does when a plugin is old, short of functions, or fails: the fake plugin
// plays each of them (testing/README.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "pjrt/internal.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

using testing::EnvGuard;
using testing::TempDir;

using Variables = std::map<std::string, std::string>;

class PluginFault : public ::testing::Test {
 protected:
  // A plugin is opened once per file, so every test that wants another one opens a copy.
  std::string copy() {
    const std::string path = dir_.file("plugin-" + std::to_string(copies_++) + ".so");
    std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, path);
    return path;
  }
  // Opens a copy that pretends what the variables say.
  Result<Plugin> open(const Variables& variables) {
    for (const auto& [name, value] : variables) guards_.emplace_back(name, value);
    return Plugin::open(copy());
  }
  // How often each function was called since start_log().
  std::map<std::string, int> calls() const {
    std::map<std::string, int> counts;
    std::ifstream log(dir_.file("log"));
    for (std::string line; std::getline(log, line);) ++counts[line];
    return counts;
  }
  void start_log() {
    std::filesystem::remove(dir_.file("log"));
    guards_.emplace_back("PRECAST_FAKE_LOG", dir_.file("log"));
  }

  TempDir dir_;
  std::list<EnvGuard> guards_;
  int copies_ = 0;
};

TEST_F(PluginFault, AnotherMajorVersionIsRefused) {
  const auto plugin = open({{"PRECAST_FAKE_API_VERSION", "1.3"}});
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.error().code(), ErrorCode::unsupported);
  PRECAST_EXPECT_HAS(plugin.error().message(), "version 1.3");
  PRECAST_EXPECT_HAS(plugin.error().message(), "major version 0");
}

TEST_F(PluginFault, AFailingInitialisationIsReportedAndMayBeTriedAgain) {
  const std::string path = copy();
  {
    const EnvGuard fault("PRECAST_FAKE_FAULT", "PJRT_Plugin_Initialize:ABORTED:the lock is held");
    const auto plugin = Plugin::open(path);
    ASSERT_FALSE(plugin);
    EXPECT_EQ(plugin.error().code(), ErrorCode::plugin_error);
    EXPECT_EQ(plugin.error().message(), "the lock is held");
    PRECAST_EXPECT_HAS(plugin.error().to_string(), path);
  }
  PRECAST_ASSERT_OK(Plugin::open(path));
}

TEST_F(PluginFault, InitialisesOnce) {
  start_log();
  const std::string path = copy();
  PRECAST_ASSERT_OK(Plugin::open(path));
  PRECAST_ASSERT_OK(Plugin::open(path));
  EXPECT_EQ(calls()["PJRT_Plugin_Initialize"], 1);
}

TEST_F(PluginFault, APluginMayDoWithoutInitialisationAndAttributes) {
  const auto plugin =
      open({{"PRECAST_FAKE_NULL", "PJRT_Plugin_Initialize,PJRT_Plugin_Attributes"}});
  PRECAST_ASSERT_OK(plugin);
  EXPECT_TRUE(plugin->attributes().empty());
  PRECAST_ASSERT_OK(plugin->create_client({}));
}

TEST_F(PluginFault, AShortTableLacksWhatCameLater) {
  const auto plugin =
      open({{"PRECAST_FAKE_API_VERSION", "0.81"}, {"PRECAST_FAKE_STRUCT_SIZE", "984"}});
  PRECAST_ASSERT_OK(plugin);
  EXPECT_EQ(plugin->api_version(), (ApiVersion{0, 81}));
  EXPECT_EQ(plugin->api_struct_size(), 984U);
  EXPECT_TRUE(plugin->capabilities().topology);
  EXPECT_FALSE(plugin->capabilities().topology_fingerprint);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const auto topology = client->topology();
  PRECAST_ASSERT_OK(topology);
  EXPECT_FALSE(topology->serialized.empty());
  EXPECT_FALSE(topology->fingerprint);
}

TEST_F(PluginFault, WithoutATopologyThereAreNoFacts) {
  const auto plugin = open({{"PRECAST_FAKE_NULL", "PJRT_Client_TopologyDescription"}});
  PRECAST_ASSERT_OK(plugin);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const auto topology = client->topology();
  PRECAST_ASSERT_OK(topology);
  EXPECT_TRUE(topology->serialized.empty());
  EXPECT_FALSE(topology->fingerprint);
}

TEST_F(PluginFault, WithoutSerializeTheFunctionIsNamed) {
  const auto plugin = open({{"PRECAST_FAKE_NULL", "PJRT_Executable_Serialize"}});
  PRECAST_ASSERT_OK(plugin);
  EXPECT_FALSE(plugin->capabilities().serialize);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const auto executable = client->compile(program(kAddOne), CompileOptions());
  PRECAST_ASSERT_OK(executable);
  const auto bytes = executable->serialize();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code(), ErrorCode::unsupported);
  PRECAST_EXPECT_HAS(bytes.error().message(), "0.115");
  PRECAST_EXPECT_HAS(bytes.error().message(), "PJRT_Executable_Serialize");
}

TEST_F(PluginFault, LoadingNeedsOverriddenOptions) {
  const auto plugin = open({{"PRECAST_FAKE_API_VERSION", "0.70"}});
  PRECAST_ASSERT_OK(plugin);
  EXPECT_TRUE(plugin->capabilities().deserialize_and_load);
  EXPECT_FALSE(plugin->capabilities().override_compile_options);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  start_log();
  const auto loaded = pjrt::deserialize_and_load(*client, "bytes", CompileOptions().serialized());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::unsupported);
  PRECAST_EXPECT_HAS(loaded.error().message(), "0.70");
  EXPECT_EQ(calls().count("PJRT_Executable_DeserializeAndLoad"), 0U);
}

TEST_F(PluginFault, WhatIsRefusedHereDoesNotReachThePlugin) {
  const auto plugin = open({});
  PRECAST_ASSERT_OK(plugin);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const auto executable = client->compile(program(kAddOne), CompileOptions());
  PRECAST_ASSERT_OK(executable);
  TensorSpec spec;
  spec.type = {ElementType::f32, {2, 3}};
  spec.minor_to_major = {1, 0};
  pjrt::set_signature(*executable, ProgramSignature{"add_one", {spec, spec}, {spec, spec}});
  start_log();
  EXPECT_FALSE(pjrt::deserialize_and_load(*client, "bytes", ""));
  EXPECT_FALSE(client->compile(program(kAddOne), replicas_on({99})));
  EXPECT_FALSE(client->to_device(matrix(0), 99));
  EXPECT_FALSE(executable->run({matrix(0), tensor<float>(ElementType::f32, {1}, {1})}));
  EXPECT_FALSE(executable->execute({}));
  EXPECT_TRUE(calls().empty()) << calls().begin()->first;
}

TEST_F(PluginFault, DevicesOfOtherProcessesAreListedAndNotUsed) {
  const auto plugin = open({{"PRECAST_FAKE_DEVICES", "3"},
                            {"PRECAST_FAKE_DEVICE_IDS", "30,7,20"},
                            {"PRECAST_FAKE_PROCESS_INDICES", "0,1,0"},
                            {"PRECAST_FAKE_DEVICE_KINDS", "a,b,c"},
                            {"PRECAST_FAKE_DEVICE_ATTRIBUTES", "coords=ints:0,1,2;n=int:4"}});
  PRECAST_ASSERT_OK(plugin);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const std::vector<Device>& devices = client->devices();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].id, 7);
  EXPECT_EQ(devices[0].kind, "b");
  EXPECT_EQ(devices[0].process_index, 1);
  EXPECT_FALSE(devices[0].addressable);
  EXPECT_EQ(devices[0].local_hardware_id, -1);
  EXPECT_TRUE(devices[0].memory_kinds.empty());
  EXPECT_EQ(devices[1].id, 20);
  EXPECT_TRUE(devices[1].addressable);
  EXPECT_EQ(devices[2].id, 30);
  EXPECT_EQ(devices[2].attributes,
            (std::vector<NamedValue>{{"coords", std::vector<std::int64_t>{0, 1, 2}},
                                     {"n", std::int64_t{4}}}));
  const auto buffer = client->to_device(matrix(0), 7);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code(), ErrorCode::invalid_argument);
  PRECAST_EXPECT_HAS(buffer.error().message(), "process 1");
  PRECAST_ASSERT_OK(client->to_device(matrix(0), 20));
}

TEST_F(PluginFault, AReplacedPluginIsNotTheMappedFile) {
  const std::string path = copy();
  const auto plugin = Plugin::open(path);
  PRECAST_ASSERT_OK(plugin);
  const EnvGuard state("XDG_STATE_HOME", dir_.file("state"));
  PRECAST_ASSERT_OK(plugin->mapped_file());
  const std::string other = copy();
  std::filesystem::rename(other, path);
  const auto file = plugin->mapped_file();
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::unavailable);
  // The process goes on with what it has.
  const auto again = Plugin::open(path);
  PRECAST_ASSERT_OK(again);
  EXPECT_EQ(again->impl(), plugin->impl());
}

TEST_F(PluginFault, AFailureOfOneDeviceFailsTheRun) {
  const auto plugin = open({});
  PRECAST_ASSERT_OK(plugin);
  const auto client = plugin->create_client({});
  PRECAST_ASSERT_OK(client);
  const auto executable = client->compile(program(kAddOne), replicas_on({0, 1}));
  PRECAST_ASSERT_OK(executable);
  const auto first = client->to_device(matrix(0), 0);
  const auto second = client->to_device(matrix(0), 1);
  PRECAST_ASSERT_OK(first);
  PRECAST_ASSERT_OK(second);
  const EnvGuard fault("PRECAST_FAKE_FAULT", "PJRT_Event_Await:INTERNAL:device 1 is gone:2");
  const auto outputs = executable->execute({{&*first, &*first}, {&*second, &*second}});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().message(), "device 1 is gone");
}

// Everything that the layer does with a plugin once. The first error ends it.
Result<void> use(const Plugin& plugin) {
  PRECAST_ASSIGN(const Client client, plugin.create_client({}));
  PRECAST_TRY(client.topology());
  PRECAST_TRY(client.default_assignment(2, 1));
  PRECAST_ASSIGN(const CompiledExecutable compiled,
                 client.compile(program(kDonating), replicas_on({0, 1})));
  PRECAST_TRY(compiled.memory_stats());
  PRECAST_TRY(compiled.fingerprint());
  PRECAST_TRY(compiled.result_types());
  PRECAST_TRY(compiled.result_memory_kinds());
  PRECAST_TRY(compiled.optimized_program());
  PRECAST_ASSIGN(const Bytes bytes, compiled.serialize());
  PRECAST_ASSIGN(const LoadedExecutable loaded,
                 pjrt::deserialize_and_load(client, bytes, replicas_on({2, 3}).serialized()));
  const HostTensor input = tensor<std::int32_t>(ElementType::s32, {4}, {1, 2, 3, 4});
  PRECAST_ASSIGN(const Buffer buffer, client.to_device(input, 2));
  PRECAST_TRY(buffer.to_host());
  PRECAST_TRY(loaded.run({input}));
  return {};
}

// A destroyer that fails tells nobody, and what it did not destroy leaks in the plugin; the
// functions of errors are what a fault is reported with.
bool has_no_error_to_report(const std::string& function) {
  return function.find("_Destroy") != std::string::npos ||
         function.find("PJRT_Error_") != std::string::npos ||
         function.find("PJRT_Plugin_") != std::string::npos;
}

// What a compile asks to know the signature. Without an answer there is none.
bool is_for_the_signature(const std::string& function, int nth) {
  return (function == "PJRT_Executable_OptimizedProgram" && nth <= 2) ||
         (function == "PJRT_Executable_OutputMemoryKinds" && nth == 1);
}

TEST_F(PluginFault, EveryFunctionThatFailsGivesItsErrorAndNothingElse) {
  const auto plugin = open({});
  PRECAST_ASSERT_OK(plugin);
  start_log();
  PRECAST_ASSERT_OK(use(*plugin));
  std::map<std::string, int> called = calls();
  EXPECT_GT(called.size(), 30U);
  std::size_t tried = 0;
  for (const auto& [function, count] : called) {
    if (has_no_error_to_report(function)) continue;
    // Every call, the last one too: what was made before must be given back.
    for (int nth = 1; nth <= count; ++nth, ++tried) {
      const EnvGuard fault("PRECAST_FAKE_FAULT",
                           function + ":INTERNAL:out of luck:" + std::to_string(nth));
      const auto used = use(*plugin);
      if (is_for_the_signature(function, nth)) {
        PRECAST_ASSERT_OK(used);
        continue;
      }
      ASSERT_FALSE(used) << function << " " << nth;
      EXPECT_EQ(used.error().code(), ErrorCode::plugin_error) << function;
      EXPECT_EQ(used.error().message(), "out of luck") << function;
      ASSERT_FALSE(used.error().frames().empty());
      EXPECT_EQ(used.error().frames().front(), "in " + function);
    }
  }
  EXPECT_GT(tried, 60U);
  PRECAST_ASSERT_OK(use(*plugin));
}

TEST_F(PluginFault, WhatIsMadeIsDestroyed) {
  const auto plugin = open({});
  PRECAST_ASSERT_OK(plugin);
  start_log();
  PRECAST_ASSERT_OK(use(*plugin));
  std::map<std::string, int> called = calls();
  EXPECT_EQ(called["PJRT_Client_Destroy"], called["PJRT_Client_Create"]);
  EXPECT_EQ(called["PJRT_LoadedExecutable_Destroy"],
            called["PJRT_Client_Compile"] + called["PJRT_Executable_DeserializeAndLoad"]);
  EXPECT_EQ(called["PJRT_Executable_Destroy"], called["PJRT_LoadedExecutable_GetExecutable"]);
  // One buffer by hand, two by run(), two results.
  EXPECT_EQ(called["PJRT_Buffer_Destroy"], 5);
  EXPECT_EQ(called["PJRT_Event_Destroy"], called["PJRT_Event_Await"]);
}

TEST_F(PluginFault, AFunctionThatIsNotImplementedOnlyCostsItsFact) {
  const auto plugin = open({});
  PRECAST_ASSERT_OK(plugin);
  for (const char* function :
       {"PJRT_DeviceDescription_ToString", "PJRT_DeviceDescription_Attributes",
        "PJRT_Device_LocalHardwareId", "PJRT_Device_AddressableMemories",
        "PJRT_Client_TopologyDescription", "PJRT_TopologyDescription_Serialize",
        "PJRT_TopologyDescription_Fingerprint", "PJRT_TopologyDescription_Attributes"}) {
    const EnvGuard fault("PRECAST_FAKE_FAULT", std::string(function) + ":UNIMPLEMENTED:not here");
    const auto used = use(*plugin);
    EXPECT_TRUE(used) << function << ": " << used.error().to_string();
  }
}

}  // namespace
}  // namespace precast::conformance
