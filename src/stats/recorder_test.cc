#include "stats/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stats/fold.h"
#include "stats/folder.h"
#include "stats/test_support.h"
#include "testing/temp_dir.h"

namespace precast::stats {
namespace {

namespace fs = std::filesystem;

class Recording : public ::testing::Test {
 protected:
  Recording() : state_(temp_.path().string() + "/state") {}

  void count(int times, const std::string& name = "hit") {
    count(*Recorder::of(state_), times, name);
  }
  static void count(Recorder& recorder, int times, const std::string& name = "hit") {
    const TestEvent event(name, "train", 1);
    for (int i = 0; i < times; ++i) recorder.count(event.event);
  }
  std::uint64_t counted(const std::string& name = "hit") {
    const auto stats = read_stats({.state_directory = state_, .since_unix_s = std::nullopt});
    EXPECT_TRUE(stats) << stats.error().to_string();
    return count_of(*stats, name);
  }
  std::size_t files() const {
    std::size_t number = 0;
    for (const auto& entry : fs::directory_iterator(state_ + "/stats")) {
      number += is_process_file(entry.path().filename().string()) ? 1 : 0;
    }
    return number;
  }

  testing::TempDir temp_;
  std::string state_;
};

// First, while there are no other threads that a fork would lose.
TEST_F(Recording, IsWrittenAtTheEndOfTheLastOwner) {
  ASSERT_TRUE(in_child([this] {
    const auto first = Recorder::of(state_);
    const auto second = Recorder::of(state_);
    if (first != second) ::_exit(3);
    count(*first, 2);
    count(*second, 1);
  }));
  EXPECT_EQ(counted(), 3U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Recording, IsWrittenAtExitForAnOwnerThatNeverEnds) {
  ASSERT_TRUE(in_child([this] {
    static std::shared_ptr<Recorder>* forgotten = nullptr;
    forgotten = new std::shared_ptr<Recorder>(Recorder::of(state_));
    count(**forgotten, 4);
  }));
  EXPECT_EQ(counted(), 4U);
}

TEST_F(Recording, AKilledProcessKeepsWhatItHadWritten) {
  ASSERT_FALSE(in_child([this] {
    const auto recorder = Recorder::of(state_);
    count(*recorder, 2);
    recorder->flush();
    count(*recorder, 5);
    ::raise(SIGKILL);
  }));
  EXPECT_EQ(counted(), 2U);
}

TEST_F(Recording, AChildCountsFromZeroIntoItsOwnFile) {
  ASSERT_TRUE(in_child([this] {
    const auto recorder = Recorder::of(state_);
    count(*recorder, 2);  // not written before the fork
    if (!in_child([&] { count(*recorder, 10); })) ::_exit(3);
    if (!in_child([] {})) ::_exit(4);  // counts nothing, and writes nothing
    count(*recorder, 1);
  }));
  EXPECT_EQ(counted(), 13U);
  EXPECT_EQ(files(), 2U);
}

TEST_F(Recording, AForkWhileOthersCountIsHarmless) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator may be locked by another thread at a fork";
#endif
  ASSERT_TRUE(in_child([this] {
    const auto recorder = Recorder::of(state_);
    std::atomic<bool> stop = false;
    std::thread busy([&] {
      while (!stop) count(*recorder, 1, "miss");
    });
    bool good = true;
    for (int i = 0; i < 20; ++i) good = in_child([&] { count(*recorder, 1); }) && good;
    stop = true;
    busy.join();
    if (!good) ::_exit(3);
  }));
  EXPECT_EQ(counted(), 20U);
}

TEST_F(Recording, IsWrittenFromTimeToTime) {
  const auto recorder = Recorder::of(state_, std::chrono::milliseconds(10));
  count(*recorder, 2);
  while (!fs::exists(state_ + "/stats") || files() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(counted(), 2U);
}

// In a child: one that ends soon starts no thread.
TEST_F(Recording, IsWrittenAtTheEndAloneIfTheProcessSaysSo) {
  ASSERT_TRUE(in_child([this] {
    const auto threads = [] {
      const fs::directory_iterator tasks("/proc/self/task");
      return std::distance(begin(tasks), end(tasks));
    };
    const auto before = threads();
    write_stats_at_exit_only();
    const auto recorder = Recorder::of(state_, std::chrono::milliseconds(1));
    count(*recorder, 2);
    if (threads() != before) ::_exit(3);
  }));
  EXPECT_EQ(counted(), 2U);
}

TEST_F(Recording, TouchesNoFileBeforeItIsWritten) {
  const auto recorder = Recorder::of(state_);
  count(*recorder, 3);
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(Recording, WithoutCountsThereIsNoFile) {
  Recorder::of(state_)->flush();
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(Recording, EachFlushReplacesTheFile) {
  const auto recorder = Recorder::of(state_);
  for (int i = 1; i <= 3; ++i) {
    count(*recorder, 1);
    recorder->flush();
    EXPECT_EQ(counted(), static_cast<std::uint64_t>(i));
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(Recording, WhatCannotBeWrittenIsKept) {
  fs::create_directories(state_);
  const auto recorder = Recorder::of(state_);
  {
    std::ofstream(state_ + "/stats") << "in the way";
  }
  count(*recorder, 2);
  recorder->flush();
  fs::remove(state_ + "/stats");
  count(*recorder, 1);
  recorder->flush();
  EXPECT_EQ(counted(), 3U);
}

TEST_F(Recording, AfterAResetOnlyNewCountsAreThere) {
  const auto recorder = Recorder::of(state_);
  count(*recorder, 2);
  recorder->flush();
  ASSERT_TRUE(reset_stats(state_));
  EXPECT_EQ(counted(), 0U);
  count(*recorder, 1);
  EXPECT_EQ(counted(), 1U);
}

// It is left to whoever folds it, who may be at it.
TEST_F(Recording, AnOldFileIsNotWrittenAgain) {
  const auto recorder = Recorder::of(state_);
  count(*recorder, 2);
  recorder->flush();
  for (const auto& entry : fs::directory_iterator(state_ + "/stats")) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  count(*recorder, 1);
  recorder->flush();
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(counted(), 3U);
}

TEST_F(Recording, ManyProcessesDoNotPileUpFiles) {
  constexpr int kProcesses = 130;
  for (int i = 0; i < kProcesses; ++i) ASSERT_TRUE(in_child([this] { count(1); }));
  EXPECT_EQ(counted(), static_cast<std::uint64_t>(kProcesses));
  EXPECT_LE(files(), kFoldFiles + 1);
}

TEST_F(Recording, ManyProcessesAtOnceLoseNothing) {
  // Processes that start processes, and no threads: those would be there at a fork.
  ASSERT_TRUE(in_child([this] {
    std::vector<pid_t> starters;
    for (int i = 0; i < 8; ++i) {
      const pid_t starter = ::fork();
      if (starter == 0) {
        bool good = true;
        for (int k = 0; k < 20; ++k) good = in_child([this] { count(1); }) && good;
        ::_exit(good ? 0 : 1);
      }
      starters.push_back(starter);
    }
    bool good = true;
    for (const pid_t starter : starters) {
      int status = 0;
      good = ::waitpid(starter, &status, 0) == starter && status == 0 && good;
    }
    if (!good) ::_exit(3);
  }));
  EXPECT_EQ(counted(), 160U);
}

TEST_F(Recording, ThreadsMayCountAndFlushAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      const auto recorder = Recorder::of(state_);
      for (int k = 0; k < 50; ++k) {
        count(*recorder, 10);
        if (k % 10 == 0) recorder->flush();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted(), 2000U);
}

}  // namespace
}  // namespace precast::stats
