// Compiles for no client, on XLA's CPU plugin: the fake one has no PJRT_Compile.
#include "interpose/ahead.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>

#include "interpose/log.h"
#include "interpose/wrapper.h"
#include "pjrt/adopt.h"
#include "pjrt/find.h"
#include "testing/env_guard.h"
#include "testing/fake_plugin_driver.h"
#include "testing/temp_dir.h"

namespace precast::interpose {
namespace {

using testing::Driver;
using testing::EnvGuard;
using ::testing::HasSubstr;
using testing::make_args;

constexpr std::string_view kProgram = R"(module @ahead {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

class AheadOfTime : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(std::nullopt);
    const auto found = pjrt::resolve("cpu", pjrt::search_environment());
    ASSERT_TRUE(found) << found.error().to_string();
    auto plugin = pjrt::open_for_host(found->path);
    ASSERT_TRUE(plugin) << plugin.error().to_string();
    wrapper_ = std::make_unique<Wrapper>(*std::move(plugin), Settings());
    host_.emplace(wrapper_->table());
  }

  // The program compiled for what the client's topology says.
  void compile_for(PJRT_Client* client) {
    PJRT_Executable* executable = nullptr;
    const testing::Outcome outcome = try_compile_for(client, kProgram, executable);
    ASSERT_TRUE(outcome.ok()) << outcome.message;
    auto destroy = make_args<PJRT_Executable_Destroy_Args>();
    destroy.executable = executable;
    EXPECT_EQ(wrapper_->table()->PJRT_Executable_Destroy(&destroy), nullptr);
  }

  testing::Outcome try_compile_for(PJRT_Client* client, std::string_view text,
                                   PJRT_Executable*& executable) {
    const PJRT_Api& api = *wrapper_->table();
    auto topology = make_args<PJRT_Client_TopologyDescription_Args>();
    topology.client = client;
    EXPECT_EQ(api.PJRT_Client_TopologyDescription(&topology), nullptr);
    std::string code(text);
    auto program = make_args<PJRT_Program>();
    program.code = code.data();
    program.code_size = code.size();
    program.format = "mlir";
    program.format_size = 4;
    const std::string options = testing::compile_options(1, 1);
    auto args = make_args<PJRT_Compile_Args>();
    args.topology = topology.topology;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    testing::Outcome outcome = host_->outcome(api.PJRT_Compile(&args));
    executable = args.executable;
    return outcome;
  }

  std::string summary() const { return wrapper_->state().summary.text(); }

  testing::TempDir dir_;
  EnvGuard cache_{"PRECAST_CACHE", dir_.file("cache")};
  EnvGuard state_{"XDG_STATE_HOME", dir_.file("state")};
  EnvGuard flags_{"XLA_FLAGS", std::nullopt};
  EnvGuard disable_{"PRECAST_DISABLE", std::nullopt};
  std::unique_ptr<Wrapper> wrapper_;
  std::optional<Driver> host_;
};

TEST_F(AheadOfTime, NeverHitsAndIsPublishedForClientsOfItsTopology) {
  PJRT_Client* client = host_->create_client();
  ASSERT_NE(client, nullptr) << host_->failure.message;
  compile_for(client);
  compile_for(client);
  EXPECT_THAT(summary(), HasSubstr("hits=0 misses=0 skips=0 bypasses=2 (ahead_of_time 2)"));
  PJRT_LoadedExecutable* loaded = host_->compile(client, kProgram, testing::compile_options(1, 1));
  ASSERT_NE(loaded, nullptr) << host_->failure.message;
  EXPECT_THAT(summary(), HasSubstr("hits=1 misses=0"));
  const auto results = host_->run(client, loaded, {host_->device(client, 0)}, {{1, 2, 3, 4}});
  EXPECT_EQ(results, std::vector<std::vector<float>>({{2, 4, 6, 8}})) << host_->failure.message;
  host_->destroy(loaded);
  host_->destroy(client);
}

TEST_F(AheadOfTime, WhatThePluginRefusesIsCountedToo) {
  PJRT_Client* client = host_->create_client();
  ASSERT_NE(client, nullptr) << host_->failure.message;
  PJRT_Executable* executable = nullptr;
  EXPECT_FALSE(try_compile_for(client, "no program", executable).ok());
  EXPECT_THAT(summary(), HasSubstr("bypasses=0 errors=1"));
  host_->destroy(client);
}

// The key of a compile holds what only a client says.
TEST_F(AheadOfTime, ForATopologyOfNoClientNothingIsPublished) {
  PJRT_Client* other = host_->create_client();
  ASSERT_NE(other, nullptr) << host_->failure.message;
  {
    const std::lock_guard lock(wrapper_->state().mutex);
    wrapper_->state().clients.clear();
  }
  compile_for(other);
  EXPECT_THAT(summary(), HasSubstr("bypasses=1 (ahead_of_time 1)"));
  PJRT_Client* client = host_->create_client();
  host_->destroy(host_->compile(client, kProgram, testing::compile_options(1, 1)));
  EXPECT_THAT(summary(), HasSubstr("hits=0 misses=1"));
  host_->destroy(client);
  host_->destroy(other);
}

// Who loads serialized bytes without options of its own gets the devices that stand in them.
TEST_F(AheadOfTime, TheFirstBytesOfAHitNameTheDevicesOfHere) {
  PJRT_Client* client = host_->create_client();
  ASSERT_NE(client, nullptr) << host_->failure.message;
  host_->destroy(host_->compile(client, kProgram, testing::compile_options(1, 1, {0})));
  PJRT_LoadedExecutable* hit =
      host_->compile(client, kProgram, testing::compile_options(1, 1, {2}));
  ASSERT_NE(hit, nullptr) << host_->failure.message;
  EXPECT_THAT(summary(), HasSubstr("hits=1 misses=1"));
  PJRT_LoadedExecutable* of_bytes = host_->load(client, host_->serialize(hit));
  ASSERT_NE(of_bytes, nullptr) << host_->failure.message;
  const auto results = host_->run(client, of_bytes, {host_->device(client, 2)}, {{1, 2, 3, 4}});
  EXPECT_EQ(results, std::vector<std::vector<float>>({{2, 4, 6, 8}})) << host_->failure.message;
  host_->destroy(of_bytes);
  host_->destroy(hit);
  host_->destroy(client);
}

}  // namespace
}  // namespace precast::interpose
