// Leases between processes: who holds, who waits, who dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <thread>

#include "lease/leases.h"
#include "lease/test_leases.h"
#include "precast/leases.h"

namespace precast::lease {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using How = Acquired::How;

std::string text_of(const Acquired& got) {
  switch (got.how) {
    case How::held: return got.lease->taken_over() ? "taken over" : "held";
    case How::limit: return "limit";
    case How::cancelled: return "cancelled";
    case How::ended: break;
  }
  switch (got.ending->verdict) {
    case Verdict::published: return "published";
    case Verdict::not_stored: return "not stored";
    case Verdict::failed:
      return "failed " + std::to_string(got.ending->pjrt_code) + " " + got.ending->message;
  }
  return "?";
}

// A process that holds the lease, says so, and does what it is told by one letter: e ends it with
// `ending`, d drops it, x is the end of the process.
class Holder {
 public:
  explicit Holder(const std::string& root, Ending ending = {Verdict::published, 0, ""},
                  const std::function<void()>& before = {}, Timing timing = quick_timing()) {
    if (::pipe(to_.data()) != 0 || ::pipe(from_.data()) != 0) ADD_FAILURE() << "no pipe";
    pid_ = ::fork();
    if (pid_ == 0) {
      if (before) before();
      act(root, ending, timing);
      ::_exit(0);
    }
    ::close(to_[0]);
    ::close(from_[1]);
    char said = '?';
    EXPECT_EQ(::read(from_[0], &said, 1), 1);
    EXPECT_EQ(said, 'h') << "the holder did not get the lease";
  }
  Holder(const Holder&) = delete;
  ~Holder() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    reap();
  }

  void tell(char letter) const { EXPECT_EQ(::write(to_[1], &letter, 1), 1); }
  // What it answers: d when it is done.
  char answer() const {
    char said = '?';
    return ::read(from_[0], &said, 1) == 1 ? said : '!';
  }
  void signal(int number) const { ::kill(pid_, number); }
  int reap() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  void act(const std::string& root, const Ending& ending, Timing timing) const {
    const Opened opened(root, store::quick_ops(), timing);
    Acquired got = opened.acquire(kKey, {.limit_s = 30, .label = "of a test"});
    char said = got.how == How::held ? 'h' : 'n';
    if (::write(from_[1], &said, 1) != 1) return;
    char told = 'x';
    while (::read(to_[0], &told, 1) == 1 && told != 'x') {
      if (told == 'e') got.lease->end(ending);
      if (told == 'd') got.lease.reset();
      said = told == 'l' && got.lease->lost() ? 'l' : 'd';
      if (::write(from_[1], &said, 1) != 1) return;
    }
  }

  pid_t pid_ = -1;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
};

// A process that acquires, and tells what it got when it is asked.
store::Child waiter(const std::string& root, double limit_s = 60) {
  return store::Child([=]() -> std::string {
    const Opened opened(root);
    const auto got = opened.leases->acquire(kKey, {.limit_s = limit_s});
    if (got && got->how == How::ended && got->holder.who != "lease_test (of a test)" &&
        got->holder.pid != ::getppid()) {
      return "waited for '" + got->holder.who + "'";
    }
    return got ? text_of(*got) : got.error().to_string();
  });
}

class LeasesProcessTest : public ::testing::Test {
 protected:
  store::TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

class ProcessVerdicts : public LeasesProcessTest,
                        public ::testing::WithParamInterface<std::pair<Ending, std::string>> {};

TEST_P(ProcessVerdicts, ReachThoseWhoWaitAndNobodyElse) {
  const Holder holder(root_, GetParam().first);
  std::vector<store::Child> waiters;
  for (int i = 0; i < 4; ++i) waiters.push_back(waiter(root_));
  std::this_thread::sleep_for(milliseconds(300));
  holder.tell('e');
  for (store::Child& one : waiters) EXPECT_EQ(one.finish(), GetParam().second);
  EXPECT_EQ(waiter(root_).finish(), "held") << "it is over, and told to nobody who comes later";
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ProcessVerdicts,
    ::testing::Values(std::pair{Ending{Verdict::published, 0, ""}, std::string("published")},
                      std::pair{Ending{Verdict::not_stored, 0, ""}, std::string("not stored")},
                      std::pair{Ending{Verdict::failed, 3, "no"}, std::string("failed 3 no")}));

TEST_F(LeasesProcessTest, WithoutAVerdictOneAfterTheOtherGetsIt) {
  const Holder holder(root_);
  std::vector<store::Child> waiters;
  for (int i = 0; i < 4; ++i) waiters.push_back(waiter(root_));
  std::this_thread::sleep_for(milliseconds(100));
  holder.tell('d');
  for (store::Child& one : waiters) EXPECT_EQ(one.finish(), "held");
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

// A cache that root fills and others read.
TEST_F(LeasesProcessTest, WhoMayOnlyReadWaitsAsWell) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may act for another user";
  store::set_mode(temp_.path(), 0755);
  ASSERT_EQ(::mkdir(root_.c_str(), 0755), 0);
  const Holder holder(root_);
  store::Child reader([this] {
    return store::as_plain_user([this]() -> std::string {
      const Opened opened(root_);
      const auto got = opened.leases->acquire(kKey, {.limit_s = 60});
      return got ? text_of(*got) : got.error().to_string();
    });
  });
  std::this_thread::sleep_for(milliseconds(300));
  holder.tell('e');
  EXPECT_EQ(reader.finish(), "published");
  // Without a lease to wait for there is none to be had.
  EXPECT_THAT(store::as_plain_user([this]() -> std::string {
                const Opened opened(root_);
                const auto got = opened.leases->acquire(kKey, {.limit_s = 60});
                return got ? text_of(*got) : got.error().to_string();
              }),
              ::testing::HasSubstr("permission_denied"));
}

TEST_F(LeasesProcessTest, WhereHoldersDieNobodyWaitsForAllOfThem) {
  const Holder holder(root_);
  Timing timing = quick_timing();
  timing.follow = 2;
  // Each takes a while and dies, as a compile does that kills its process.
  std::vector<store::Child> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([this, timing]() -> std::string {
      const Opened opened(root_, store::quick_ops(), timing);
      const Acquired got = opened.acquire();
      if (got.how == How::ended) {
        return got.ending->verdict == Verdict::not_stored ? "each for itself" : "told";
      }
      if (got.how != How::held) return "not held";
      std::this_thread::sleep_for(milliseconds(200));
      ::raise(SIGKILL);
      return "";
    });
  }
  std::this_thread::sleep_for(milliseconds(200));
  holder.signal(SIGKILL);
  int died = 0;
  int alone = 0;
  for (store::Child& one : waiters) {
    const std::string said = one.finish();
    died += said == "died of signal 9" ? 1 : 0;
    alone += said == "each for itself" ? 1 : 0;
  }
  EXPECT_EQ(died + alone, 8);
  // Those who take over are not followed for ever: the first holder, and three after it at most
  // while anybody still waits.
  EXPECT_LE(died, 4);
}

TEST_F(LeasesProcessTest, ADeadHoldersLeaseIsTakenOverAtOnce) {
  Holder holder(root_);
  holder.signal(SIGKILL);
  holder.reap();
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
  const Opened opened(root_, store::quick_ops(), patient_timing());
  Acquired got = opened.acquire();
  EXPECT_EQ(text_of(got), "taken over");
  got.lease->end({Verdict::published});
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesProcessTest, AHolderThatDiesWhileOthersWaitIsReplacedByOne) {
  Holder holder(root_);
  store::Child one = waiter(root_);
  store::Child two = waiter(root_);
  std::this_thread::sleep_for(milliseconds(50));
  holder.signal(SIGKILL);  // and stays a zombie
  std::vector<std::string> said = {one.finish(), two.finish()};
  // The second one had the first one's without a verdict.
  EXPECT_THAT(said, ::testing::UnorderedElementsAre("taken over", "held"));
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesProcessTest, AStoppedHolderIsReplacedAfterItsSilenceAndThenHarmsNothing) {
  Holder holder(root_);
  holder.signal(SIGSTOP);
  const Opened opened(root_, store::quick_ops(), impatient_timing());
  Acquired got = opened.acquire();
  EXPECT_EQ(text_of(got), "taken over");
  EXPECT_GE(got.waited_s, 0.3);
  holder.signal(SIGCONT);
  for (char said = 'd'; said != 'l';) {
    holder.tell('l');
    said = holder.answer();
    ASSERT_NE(said, '!');
  }
  holder.tell('e');
  EXPECT_EQ(holder.answer(), 'd');
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey)) << "it is the new holder's";
  EXPECT_FALSE(got.lease->lost());
  store::Child late = waiter(root_);
  std::this_thread::sleep_for(milliseconds(100));
  got.lease->end({Verdict::not_stored});
  EXPECT_EQ(late.finish(), "not stored");
}

TEST_F(LeasesProcessTest, AHolderThatIsSlowIsNotReplaced) {
  const Holder holder(root_);
  // Longer than the silence.
  EXPECT_EQ(waiter(root_, 5).finish(), "limit");
}

TEST_F(LeasesProcessTest, AStoppedWaiterDoesNotTakeItsOwnSleepForTheHoldersSilence) {
  const Holder holder(root_);
  const pid_t child = ::fork();
  if (child == 0) {
    const Opened opened(root_);
    ::_exit(opened.acquire(kKey, {.limit_s = 6}).how == How::limit ? 0 : 1);
  }
  std::this_thread::sleep_for(milliseconds(300));
  ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(milliseconds(4000));  // longer than the silence
  ::kill(child, SIGCONT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

void handler(int number) {
  release_leases_on_signal();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

TEST_F(LeasesProcessTest, AHandlerGivesEverythingBack) {
  Holder holder(root_, {Verdict::published, 0, ""}, [] { ::signal(SIGTERM, handler); });
  store::Child one = waiter(root_);
  std::this_thread::sleep_for(milliseconds(50));
  holder.signal(SIGTERM);
  EXPECT_EQ(one.finish(), "held");
  EXPECT_EQ(WTERMSIG(holder.reap()), SIGTERM);
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesProcessTest, WhatAHandlerGaveBackIsLostToAProcessThatGoesOn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no thread in the child of a process with threads";
#endif
  const Opened opened(root_);
  Acquired got = opened.acquire();
  release_leases_on_signal();
  EXPECT_THAT(lease_files(root_), IsEmpty());
  EXPECT_EQ(waiter(root_).finish(), "held");
  while (!got.lease->lost()) std::this_thread::sleep_for(milliseconds(1));
  got.lease->end({Verdict::published});
  release_leases_on_signal();
  EXPECT_EQ(opened.acquire().how, How::held);
}

TEST_F(LeasesProcessTest, AChildHasNothingOfItsParents) {
  const Opened opened(root_);
  Acquired got = opened.acquire();
  const std::string said = store::in_child([&]() -> std::string {
    release_leases_on_signal();
    got.lease->end({Verdict::failed, 3, "from the child"});
    got.lease.reset();
    if (lease_files(root_) != std::vector<std::string>{kKey}) return "it removed its parent's";
    // And it may ask for the same key: the parent holds it.
    return text_of(*opened.leases->acquire(kKey, {.limit_s = 0.7}));
  });
  EXPECT_EQ(said, "limit");
  EXPECT_FALSE(got.lease->lost());
  store::Child one = waiter(root_);
  std::this_thread::sleep_for(milliseconds(100));
  got.lease->end({Verdict::published});
  EXPECT_EQ(one.finish(), "published");
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesProcessTest, AnotherPidNamespaceIsJudgedByItsSilence) {
  if (::geteuid() != 0) GTEST_SKIP() << "a PID namespace of its own needs root";
  // What is forked after unshare() is in the new namespace.
  const pid_t between = ::fork();
  if (between == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(77);
    const pid_t inner = ::fork();
    if (inner == 0) {
      const Opened opened(root_);
      const Acquired got = opened.acquire();
      ::kill(::getpid(), SIGKILL);  // which the first process of a namespace survives
      ::_exit(got.how == How::held ? 0 : 1);
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  ::waitpid(between, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no PID namespace may be made here";
  ASSERT_EQ(status, 0);
  const std::vector<std::string> left = lease_files(root_);
  EXPECT_THAT(left, ElementsAre(kKey));
  const Opened opened(root_, store::quick_ops(), impatient_timing());
  const Acquired got = opened.acquire();
  EXPECT_EQ(text_of(got), "taken over");
  EXPECT_GE(got.waited_s, 0.3) << "nobody here can know that it is dead";
}

TEST_F(LeasesProcessTest, ManyProcessesNeverHoldOneKeyTwice) {
  const std::string shared = temp_ / "held";
  std::vector<store::Child> children;
  for (int i = 0; i < 8; ++i) {
    children.emplace_back([&]() -> std::string {
      const Opened opened(root_);
      for (int round = 0; round < 20; ++round) {
        Acquired got = opened.acquire();
        if (got.how == How::ended) continue;
        if (got.how != How::held) return "not held";
        // Only one may make the folder, since only one holds.
        if (::mkdir(shared.c_str(), 0700) != 0) return "two at once";
        std::this_thread::sleep_for(milliseconds(1));
        ::rmdir(shared.c_str());
        if (round % 2 == 0) got.lease->end({Verdict::published});
      }
      return "";
    });
  }
  for (store::Child& child : children) EXPECT_EQ(child.finish(), "");
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

}  // namespace
}  // namespace precast::lease
