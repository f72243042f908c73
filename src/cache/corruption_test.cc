// Whatever is in an entry's place: never loaded, set aside once with its reason, compiled again,
// and the next request hits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cache/test_cache.h"
#include "precast/limits.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kOther = "// fake: params=f32[4] results=f32[4]\nmodule @other {}\n";

class CorruptionTest : public CacheTest {
 protected:
  std::vector<fs::path> set_aside(const std::string& suffix = ".bad") const {
    std::vector<fs::path> found;
    const fs::path folder = dir_.file("cache/v1/quarantine");
    if (!fs::exists(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == suffix) found.push_back(entry.path());
    }
    return found;
  }
};

TEST_F(CorruptionTest, WhateverIsInAnEntrysPlaceIsSetAsideOnce) {
  const Cache cache = open();
  const Report other = ask(cache, kOther).report;
  const std::string path = ask(cache).report.artifact_path;
  const std::string good = read(path);
  const std::vector<std::pair<std::string, std::function<void()>>> kinds = {
      {"another key's entry", [&] { fs::copy_file(other.artifact_path, path); }},
      {"nothing in it", [&] { write(path, ""); }},
      {"half of it", [&] { write(path, good.substr(0, good.size() / 2)); }},
      {"one byte more", [&] { write(path, good + "x"); }},
      {"another file", [&] { write(path, "not an artifact"); }},
      {"a folder", [&] { fs::create_directory(path); }},
      {"a folder with something in it",
       [&] {
         fs::create_directory(path);
         write(path + "/file", "x");
       }},
      {"a pipe", [&] { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {"a link", [&] { fs::create_symlink(other.artifact_path, path); }},
      {"a link to nowhere", [&] { fs::create_symlink("/nowhere/at/all", path); }},
  };
  std::size_t aside = 0;
  for (const auto& [name, make] : kinds) {
    SCOPED_TRACE(name);
    fs::remove_all(path);
    make();
    const std::size_t before = loads();
    const Report report = ask(cache).report;
    EXPECT_EQ(report.outcome, Outcome::miss);
    EXPECT_EQ(report.reason, Reason::entry_corrupt) << report.detail;
    EXPECT_THAT(report.warnings, SizeIs(1));
    EXPECT_EQ(loads(), before + 1);  // the proof of the new one
    EXPECT_THAT(set_aside(), SizeIs(++aside));
    EXPECT_THAT(set_aside(".reason"), SizeIs(aside));
    EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
    EXPECT_THAT(set_aside(), SizeIs(aside));
  }
}

TEST_F(CorruptionTest, AFileBeyondTheLimitIsSetAside) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  fs::resize_file(path, limits::kMaxArtifactBytes + 1);
  const Report report = ask(cache).report;
  EXPECT_EQ(report.reason, Reason::entry_corrupt);
  EXPECT_THAT(report.detail, HasSubstr("kMaxArtifactBytes"));
  EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
  EXPECT_THAT(set_aside(), SizeIs(1));
}

TEST_F(CorruptionTest, WhatIsSoundForOthersStays) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  std::string future = read(path);
  future[8] = static_cast<char>(future[8] + 1);  // the version behind the magic
  const auto end =
      static_cast<unsigned char>(future[12]) + 256U * static_cast<unsigned char>(future[13]);
  future.replace(end, 32, Digest::of(future.substr(0, end)).view());
  write(path, future);
  const Report report = ask(cache).report;
  EXPECT_EQ(report.reason, Reason::entry_incompatible) << report.detail;
  EXPECT_TRUE(read(path) == future);
  EXPECT_THAT(set_aside(), IsEmpty());
}

TEST_F(CorruptionTest, StrictSetsAsideAsWell) {
  const std::string path = ask(open()).report.artifact_path;
  write(path, "not an artifact");
  CacheConfig config;
  config.strict = true;
  EXPECT_FALSE(open(config).compile_or_load(*client_, program(), {}));
  EXPECT_THAT(set_aside(), SizeIs(1));
  EXPECT_EQ(open(config).compile_or_load(*client_, program(), {})->report.outcome, Outcome::miss);
  EXPECT_EQ(open(config).compile_or_load(*client_, program(), {})->report.outcome, Outcome::hit);
}

TEST_F(CorruptionTest, AskingMovesNothing) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  write(path, "not an artifact");
  const Lookup lookup = cache.would_hit(*client_, program(), {}).value();
  EXPECT_EQ(lookup.reason, Reason::entry_corrupt);
  EXPECT_EQ(read(path), "not an artifact");
  EXPECT_THAT(set_aside(), IsEmpty());
}

TEST_F(CorruptionTest, ARefusalOfThePluginIsRememberedForThisArtifact) {
  const testing::EnvGuard state("XDG_STATE_HOME", dir_.file("state"));
  const Cache cache = open();
  const Report stored = ask(cache).report;
  {
    const testing::EnvGuard refuse("PRECAST_FAKE_FAULT",
                                   "PJRT_Executable_DeserializeAndLoad:INTERNAL:no kernel");
    const Report refused = ask(cache).report;
    EXPECT_EQ(refused.outcome, Outcome::skip);
    EXPECT_EQ(refused.reason, Reason::load_failed);
  }
  const std::size_t before = loads();
  // Another process of this host: it does not try.
  const Report again = ask(open()).report;
  EXPECT_EQ(again.outcome, Outcome::skip);
  EXPECT_EQ(again.reason, Reason::refused_here);
  EXPECT_THAT(again.detail, HasSubstr("no kernel"));
  EXPECT_EQ(loads(), before);
  EXPECT_TRUE(fs::exists(stored.artifact_path));
  EXPECT_EQ(cache.would_hit(*client_, program(), {})->reason, Reason::refused_here);
  // Another artifact of the same key is another matter.
  RequestOptions refresh;
  refresh.policy = Policy::refresh;
  ASSERT_TRUE(cache.compile_or_load(*client_, program(), {}, refresh));
  EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
}

TEST_F(CorruptionTest, WhatIsAboutTheMomentIsNotRemembered) {
  const testing::EnvGuard state("XDG_STATE_HOME", dir_.file("state"));
  const Cache cache = open();
  ask(cache);
  {
    const testing::EnvGuard refuse(
        "PRECAST_FAKE_FAULT", "PJRT_Executable_DeserializeAndLoad:RESOURCE_EXHAUSTED:no memory");
    EXPECT_EQ(ask(cache).report.reason, Reason::load_failed);
  }
  EXPECT_EQ(ask(open()).report.outcome, Outcome::hit);
}

TEST_F(CorruptionTest, SeededFlipsAreEachSetAsideOnce) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  const std::string good = read(path);
  std::uint32_t seed = 12345;
  std::size_t aside = 0;
  for (int round = 0; round < 50; ++round) {
    seed = seed * 1664525 + 1013904223;
    std::string bad = good;
    bad[seed % bad.size()] ^= static_cast<char>(1 << ((seed >> 24) % 8));
    write(path, bad);
    const Report report = ask(cache).report;
    EXPECT_EQ(report.reason, Reason::entry_corrupt) << "seed 12345, round " << round;
    EXPECT_THAT(set_aside(), SizeIs(++aside));
    EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
  }
}

}  // namespace
}  // namespace precast
