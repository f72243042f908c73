// What a client contributes to a key: its plugin, its options, its CPU and its environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using testing::EnvGuard;
using testing::TempDir;

class IdentityTest : public ::testing::Test {
 protected:
  Plugin copy_of_plugin(const std::string& name, std::string_view appended = {}) const {
    fs::copy_file(PRECAST_FAKE_PLUGIN, dir_.file(name));
    std::ofstream(dir_.path() / name, std::ios::binary | std::ios::app) << appended;
    return Plugin::open(dir_.file(name)).value();
  }

  static KeyRecord key_of(const Client& client, const CompileOptions& options = {}) {
    CacheConfig config;
    config.disabled = true;
    const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
    const auto key = Cache::open(std::move(config)).key(client, program, options);
    EXPECT_TRUE(key && key->record) << (key ? key->detail : key.error().to_string());
    return key && key->record ? *key->record : KeyRecord();
  }

  // The names of the fields that differ.
  static std::vector<std::string> differing(const KeyRecord& left, const KeyRecord& right) {
    std::vector<std::string> names;
    for (const KeyDifference& difference : diff(left, right)) {
      if (names.empty() || names.back() != difference.field) names.push_back(difference.field);
    }
    return names;
  }

  TempDir dir_;
  EnvGuard flags_{"XLA_FLAGS", std::nullopt};
};

using Names = std::vector<std::string>;

TEST_F(IdentityTest, AMovedPluginIsTheSameAndAnotherBuildIsNot) {
  const Client first = copy_of_plugin("first.so").create_client({}).value();
  const Client moved = copy_of_plugin("moved.so").create_client({}).value();
  const Client built = copy_of_plugin("built.so", "x").create_client({}).value();
  EXPECT_EQ(key_of(first), key_of(moved));
  // Another build that says the same of itself.
  EXPECT_EQ(built.platform_version(), first.platform_version());
  EXPECT_EQ(differing(key_of(first), key_of(built)), Names{"plugin"});
}

TEST_F(IdentityTest, ClientOptionsCountUnlessTheyAreNeutral) {
  const Plugin plugin = copy_of_plugin("p.so");
  const KeyRecord plain = key_of(plugin.create_client({}).value());
  const auto with = [&](const NamedValue& option) {
    return key_of(plugin.create_client({option}).value());
  };
  EXPECT_EQ(with({"cpu_device_count", std::int64_t{8}}), plain);
  EXPECT_EQ(differing(with({"process_id", std::int64_t{0}}), plain), Names{"client_options"});
}

TEST_F(IdentityTest, TheListedVariablesCountAndOthersDoNot) {
  const Client client = copy_of_plugin("p.so").create_client({}).value();
  const KeyRecord plain = key_of(client);
  {
    const EnvGuard producer("LLVM_OVERRIDE_PRODUCER", "me");
    EXPECT_EQ(differing(key_of(client), plain), Names{"environment"});
  }
  const EnvGuard log("TF_CPP_MIN_LOG_LEVEL", "3");
  const EnvGuard gpu("NVIDIA_TF32_OVERRIDE", "0");
  EXPECT_EQ(key_of(client), plain);
}

TEST_F(IdentityTest, TheCpusThatXlaPartitionsForCount) {
  const Plugin plugin = copy_of_plugin("p.so");
  const EnvGuard all("NPROC", std::nullopt);
  const KeyRecord plain = key_of(plugin.create_client({}).value());
  if (*plain.find("cpu")->find("count") == "1") GTEST_SKIP() << "there is one CPU";
  const EnvGuard one("NPROC", "1");
  EXPECT_EQ(differing(key_of(plugin.create_client({}).value()), plain), Names{"cpu"});
}

TEST_F(IdentityTest, FeaturesOfTheCpuCountAndHintsDoNot) {
  const Plugin plugin = copy_of_plugin("p.so");
  const auto with = [&](const char* features) {
    const EnvGuard set("PRECAST_FAKE_CPU_FEATURES", features);
    return key_of(plugin.create_client({}).value());
  };
  EXPECT_EQ(with("+avx,+avx2,+prefer-no-gather"), with("+avx2,+avx"));
  EXPECT_EQ(differing(with("+avx,+avx2"), with("+avx")), Names{"cpu"});
}

TEST_F(IdentityTest, WhatIsRememberedOfOneClientIsNotSaidOfAnother) {
  const Plugin plugin = copy_of_plugin("p.so");
  const auto client_with = [&](const char* features) {
    const EnvGuard set("PRECAST_FAKE_CPU_FEATURES", features);
    return plugin.create_client({}).value();
  };
  const Client lesser = client_with("+avx");
  const Client better = client_with("+avx,+avx2");
  const KeyRecord of_lesser = key_of(lesser);
  const KeyRecord of_better = key_of(better);
  EXPECT_EQ(differing(of_lesser, of_better), Names{"cpu"});
  EXPECT_EQ(key_of(lesser), of_lesser);
  EXPECT_EQ(key_of(better), of_better);
}

TEST_F(IdentityTest, APluginFileThatChangesUnderAClientEndsItsKeys) {
  const Client client = copy_of_plugin("p.so").create_client({}).value();
  const KeyRecord before = key_of(client);
  EXPECT_EQ(key_of(client), before);
  copy_of_plugin("q.so", "x");
  fs::rename(dir_.file("q.so"), dir_.file("p.so"));
  CacheConfig config;
  config.disabled = true;
  const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
  const KeyResult after = Cache::open(config).key(client, program, {}).value();
  EXPECT_FALSE(after.record);
  EXPECT_EQ(after.bypass, Reason::plugin_bytes_unknown) << after.detail;
}

TEST_F(IdentityTest, ABaselineNeedsACpuThatReachesIt) {
  const Plugin plugin = copy_of_plugin("p.so");
  const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
  CacheConfig config;
  config.disabled = true;
  const Cache cache = Cache::open(config);
  RequestOptions request;
  request.cpu_baseline = "x86-64-v2";
  const Client lesser = plugin.create_client({}).value();
  const auto refused = cache.key(lesser, program, {}, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("sse4.2"));

  const EnvGuard features("PRECAST_FAKE_CPU_FEATURES",
                          "+64bit,+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,"
                          "+sse3,+sse4.1,+sse4.2,+ssse3");
  const Client client = plugin.create_client({}).value();
  const auto key = cache.key(client, program, {}, request);
  ASSERT_TRUE(key && key->record);
  EXPECT_EQ(*key->record->find("cpu")->find("baseline"), "x86-64-v2");
  EXPECT_EQ(key->record->find("cpu")->items.size(), 2u);
  // The fake plugin compiles for no described CPU.
  const auto compiled = cache.compile_or_load(client, program, {}, request);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace precast
