#include "cache/child.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace precast::cache {
namespace {

ChildEnd shell(const std::string& script, int timeout_s = 60) {
  return run_child("/bin/sh", {"-c", script}, timeout_s);
}

TEST(Child, SaysWhatItPrintedAndHowItEnded) {
  const ChildEnd child = shell("echo out; echo err >&2; exit 3");
  EXPECT_TRUE(child.started && child.in_time);
  EXPECT_EQ(child.output, "out\nerr\n");
  EXPECT_EQ(child.tail, child.output);
  EXPECT_EQ(child.how, "exit code 3");
  EXPECT_FALSE(child.stopped || child.crashed);
}

TEST(Child, ACrashIsNotAnEndFromOutside) {
  const ChildEnd crash = shell("kill -ABRT $$");
  EXPECT_TRUE(crash.crashed);
  EXPECT_FALSE(crash.stopped);
  EXPECT_EQ(crash.how, "signal 6 (Aborted)");
  const ChildEnd stop = shell("kill -TERM $$");
  EXPECT_TRUE(stop.stopped);
  EXPECT_FALSE(stop.crashed);
}

TEST(Child, KeepsTheBeginningAndTheEndOfMuch) {
  const ChildEnd child = shell("echo begin; yes | head -c 300000; echo end");
  EXPECT_TRUE(child.output.starts_with("begin\ny\n"));
  EXPECT_TRUE(child.tail.ends_with("y\nend\n"));
  EXPECT_LE(child.output.size(), 8U << 10);
  EXPECT_LE(child.tail.size(), 8U << 10);
}

TEST(Child, IsEndedWhenItTakesTooLong) {
  const auto before = std::chrono::steady_clock::now();
  const ChildEnd child = shell("exec sleep 60", 1);
  EXPECT_TRUE(child.started);
  EXPECT_FALSE(child.in_time);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST(Child, WhatIsNoProgramDoesNotStart) {
  const ChildEnd child = run_child("/no/such/program", {}, 60);
  EXPECT_FALSE(child.started);
  EXPECT_NE(child.how.find("/no/such/program"), std::string::npos);
}

// The pipe has a writer, this process, for as long as it lives.
TEST(Child, ItsInputDoesNotEndBeforeItsParent) {
  EXPECT_EQ(shell("if timeout 1 cat; then echo ended; else echo open; fi").output, "open\n");
}

}  // namespace
}  // namespace precast::cache
