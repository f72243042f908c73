#include "lease/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace precast::lease {
namespace {

// A child that waits to be killed, as an owner sees it.
class Sleeper {
 public:
  Sleeper() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) ADD_FAILURE() << "no pipe";
    pid_ = ::fork();
    if (pid_ == 0) {
      const Owner self = this_process("");
      const Bytes record = encode(self);
      const bool told = ::write(ends[1], record.data(), record.size()) > 0;
      while (told) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    std::array<char, 4096> record{};
    const ssize_t size = ::read(ends[0], record.data(), record.size());
    ::close(ends[0]);
    owner_ = *decode({record.data(), static_cast<std::size_t>(size)}).owner;
  }
  ~Sleeper() {
    if (pid_ > 0) reap();
  }

  const Owner& owner() const { return owner_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  void wait_for_zombie() const {
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    kill();
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  Owner owner_;
};

TEST(ProcessTest, ThisProcessIsKnownAndAlive) {
  const Owner self = this_process("label");
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(self.label, "label");
  EXPECT_FALSE(self.host.empty());
  EXPECT_EQ(self.boot_id.size(), 36u);
  EXPECT_NE(self.pid_namespace, 0u);
  EXPECT_NE(self.start_ticks, 0u);
  EXPECT_EQ(self.token.size(), 16u);
  EXPECT_EQ(self.program, "lease_test");
  EXPECT_FALSE(is_certainly_dead(self));
  EXPECT_NE(this_process("").token, self.token);
}

TEST(ProcessTest, AProcessIsDeadFromItsEndOnEvenIfNobodyAsks) {
  Sleeper child;
  EXPECT_FALSE(is_certainly_dead(child.owner()));
  child.kill();
  child.wait_for_zombie();
  EXPECT_TRUE(is_certainly_dead(child.owner())) << "a zombie";
  child.reap();
  EXPECT_TRUE(is_certainly_dead(child.owner()));
}

TEST(ProcessTest, AStoppedProcessIsAlive) {
  Sleeper child;
  ::kill(static_cast<pid_t>(child.owner().pid), SIGSTOP);
  EXPECT_FALSE(is_certainly_dead(child.owner()));
}

TEST(ProcessTest, APidThatBelongsToAnotherIsThatOfADeadOne) {
  Owner before = this_process("");
  before.start_ticks -= 1;
  EXPECT_TRUE(is_certainly_dead(before));
}

TEST(ProcessTest, WhatCannotBeSeenFromHereMayBeAlive) {
  Sleeper child;
  child.kill();
  child.reap();
  const auto with = [&](auto change) {
    Owner owner = child.owner();
    change(owner);
    return owner;
  };
  ASSERT_TRUE(is_certainly_dead(child.owner()));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.boot_id[0] ^= 1; })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.boot_id.clear(); })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.pid_namespace += 1; })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.pid_namespace = 0; })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.pid = 0; })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.pid = -1; })));
  EXPECT_FALSE(is_certainly_dead(with([](Owner& o) { o.pid = std::int64_t{1} << 40; })));
  EXPECT_FALSE(is_certainly_dead(Owner{}));
}

}  // namespace
}  // namespace precast::lease
