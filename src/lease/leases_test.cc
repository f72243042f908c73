// Leases as one process sees them: threads that share a key, and what lies in the folder.
#include "lease/leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "lease/test_leases.h"
#include "precast/leases.h"

namespace precast::lease {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using How = Acquired::How;

class LeasesTest : public ::testing::Test {
 protected:
  store::TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

TEST_F(LeasesTest, TheFirstHoldsItAndLeavesNothing) {
  const Opened opened(root_);
  Acquired got = opened.acquire();
  ASSERT_EQ(got.how, How::held);
  EXPECT_FALSE(got.lease->taken_over());
  EXPECT_FALSE(got.lease->lost());
  EXPECT_EQ(got.waited_s, 0);
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
  got.lease->end({Verdict::published});
  EXPECT_THAT(lease_files(root_), IsEmpty());
  got.lease->end({Verdict::published});
}

TEST_F(LeasesTest, OneThatIsDroppedLeavesNothingEither) {
  const Opened opened(root_);
  {
    const Acquired got = opened.acquire();
    EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
  }
  EXPECT_THAT(lease_files(root_), IsEmpty());
  EXPECT_EQ(opened.acquire().how, How::held);
}

TEST_F(LeasesTest, OtherKeysAreOtherLeases) {
  const Opened opened(root_);
  const Acquired one = opened.acquire(kKey);
  const Acquired two = opened.acquire(kOtherKey);
  EXPECT_EQ(one.how, How::held);
  EXPECT_EQ(two.how, How::held);
  EXPECT_FALSE(opened.leases->acquire("../x", {}));
}

TEST_F(LeasesTest, ThousandCyclesLeaveAnEmptyFolderAndNoDescriptor) {
  const Opened opened(root_);
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  EXPECT_EQ(opened.acquire().how, How::held);
  const auto before = descriptors();
  for (int round = 0; round < 1000; ++round) {
    Acquired got = opened.acquire();
    ASSERT_EQ(got.how, How::held);
    if (round % 2 == 0) got.lease->end({Verdict::not_stored});
  }
  EXPECT_THAT(lease_files(root_), IsEmpty());
  EXPECT_EQ(descriptors(), before);
}

// Everybody in this process waits for the one who has it; what it says reaches them all.
class Verdicts : public LeasesTest, public ::testing::WithParamInterface<Ending> {};

TEST_P(Verdicts, ReachEightThreads) {
  const Opened opened(root_);
  std::atomic<int> held = 0;
  std::atomic<int> told = 0;
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      Acquired got = opened.acquire();
      if (got.how == How::held) {
        ++held;
        // The others have come meanwhile, or find it free, which the counts below would show.
        std::this_thread::sleep_for(milliseconds(200));
        got.lease->end(GetParam());
      } else {
        EXPECT_EQ(got.how, How::ended);
        EXPECT_EQ(got.ending, GetParam());
        ++told;
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(held, 1);
  EXPECT_EQ(told, 7);
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, Verdicts,
                         ::testing::Values(Ending{Verdict::published, 0, ""},
                                           Ending{Verdict::not_stored, 0, ""},
                                           Ending{Verdict::failed, 3, "INVALID: no"}));

TEST_F(LeasesTest, WithoutAVerdictTheNextThreadGoesOn) {
  const Opened opened(root_);
  std::atomic<int> held = 0;
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      const Acquired got = opened.acquire();
      EXPECT_EQ(got.how, How::held);
      EXPECT_EQ(held.fetch_add(1), 0) << "two at once";
      std::this_thread::sleep_for(milliseconds(5));
      held.fetch_sub(1);
    }));
  }
  for (auto& thread : threads) thread.get();
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesTest, TwoOpeningsOfOneStoreShareAFlight) {
  const Opened one(root_);
  const Opened two(root_);
  Acquired got = one.acquire();
  auto other = std::async(std::launch::async, [&] { return two.acquire(); });
  std::this_thread::sleep_for(milliseconds(20));
  got.lease->end({Verdict::published});
  const Acquired waited = other.get();
  EXPECT_EQ(waited.how, How::ended);
  EXPECT_GT(waited.waited_s, 0);
  EXPECT_EQ(waited.holder.pid, ::getpid());
}

TEST_F(LeasesTest, AWaitEndsAtItsLimitAndWhenItIsCancelled) {
  const Opened opened(root_);
  const Acquired holder = opened.acquire();
  const Acquired at_once = opened.acquire(kKey, {.limit_s = 0});
  EXPECT_EQ(at_once.how, How::limit);
  const Acquired later = opened.acquire(kKey, {.limit_s = 0.05});
  EXPECT_EQ(later.how, How::limit);
  EXPECT_GE(later.waited_s, 0.05);
  std::atomic<int> asked = 0;
  const Acquired cancelled = opened.acquire(kKey, {.cancelled = [&] { return ++asked == 2; }});
  EXPECT_EQ(cancelled.how, How::cancelled);
  EXPECT_FALSE(holder.lease->lost());
}

TEST_F(LeasesTest, AThreadIsToldForWhomItWaits) {
  const Opened opened(root_);
  const Acquired holder = opened.acquire(kKey, {.label = "step"});
  std::vector<Waiting> told;
  const Acquired got = opened.acquire(
      kKey,
      {.limit_s = 1.5, .on_waiting = [&](const Waiting& waiting) { told.push_back(waiting); }});
  EXPECT_EQ(got.how, How::limit);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].pid, ::getpid());
  EXPECT_EQ(told[0].who, "lease_test (step)");
  EXPECT_GE(told[0].waited_s, 0.9);
  EXPECT_GE(told[0].holding_s, 0.9);
}

TEST_F(LeasesTest, AThreadThatWaitsShowsThatTheStoreAnswers) {
  const Opened holds(root_);
  const Acquired holder = holds.acquire();
  store::FaultyOps ops;
  const Opened waits(root_, ops);
  const int before = ops.calls();
  EXPECT_EQ(waits.acquire(kKey, {.limit_s = 2.5}).how, How::limit);
  EXPECT_GE(ops.calls() - before, 2);
}

// Hangs in a touch for as long as the gate is shut.
class HangingOps : public store::QuickOps {
 public:
  int futimens(int fd, const struct timespec* times) override {
    ++touches;
    while (shut) std::this_thread::sleep_for(milliseconds(1));
    return QuickOps::futimens(fd, times);
  }
  std::atomic<bool> shut = true;
  std::atomic<int> touches = 0;
};

TEST_F(LeasesTest, ALeaseThatIsAbandonedWaitsForNothingAndIsTouchedNoMore) {
  static HangingOps ops;  // stays, as a beat may still be in it
  const Opened opened(root_, ops);
  Acquired got = opened.acquire();
  while (ops.touches == 0) std::this_thread::sleep_for(milliseconds(1));
  got.lease->abandon();
  release_leases_on_signal();  // passes it by
  ops.shut = false;
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
  const Opened others(root_, store::quick_ops(), impatient_timing());
  EXPECT_TRUE(others.acquire().lease->taken_over());
  got.lease->end({Verdict::published});
}

TEST_F(LeasesTest, ALeaseWhoseEndHangsCanBeCutLoose) {
  static HangingOps ops;
  const Opened opened(root_, ops);
  Acquired got = opened.acquire();
  while (ops.touches == 0) std::this_thread::sleep_for(milliseconds(1));
  const FileLease::Ties ties = got.lease->ties();
  std::thread ends([&] { got.lease->end({Verdict::published}); });
  ties.cut();
  release_leases_on_signal();
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey)) << "the handler passed it by";
  const Opened others(root_);
  {
    const Acquired other = others.acquire(kOtherKey);
    EXPECT_EQ(other.how, How::held);
  }  // ends beside the one that hangs
  ops.shut = false;
  ends.join();
  EXPECT_THAT(lease_files(root_), IsEmpty());
  ties.cut();  // of what is gone, and whose place is another's by now
  const Acquired next = opened.acquire();
  release_leases_on_signal();
  EXPECT_THAT(lease_files(root_), IsEmpty());
}

TEST_F(LeasesTest, AnErrorIsThatOfAllThreads) {
  {
    const Opened makes_it(root_);
  }
  fs::create_directory(root_ + "/v1");
  std::ofstream(root_ + "/v1/leases") << "in the way";
  const Opened opened(root_);
  const auto got = opened.leases->acquire(kKey, {});
  ASSERT_FALSE(got);
  EXPECT_FALSE(opened.leases->list());
  fs::remove(root_ + "/v1/leases");
  EXPECT_EQ(opened.acquire().how, How::held);
}

TEST_F(LeasesTest, AFolderInPlaceOfALeaseIsAnErrorAndStays) {
  const Opened opened(root_);
  fs::create_directories(root_ + "/v1/leases/" + kKey);
  const auto got = opened.leases->acquire(kKey, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), ErrorCode::permission_denied);
  EXPECT_TRUE(fs::is_directory(root_ + "/v1/leases/" + kKey));
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
}

TEST_F(LeasesTest, ACacheThatIsRemovedMeanwhileIsMadeAgain) {
  const Opened opened(root_);
  Acquired first = opened.acquire();
  fs::remove_all(root_);
  while (!first.lease->lost()) std::this_thread::sleep_for(milliseconds(1));
  first.lease->end({Verdict::published});
  const Acquired second = opened.acquire();
  EXPECT_EQ(second.how, How::held);
  EXPECT_THAT(lease_files(root_), ElementsAre(kKey));
}

TEST_F(LeasesTest, WhoeverLostALeaseTouchesNothingOfTheNext) {
  const Opened opened(root_);
  Acquired first = opened.acquire();
  // As another process takes it over: its file in place of this one.
  const std::string path = root_ + "/v1/leases/" + kKey;
  {
    std::ofstream(path + ".new") << "of another";
  }
  fs::rename(path + ".new", path);
  while (!first.lease->lost()) std::this_thread::sleep_for(milliseconds(1));
  const auto touched = fs::last_write_time(path);
  std::this_thread::sleep_for(milliseconds(100));
  first.lease->end({Verdict::published});
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "of another");
  EXPECT_EQ(fs::last_write_time(path), touched);
}

TEST_F(LeasesTest, AFileOfAnUnknownOwnerIsTakenOverAfterItsSilence) {
  const Opened opened(root_, store::quick_ops(), impatient_timing());
  fs::create_directories(root_ + "/v1/leases");
  {
    std::ofstream(root_ + "/v1/leases/" + kKey) << "no record";
  }
  const Acquired got = opened.acquire();
  EXPECT_EQ(got.how, How::held);
  EXPECT_TRUE(got.lease->taken_over());
  EXPECT_GE(got.waited_s, 0.4);
}

TEST_F(LeasesTest, AFileThatWasSilentBeforeIsTakenOverAtOnce) {
  const Opened opened(root_, store::quick_ops(), patient_timing());
  fs::create_directories(root_ + "/v1/leases");
  const std::string path = root_ + "/v1/leases/" + kKey;
  {
    std::ofstream(path) << "no record";
  }
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const Acquired got = opened.acquire();
  EXPECT_EQ(got.how, How::held);
  EXPECT_TRUE(got.lease->taken_over());
}

}  // namespace
}  // namespace precast::lease
