// One compile per key: threads of one process on the fake plugin, which counts. (tests/flight has
// processes.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cache/test_cache.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kThreads = 8;

class ShareTest : public CacheTest {
 protected:
  std::vector<Result<CompileOrLoad>> ask_together(const Cache& cache, std::string_view text) {
    std::vector<std::optional<Result<CompileOrLoad>>> done(kThreads);
    std::vector<std::thread> threads;
    for (auto& one : done) {
      threads.emplace_back(
          [&] { one.emplace(cache.compile_or_load(*client_, program(text), {})); });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<Result<CompileOrLoad>> results;
    for (auto& one : done) results.push_back(*std::move(one));
    return results;
  }

  std::vector<fs::path> leases() const {
    std::vector<fs::path> found;
    const fs::path folder = dir_.file("cache/v1/leases");
    if (!fs::exists(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }

  const testing::EnvGuard slow_{"PRECAST_FAKE_LATENCY", "PJRT_Client_Compile:300"};
};

TEST_F(ShareTest, ThreadsWithOneKeyShareOneCompile) {
  const auto results = ask_together(open(), kProgram);
  int misses = 0;
  int waited = 0;
  for (const auto& result : results) {
    ASSERT_TRUE(result) << result.error().to_string();
    expect_right(result->executable);
    misses += result->report.outcome == Outcome::miss ? 1 : 0;
    if (result->report.reason != Reason::waited) continue;
    ++waited;
    EXPECT_EQ(result->report.outcome, Outcome::hit);
    EXPECT_THAT(result->report.detail, HasSubstr("while this request waited"));
  }
  EXPECT_EQ(compiles(), 1u);
  EXPECT_EQ(misses, 1);
  // A thread that came when all was over has a plain hit.
  EXPECT_GT(waited, 0);
  EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(ShareTest, WithoutLeasesEachCompiles) {
  CacheConfig config;
  config.leases = false;
  for (const auto& result : ask_together(open(config), kProgram)) EXPECT_TRUE(result);
  EXPECT_GT(compiles(), 1u);
}

TEST_F(ShareTest, WhatCannotBeStoredReleasesAllAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const auto results = ask_together(open(), "// fake: not_serializable\nmodule @sort {}\n");
  for (const auto& result : results) {
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->report.reason, Reason::not_serializable);
  }
  EXPECT_EQ(compiles(), static_cast<std::size_t>(kThreads));
  // One compile, and then all the others side by side: not one after the other.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300 * kThreads));
  EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(ShareTest, OnlyWhatCanNeverBeStoredIsRemembered) {
  const testing::EnvGuard state("XDG_STATE_HOME", dir_.file("state"));
  const std::string marks = dir_.file("state/precast/marks");
  {
    const testing::EnvGuard fault("PRECAST_FAKE_FAULT",
                                  "PJRT_Executable_Serialize:RESOURCE_EXHAUSTED:no memory");
    EXPECT_EQ(ask(open()).report.reason, Reason::not_serializable);
    EXPECT_FALSE(fs::exists(marks) && !fs::is_empty(marks));
  }
  const Report never =
      open()
          .compile_or_load(*client_, program("// fake: not_serializable\nmodule @n {}\n"), {})
          ->report;
  EXPECT_EQ(never.reason, Reason::not_serializable);
  EXPECT_FALSE(fs::is_empty(marks));
}

TEST_F(ShareTest, AFailureThatWouldComeAgainIsSharedWithThoseWhoWait) {
  const std::string_view bad = "// fake: fail=INVALID_ARGUMENT:no such thing\nmodule @bad {}\n";
  const Cache cache = open();
  for (const auto& result : ask_together(cache, bad)) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::plugin_error);
    EXPECT_EQ(result.error().plugin_code(), 3);
    EXPECT_THAT(result.error().message(), HasSubstr("no such thing"));
  }
  EXPECT_LT(compiles(), static_cast<std::size_t>(kThreads));
  // The next one asks the plugin itself.
  const std::size_t before = compiles();
  EXPECT_FALSE(cache.compile_or_load(*client_, program(bad), {}));
  EXPECT_EQ(compiles(), before + 1);
  EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(ShareTest, AFailureOfTheMomentIsNotShared) {
  const std::string_view bad = "// fake: fail=RESOURCE_EXHAUSTED:no memory\nmodule @bad {}\n";
  for (const auto& result : ask_together(open(), bad)) EXPECT_FALSE(result);
  EXPECT_EQ(compiles(), static_cast<std::size_t>(kThreads));
  EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(ShareTest, WhereNoLeaseCanBeHadTheCompileGoesOn) {
  const Cache cache = open();
  fs::create_directories(dir_.file("cache/v1"));
  fs::permissions(dir_.file("cache/v1"), fs::perms::owner_all);
  write(dir_.file("cache/v1/leases"), "in the way");
  const Report report = ask(cache).report;
  EXPECT_EQ(report.outcome, Outcome::miss);
  EXPECT_EQ(report.reason, Reason::lease_unavailable);
  EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
}

TEST_F(ShareTest, TheLongestWaitIsBounded) {
  CacheConfig config;
  config.wait_limit_s = 0.05;
  const Cache cache = open(config);
  std::size_t beside = 0;
  for (const auto& result : ask_together(cache, kProgram)) {
    ASSERT_TRUE(result) << result.error().to_string();
    beside += result->report.reason == Reason::wait_limit ? 1 : 0;
  }
  EXPECT_GT(beside, 0u);

  config.after_wait = AfterWait::fail;
  std::size_t failed = 0;
  for (const auto& result : ask_together(open(config), "// other\nmodule @other {}\n")) {
    if (result) continue;
    ++failed;
    EXPECT_EQ(result.error().code(), ErrorCode::deadline_exceeded);
    EXPECT_THAT(result.error().message(), HasSubstr("has been compiling"));
  }
  EXPECT_GT(failed, 0u);
}

TEST_F(ShareTest, WaitingIsTold) {
  const testing::EnvGuard slower("PRECAST_FAKE_LATENCY", "PJRT_Client_Compile:2500");
  std::atomic<int> told = 0;
  CacheConfig config;
  config.on_waiting = [&](const Waiting& waiting) {
    ++told;
    EXPECT_GE(waiting.waited_s, 0);
    EXPECT_FALSE(waiting.host.empty());
    throw std::runtime_error("which is dropped");
  };
  for (const auto& result : ask_together(open(config), kProgram)) EXPECT_TRUE(result);
  EXPECT_GE(told.load(), kThreads - 1);
}

}  // namespace
}  // namespace precast
