#include "base/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace precast::base {
namespace {

TEST(Process, ThisOneIsKnownAndAlive) {
  const ProcessId self = this_process_id();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_FALSE(self.boot_id.empty());
  EXPECT_NE(self.pid_namespace, 0U);
  EXPECT_NE(self.start_ticks, 0U);
  EXPECT_EQ(self, this_process_id());
  EXPECT_FALSE(has_certainly_ended(self));
}

TEST(Process, AChildEndsWhenItIsKilledAndAgainWhenItIsReaped) {
  ProcessId child = this_process_id();
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(pid, 0);
  child.pid = pid;
  child.start_ticks = 0;  // not known: it counts by its pid
  EXPECT_FALSE(has_certainly_ended(child));
  ::kill(pid, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(has_certainly_ended(child)) << "a zombie";
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(has_certainly_ended(child));
}

TEST(Process, APidThatIsUsedAgainIsAnotherProcess) {
  ProcessId other = this_process_id();
  ++other.start_ticks;
  EXPECT_TRUE(has_certainly_ended(other));
}

TEST(Process, WhatCannotBeSeenFromHereMayBeAlive) {
  ProcessId other = this_process_id();
  ++other.start_ticks;
  ProcessId elsewhere = other;
  elsewhere.boot_id = "another start of the machine";
  EXPECT_FALSE(has_certainly_ended(elsewhere));
  elsewhere = other;
  ++elsewhere.pid_namespace;
  EXPECT_FALSE(has_certainly_ended(elsewhere));
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    elsewhere = other;
    elsewhere.pid = pid;
    EXPECT_FALSE(has_certainly_ended(elsewhere)) << pid;
  }
}

}  // namespace
}  // namespace precast::base
