// XLA's flags and the files that flags and options name, in the keys that a cache makes. The flags
// are those of a plugin's first client in a process, so each text gets a copy of the fake plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "precast/limits.h"
#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::EnvGuard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

class FlagsTest : public ::testing::Test {
 protected:
  // A plugin that nobody used before.
  Plugin fresh_plugin() {
    const std::string copy = dir_.file("plugin" + std::to_string(copies_++) + ".so");
    fs::copy_file(PRECAST_FAKE_PLUGIN, copy);
    return Plugin::open(copy).value();
  }
  Client client_under(const std::optional<std::string>& flags) {
    const EnvGuard set("XLA_FLAGS", flags);
    return fresh_plugin().create_client({}).value();
  }

  static KeyResult key_of(const Client& client, const CompileOptions& options = {}) {
    CacheConfig config;
    config.disabled = true;
    const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
    Result<KeyResult> key = Cache::open(std::move(config)).key(client, program, options);
    EXPECT_TRUE(key) << key.error().to_string();
    return key ? *std::move(key) : KeyResult();
  }

  // Names and values of the field `flags`.
  KeyField flags_of(const std::optional<std::string>& flags) {
    const KeyResult key = key_of(client_under(flags));
    EXPECT_TRUE(key.record) << key.detail;
    return key.record ? *key.record->find("flags") : KeyField();
  }

  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(dir_.path() / name, std::ios::binary) << bytes;
    return dir_.file(name);
  }

  TempDir dir_;
  int copies_ = 0;
};

const KeyItem kWidth = {"--xla_cpu_prefer_vector_width", "256"};

TEST_F(FlagsTest, CountByTheirEffect) {
  EXPECT_THAT(flags_of(std::nullopt).items, IsEmpty());
  EXPECT_THAT(flags_of("--xla_cpu_prefer_vector_width=256").items, ElementsAre(kWidth));
  EXPECT_THAT(flags_of(" --xla_dump_to=/tmp/x  --xla_cpu_prefer_vector_width=+256 ").items,
              ElementsAre(kWidth));
}

TEST_F(FlagsTest, AreThoseOfTheFirstClient) {
  const Client client = client_under("--xla_cpu_prefer_vector_width=256");
  const EnvGuard later("XLA_FLAGS", "--xla_cpu_prefer_vector_width=512");
  const Client second = client.plugin().create_client({}).value();
  EXPECT_EQ(key_of(client).record, key_of(second).record);
  EXPECT_THAT(key_of(second).record->find("flags")->items, ElementsAre(kWidth));
}

TEST_F(FlagsTest, OfAFileCountByWhatItHeld) {
  const std::string path = write("flags", "--xla_cpu_prefer_vector_width=256\n");
  const Client client = client_under(path);
  write("flags", "--xla_cpu_prefer_vector_width=512\n");  // too late
  EXPECT_THAT(key_of(client).record->find("flags")->items, ElementsAre(kWidth));
  EXPECT_THAT(flags_of(dir_.path().string()).items, IsEmpty());  // a folder is an empty file

  const KeyResult missing = key_of(client_under("no/such/file"));
  EXPECT_FALSE(missing.record);
  EXPECT_EQ(missing.bypass, Reason::option_names_file);
  EXPECT_THAT(missing.detail, HasSubstr("'no/such/file'"));
}

TEST_F(FlagsTest, ThatAreReadAgainHaveNoKey) {
  EXPECT_EQ(key_of(client_under("--xla_flags_reset")).bypass, Reason::flags_unknown);
  EXPECT_EQ(key_of(client_under("--xla_flags_reset=false")).bypass, Reason::none);
}

TEST_F(FlagsTest, WhatXlaIgnoresIsTold) {
  const KeyResult key = key_of(client_under("--xla_cpu_prefer_vector_width=256 false --xla_foo"));
  EXPECT_THAT(key.record->find("flags")->items, ElementsAre(kWidth));
  EXPECT_THAT(key.warnings, ElementsAre(HasSubstr("ignores 'false'")));
}

TEST_F(FlagsTest, FilesCountByTheirContent) {
  const std::string flag = "--xla_candidate_configs_file=";
  const KeyField one = flags_of(flag + write("a", "content"));
  const KeyField moved = flags_of(flag + write("b", "content"));
  const KeyField other = flags_of(flag + write("c", "other"));
  EXPECT_EQ(one, moved);
  EXPECT_NE(one, other);
  EXPECT_THAT(one.items.at(0).value, HasSubstr(Digest::of("content").hex()));

  // The file is read for each key, as XLA reads it for each compile.
  const Client client = client_under(flag + dir_.file("c"));
  const KeyResult before = key_of(client);
  write("c", "changed");
  EXPECT_NE(key_of(client).record->find("flags")->digest(), before.record->find("flags")->digest());
}

// The compiler reads the file after the key did: what it read is not known then.
TEST_F(FlagsTest, AFileThatChangesMeanwhileIsNotStored) {
  const Client client = client_under("--xla_candidate_configs_file=" + write("a", "content"));
  CacheConfig config;
  config.directory = dir_.file("cache");
  const Cache cache = Cache::open(config);
  const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
  {
    // The fake plugin writes a line there for each call.
    const EnvGuard log("PRECAST_FAKE_LOG", dir_.file("a"));
    const auto done = cache.compile_or_load(client, program, {});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->report.outcome, Outcome::skip);
    EXPECT_EQ(done->report.reason, Reason::option_names_file);
  }
  EXPECT_EQ(cache.compile_or_load(client, program, {})->report.outcome, Outcome::miss);
  EXPECT_EQ(cache.compile_or_load(client, program, {})->report.outcome, Outcome::hit);
}

TEST_F(FlagsTest, AnUnreadableFileBypassesAndIsNamed) {
  const Client client = client_under(std::nullopt);
  CompileOptions options;
  ASSERT_TRUE(options.set_option("xla_candidate_configs_file", dir_.file("missing")));
  const KeyResult key = key_of(client, options);
  EXPECT_FALSE(key.record);
  EXPECT_EQ(key.bypass, Reason::option_names_file);
  EXPECT_THAT(key.detail, HasSubstr("xla_candidate_configs_file"));
  EXPECT_THAT(key.detail, HasSubstr(dir_.file("missing")));
  write("missing", "now it is there");
  EXPECT_TRUE(key_of(client, options).record);
}

TEST_F(FlagsTest, OptionsOfLlvmThatMayNameAFileBypass) {
  EXPECT_TRUE(key_of(client_under("--xla_backend_extra_options=a=1")).record);
  const KeyResult key = key_of(client_under("--xla_backend_extra_options=a=/tmp/x"));
  EXPECT_EQ(key.bypass, Reason::option_names_file);
  EXPECT_THAT(key.detail, HasSubstr("xla_backend_extra_options"));
}

// A script in the place of the command, which says `words` and ends with exit code 1.
TEST_F(FlagsTest, OnlyAnEndOverFlagsIsAVerdict) {
  const EnvGuard state("XDG_STATE_HOME", dir_.file("state"));
  const EnvGuard flags("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256");
  const Plugin plugin = fresh_plugin();
  const auto verdict = [&](const std::string& words) {
    const std::string script = write("command", "#!/bin/sh\necho '" + words + "'\nexit 1\n");
    fs::permissions(script, fs::perms::owner_all);
    return check_flags(plugin, {.command = script});
  };
  using Kind = FlagsVerdict::Kind;
  EXPECT_EQ(verdict("pthread_create() failed").kind, Kind::unknown);
  EXPECT_FALSE(fs::exists(dir_.file("state/precast/flags")));
  const FlagsVerdict ends = verdict("Unknown flag in XLA_FLAGS: --xla_cpu_prefer_vector_width");
  EXPECT_EQ(ends.kind, Kind::ends);
  EXPECT_FALSE(ends.remembered);
  EXPECT_TRUE(verdict("pthread_create() failed").remembered);
}

TEST_F(FlagsTest, APipeOfFlagsIsLeftToThePlugin) {
  const std::string pipe = dir_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const EnvGuard flags("XLA_FLAGS", pipe);
  const Plugin plugin = fresh_plugin();
  EXPECT_FALSE(check_flags(plugin, {.command = dir_.file("no command")}).asked);
  // Nobody writes to it: whoever opened it to read would wait here for ever.
  const KeyResult key = key_of(client_under(pipe));
  EXPECT_EQ(key.bypass, Reason::option_names_file);
}

TEST_F(FlagsTest, ExtrasAndAnnotationsCountAndTheLabelDoesNot) {
  const Client client = client_under(std::nullopt);
  const auto digest = [&](const std::function<void(RequestOptions&)>& edit) {
    RequestOptions request;
    edit(request);
    CacheConfig config;
    config.disabled = true;
    const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
    return Cache::open(config).key(client, program, {}, request)->record->digest();
  };
  const Digest plain = digest([](RequestOptions&) {});
  EXPECT_EQ(digest([](RequestOptions& r) { r.label = "l"; }), plain);
  EXPECT_EQ(digest([](RequestOptions& r) { r.keep_program = true; }), plain);
  EXPECT_NE(digest([](RequestOptions& r) { r.salt = "l"; }), plain);
  EXPECT_NE(digest([](RequestOptions& r) { r.annotations = "l"; }), plain);
  EXPECT_NE(digest([](RequestOptions& r) { r.extras["l"] = ""; }), plain);

  RequestOptions long_name;
  long_name.extras[std::string(limits::kMaxKeyNameBytes, 'n')] = "";
  const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
  CacheConfig config;
  config.disabled = true;
  const auto refused = Cache::open(config).key(client, program, {}, long_name);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace precast
