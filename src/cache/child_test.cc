#include "cache/child.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <csignal>
#include <string>

#include "base/file.h"

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
  EXPECT_LE(child.tail.size(), 256U << 10);
}

TEST(Child, IsEndedWhenItTakesTooLong) {
  const auto before = std::chrono::steady_clock::now();
  const ChildEnd child = shell("exec sleep 60", 1);
  EXPECT_TRUE(child.started);
  EXPECT_FALSE(child.in_time);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST(Child, IsEndedAlsoWhenItSaysThatItIsDone) {
  const ChildEnd child = shell("exec >&- 2>&-; exec sleep 60", 1);
  EXPECT_TRUE(child.started);
  EXPECT_FALSE(child.in_time);
  EXPECT_EQ(child.how, "signal 9 (Killed)");
}

// As after signal(SIGCHLD, SIG_IGN): the system keeps no child's end.
TEST(Child, AnEndThatTheHostDoesNotWantToSeeIsNoCrash) {
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGCHLD, &ignore, &before), 0);
  const ChildEnd child = shell("echo out; exit 3");
  ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
  EXPECT_TRUE(child.started && child.in_time && child.unseen);
  EXPECT_FALSE(child.stopped || child.crashed);
  EXPECT_EQ(child.output, "out\n");
}

TEST(Child, InheritsOneDescriptor) {
  const base::Fd memory(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_TRUE(base::write_all(memory.get(), "what it holds", "test").has_value());
  const ChildEnd child = run_child("/bin/cat", {"/proc/self/fd/3"}, 60, memory.get());
  EXPECT_EQ(child.output, "what it holds");
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
