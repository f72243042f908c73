#include "base/periodic.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace precast::base {
namespace {

using std::chrono::milliseconds;

Periodic started(milliseconds period, std::function<void()> call) {
  auto periodic = Periodic::start(period, std::move(call));
  EXPECT_TRUE(periodic) << periodic.error().to_string();
  return *std::move(periodic);
}

// The threads of this process that have the name that Periodic gives.
int threads() {
  int found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name == "precast") ++found;
  }
  return found;
}

// Until `done` is true; the test's own time limit is the one that matters.
void wait_until(const std::function<bool()>& done) {
  while (!done()) std::this_thread::sleep_for(milliseconds(1));
}

// A thread that was joined may stand in /proc for a moment yet.
void wait_for_threads(int count) {
  wait_until([count] { return threads() == count; });
}

// Exit code of a child that runs `body`.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PeriodicTest, CallsAgainAndAgainUntilItIsStopped) {
  std::atomic<int> calls = 0;
  Periodic periodic = started(milliseconds(1), [&] { ++calls; });
  wait_until([&] { return calls >= 5; });
  periodic.stop();
  const int then = calls;
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(calls, then);
  periodic.stop();
}

TEST(PeriodicTest, StopWaitsForACallThatRuns) {
  std::promise<void> entered;
  std::atomic<bool> left = false;
  std::optional<Periodic> periodic = started(milliseconds(1), [&, first = true]() mutable {
    if (first) entered.set_value();
    first = false;
    std::this_thread::sleep_for(milliseconds(50));
    left = true;
  });
  entered.get_future().wait();
  periodic.reset();
  EXPECT_TRUE(left);
}

TEST(PeriodicTest, OneThreadServesAllAndIsGoneAfterTheLast) {
  wait_for_threads(0);
  std::atomic<int> a = 0;
  std::atomic<int> b = 0;
  Periodic first = started(milliseconds(1), [&] { ++a; });
  Periodic second = started(milliseconds(2), [&] { ++b; });
  wait_until([&] { return a > 2 && b > 2; });
  EXPECT_EQ(threads(), 1);
  first.stop();
  const int then = b;
  wait_until([&] { return b > then + 2; });
  EXPECT_EQ(threads(), 1);
  second = Periodic();
  wait_for_threads(0);
  Periodic third = started(milliseconds(1), [&] { ++a; });
  const int before = a;
  wait_until([&] { return a > before; });
  EXPECT_EQ(threads(), 1);
}

TEST(PeriodicTest, ALaterShortPeriodDoesNotWaitForAnEarlierLongOne) {
  std::atomic<int> calls = 0;
  const Periodic slow = started(std::chrono::hours(1), [] {});
  const Periodic quick = started(milliseconds(1), [&] { ++calls; });
  wait_until([&] { return calls > 2; });
}

TEST(PeriodicTest, MovedRegistrationsGoOn) {
  std::atomic<int> calls = 0;
  Periodic first = started(milliseconds(1), [&] { ++calls; });
  Periodic second = std::move(first);
  first.stop();  // NOLINT(bugprone-use-after-move): it holds nothing, and says so by doing nothing
  const int then = calls;
  wait_until([&] { return calls > then + 2; });
}

TEST(PeriodicTest, ACallMayStopItself) {
  std::atomic<int> calls = 0;
  std::atomic<bool> ready = false;
  Periodic periodic;
  periodic = started(milliseconds(1), [&] {
    if (!ready) return;
    ++calls;
    periodic.stop();
  });
  ready = true;
  wait_until([&] { return calls == 1; });
  wait_for_threads(0);
  EXPECT_EQ(calls, 1);
}

TEST(PeriodicTest, WhatACallHoldsMayStopOthers) {
  auto other = std::make_shared<Periodic>(started(std::chrono::hours(1), [] {}));
  Periodic holder = started(std::chrono::hours(1), [held = std::move(other)] {});
  holder.stop();
  wait_for_threads(0);
}

TEST(PeriodicTest, NoSignalIsHandledThere) {
  std::promise<sigset_t> seen;
  const Periodic periodic = started(milliseconds(1), [&, first = true]() mutable {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    if (first) seen.set_value(now);
    first = false;
  });
  const sigset_t blocked = seen.get_future().get();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1}) {
    EXPECT_EQ(::sigismember(&blocked, signal), 1) << signal;
  }
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(::sigismember(&own, SIGTERM), 0) << "the caller's mask is as it was";
}

TEST(PeriodicTest, ThreadsComeAndGo) {
  std::vector<std::future<void>> running;
  std::atomic<int> calls = 0;
  for (int thread = 0; thread < 8; ++thread) {
    running.push_back(std::async(std::launch::async, [&calls, thread] {
      for (int round = 0; round < 100; ++round) {
        const Periodic periodic = started(milliseconds(1), [&calls] { ++calls; });
        if ((round + thread) % 5 == 0) std::this_thread::sleep_for(milliseconds(2));
      }
    }));
  }
  for (auto& one : running) one.get();
  EXPECT_GT(calls, 0);
  wait_for_threads(0);
}

TEST(PeriodicTest, ACallThatHangsIsLeftAloneAndHoldsUpNobody) {
  std::promise<void> entered;
  std::promise<void> gate;
  std::atomic<bool> left = false;
  Periodic hangs = started(milliseconds(1), [&, opens = gate.get_future().share()] {
    if (!left) entered.set_value();
    opens.wait();
    left = true;
  });
  entered.get_future().wait();
  std::atomic<int> calls = 0;
  Periodic other = started(milliseconds(1), [&] { ++calls; });
  hangs.abandon();
  wait_until([&] { return calls > 2; });
  other.stop();
  EXPECT_FALSE(left);
  gate.set_value();
  wait_for_threads(0);
  EXPECT_TRUE(left);
  // One that does not run is stopped like any other.
  Periodic idle = started(std::chrono::hours(1), [] {});
  idle.abandon();
  wait_for_threads(0);
}

// What a call waits for that hangs: opened at the end of the test at the latest.
class Gate {
 public:
  void hang() {
    if (!entered_.exchange(true)) reached_.set_value();
    opens_.wait();
  }
  void wait_for_entry() { reached_.get_future().wait(); }
  void open() { gate_.set_value(); }

 private:
  std::promise<void> reached_;
  std::promise<void> gate_;
  std::shared_future<void> opens_ = gate_.get_future().share();
  std::atomic<bool> entered_ = false;
};

TEST(PeriodicTest, ACallThatHangsHoldsUpNoOtherLane) {
  Gate gate;
  Periodic hangs = *Periodic::start(milliseconds(1), [&] { gate.hang(); }, "a");
  gate.wait_for_entry();
  std::atomic<int> calls = 0;
  Periodic other = *Periodic::start(milliseconds(1), [&] { ++calls; }, "b");
  wait_until([&] { return calls > 2; });
  other.stop();
  gate.open();
  hangs.stop();
  wait_for_threads(0);
}

TEST(PeriodicTest, OthersEndWhileACallHangsThatSomebodyWaitsFor) {
  Gate gate;
  std::atomic<int> calls = 0;
  auto hangs = std::make_unique<Periodic>(started(milliseconds(1), [&] { gate.hang(); }));
  const Periodic::Id id = hangs->id();
  gate.wait_for_entry();
  Periodic first = started(std::chrono::hours(1), [] {});
  Periodic last = started(std::chrono::hours(1), [] {});
  first.stop();  // while the other two are there
  std::atomic<bool> ended = false;
  std::thread ends([&] {
    hangs.reset();
    ended = true;
  });
  std::this_thread::sleep_for(milliseconds(20));
  last.stop();  // and this is the last one: its thread is inside the call
  Periodic fresh = started(milliseconds(1), [&] { ++calls; });
  wait_until([&] { return calls > 2; });
  EXPECT_FALSE(ended);
  id.abandon();
  gate.open();
  ends.join();
  fresh.stop();
  wait_for_threads(0);
  id.abandon();  // of what is not there any more
}

TEST(PeriodicTest, WhatSomebodyWaitsForCanBeAbandoned) {
  Gate gate;
  auto hangs = std::make_unique<Periodic>(started(milliseconds(1), [&] { gate.hang(); }));
  const Periodic::Id id = hangs->id();
  std::atomic<int> calls = 0;
  Periodic other = started(milliseconds(1), [&] { ++calls; });
  gate.wait_for_entry();
  std::thread ends([&] { hangs.reset(); });
  id.abandon();
  const int then = calls;
  wait_until([&] { return calls > then + 2; });
  other.stop();
  gate.open();
  ends.join();
  wait_for_threads(0);
}

TEST(PeriodicTest, AChildHasNoneOfItsParents) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no thread in the child of a process with threads";
#endif
  std::atomic<int> calls = 0;
  Periodic periodic = started(milliseconds(1), [&] { ++calls; });
  wait_until([&] { return calls > 0; });
  const std::uint64_t parent = process_number();
  EXPECT_EQ(in_child([&] {
              if (threads() != 0) return 1;
              if (process_number() == parent) return 2;
              const int then = calls;
              std::this_thread::sleep_for(milliseconds(20));
              if (calls != then) return 3;
              periodic.stop();  // returns although no thread is there to answer
              std::atomic<int> own_calls = 0;
              Periodic own = started(milliseconds(1), [&] { ++own_calls; });
              wait_until([&] { return own_calls > 2; });
              own.stop();
              wait_for_threads(0);
              return 0;
            }),
            0);
  const int then = calls;
  wait_until([&] { return calls > then; });
  EXPECT_EQ(process_number(), parent);
}

}  // namespace
}  // namespace precast::base
