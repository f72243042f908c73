#include "base/guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "testing/temp_dir.h"

namespace precast::base {
namespace {

TEST(SmallFiles, OnThisMachinesFileSystemsTheCallerDoesTheWork) {
  const testing::TempDir temp;
  const std::string folder = temp.path().string() + "/not/there/yet";
  std::thread::id who;
  ASSERT_TRUE(do_if_it_answers(folder, [&who] { who = std::this_thread::get_id(); }));
  EXPECT_EQ(who, std::this_thread::get_id());
}

// /proc is on no list of file systems that are known to answer.
TEST(SmallFiles, ElsewhereAnotherThreadDoes) {
  auto who = std::make_shared<std::thread::id>();
  ASSERT_TRUE(do_if_it_answers("/proc/self", [who] { *who = std::this_thread::get_id(); }));
  EXPECT_NE(*who, std::thread::id());
  EXPECT_NE(*who, std::this_thread::get_id());
}

TEST(SmallFiles, WhatHangsIsLeftAloneAndNeverAskedAgain) {
  const std::string folder = "/proc/sys";
  auto may_end = std::make_shared<std::atomic<bool>>(false);
  auto ended = std::make_shared<std::atomic<bool>>(false);
  EXPECT_FALSE(do_if_it_answers(folder, [may_end, ended] {
    while (!*may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *ended = true;
  }));
  EXPECT_FALSE(*ended);
  auto asked = std::make_shared<bool>(false);
  EXPECT_FALSE(do_if_it_answers(folder, [asked] { *asked = true; }));
  EXPECT_FALSE(*asked);
  EXPECT_TRUE(do_if_it_answers("/proc/self", [] {})) << "others are";
  *may_end = true;
  while (!*ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace precast::base
