// The Nth system call of a lease's life fails, or is the death of the process, N = 1, 2, ... until
// nothing fails any more; and file systems that lack what others have.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "lease/process.h"
#include "lease/test_leases.h"

namespace precast::lease {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using store::FaultyOps;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using How = Acquired::How;

// More system calls than any operation here makes.
constexpr int kMaxCalls = 200;
const std::vector<int> kErrors = {ENOSPC, EIO,   EACCES, ESTALE,     ENOLCK,
                                  ENOENT, EPERM, EINTR,  EOPNOTSUPP, EMFILE};

// No heartbeat: it would make calls at moments of its own.
Timing faulty_timing() {
  Timing timing = quick_timing();
  timing.beat = std::chrono::hours(1);
  timing.silence = std::chrono::hours(1);
  timing.poll_max = milliseconds(2);
  return timing;
}

std::string describe(const FaultyOps::Plan& plan) {
  return "call " + std::to_string(plan.at) + (plan.kill ? " kills" : " fails with ") +
         (plan.kill ? "" : std::strerror(plan.error)) + (plan.sticky ? ", and all after it" : "");
}

// Who holds the lease when the fault comes.
enum class Before { nobody, somebody, dead };

// A lease file of `owner`, made by other means than the ones that fail.
std::unique_ptr<FileLease> file_of(store::DirectoryStore& store, const Owner& owner) {
  const auto layout = store.layout_folder();
  const auto folder = store::ensure_folder(store::quick_ops(), *layout, kFolder);
  auto lease = FileLease::prepare(store::quick_ops(), *folder, kKey, owner);
  EXPECT_TRUE(lease && *(*lease)->link());
  return *std::move(lease);
}

// As a process leaves it that is killed.
void leave_dead(const std::string& root) {
  Owner owner = this_process("");
  owner.start_ticks -= 1;
  fs::create_directories(root + "/v1/leases");
  std::ofstream(root + "/v1/leases/" + kKey, std::ios::binary) << encode(owner);
}

class FaultTest : public ::testing::Test {
 protected:
  // Acquires and ends with the fault; false when it did not come up any more.
  bool acquire_with(FaultyOps::Plan plan, Before before) {
    SCOPED_TRACE(describe(plan));
    const store::TempFolder temp;
    const std::string root = temp / "cache";
    const Opened healthy(root, store::quick_ops(), faulty_timing());
    std::unique_ptr<FileLease> other;
    if (before == Before::somebody) other = file_of(*healthy.store, this_process(""));
    if (before == Before::dead) leave_dead(root);
    FaultyOps ops(plan);
    auto faulty = store::DirectoryStore::open(root, ops);
    if (faulty) {
      Leases leases(**faulty, faulty_timing());
      auto got = leases.acquire(kKey, {.limit_s = before == Before::somebody ? 0.01 : 20});
      if (got) {
        // Nobody has it beside a living holder; without one nothing but the lease ends the wait.
        EXPECT_EQ(got->how, before == Before::somebody ? How::limit : How::held);
        if (got->how == How::held) {
          EXPECT_EQ(got->lease->taken_over(), before == Before::dead);
          got->lease->end({Verdict::published});
        }
      } else {
        EXPECT_TRUE(ops.fired()) << got.error().to_string();
      }
    }
    EXPECT_THAT(temp.temporary_files(), IsEmpty());
    if (other != nullptr) {
      EXPECT_THAT(lease_files(root), ElementsAre(kKey)) << "the holder's own file is gone";
      other->end(Ending{Verdict::published});
      EXPECT_THAT(lease_files(root), IsEmpty());
    } else if (!plan.sticky && before == Before::nobody) {
      EXPECT_THAT(lease_files(root), IsEmpty());
    }
    return ops.fired();
  }
};

class AcquireFaults : public FaultTest,
                      public ::testing::WithParamInterface<std::tuple<Before, bool>> {};

TEST_P(AcquireFaults, GiveALeaseOrAnErrorAndNoLitter) {
  const auto [before, sticky] = GetParam();
  for (const int error : kErrors) {
    if (error == EINTR && sticky) continue;  // then every program hangs
    int at = 1;
    while (acquire_with({.at = at, .error = error, .sticky = sticky}, before)) {
      ASSERT_LT(++at, kMaxCalls);
      if (HasFailure()) return;
    }
    EXPECT_GT(at, 15) << "too few calls failed to have met them all";
  }
}

INSTANTIATE_TEST_SUITE_P(All, AcquireFaults,
                         ::testing::Combine(::testing::Values(Before::nobody, Before::somebody,
                                                              Before::dead),
                                            ::testing::Bool()));

// What a holder's faults mean to those who wait with a healthy file system.
class EndFaults : public FaultTest, public ::testing::WithParamInterface<bool> {};

// The calls that make a lease; counting begins with its end.
constexpr int kCallsBefore = 5;

TEST_P(EndFaults, NeverKeepAWaiterWaiting) {
  const bool sticky = GetParam();
  for (const int error : kErrors) {
    if (error == EINTR && sticky) continue;
    bool fired = true;
    for (int at = 1; fired; ++at) {
      ASSERT_LT(at, kMaxCalls);
      const FaultyOps::Plan plan{.at = at, .error = error, .sticky = sticky};
      SCOPED_TRACE(describe(plan));
      const store::TempFolder temp;
      const std::string root = temp / "cache";
      const Opened healthy(root, store::quick_ops(), faulty_timing());
      const auto layout = healthy.store->layout_folder();
      const auto folder = store::ensure_folder(store::quick_ops(), *layout, kFolder);
      FaultyOps ops({.at = kCallsBefore + at, .error = error, .sticky = sticky});
      auto file = FileLease::prepare(ops, *folder, kKey, this_process(""));
      ASSERT_TRUE(file && *(*file)->link());
      ASSERT_EQ(ops.calls(), kCallsBefore);
      // A waiter in a process of its own: threads share a flight.
      Timing timing = faulty_timing();
      timing.silence = milliseconds(100);
      store::Child waiter([&]() -> std::string {
        const Opened own(root, store::quick_ops(), timing);
        Acquired got = own.acquire(kKey, {.limit_s = 20});
        return got.how == How::ended || got.how == How::held ? "" : "kept waiting";
      });
      (*file)->end(Ending{Verdict::published});
      EXPECT_EQ(waiter.finish(), "");
      EXPECT_THAT(temp.temporary_files(), IsEmpty());
      if (!sticky) {
        EXPECT_THAT(lease_files(root), IsEmpty());
      }
      fired = ops.fired();
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EndFaults, ::testing::Bool());

TEST_F(FaultTest, KilledAtEachCallTheNextOneGetsItAtOnce) {
  for (const Before before : {Before::nobody, Before::dead}) {
    bool killed = true;
    for (int at = 1; killed; ++at) {
      ASSERT_LT(at, kMaxCalls);
      SCOPED_TRACE(describe({.at = at, .kill = true}));
      const store::TempFolder temp;
      const std::string root = temp / "cache";
      if (before == Before::dead) leave_dead(root);
      const std::string said = store::in_child([&]() -> std::string {
        FaultyOps ops({.at = at, .kill = true});
        const Opened opened(root, ops, faulty_timing());
        opened.acquire().lease->end({Verdict::published});
        return "";
      });
      killed = said == "died of signal 9";
      if (!killed) {
        EXPECT_EQ(said, "");
      }
      const Opened healthy(root, store::quick_ops(), faulty_timing());
      Acquired got = healthy.acquire(kKey, {.limit_s = 20});
      EXPECT_EQ(got.how, How::held);
      got.lease.reset();
      EXPECT_LE(lease_files(root).size(), 1u) << "a temporary file, and nothing else";
      ASSERT_TRUE(healthy.leases->sweep(false, 0));
      EXPECT_THAT(lease_files(root), IsEmpty());
      if (HasFailure()) return;
    }
  }
}

// File systems without hard links, without RENAME_NOREPLACE, without locks.
struct Lacks {
  bool links = false;
  bool no_replace = false;
  bool locks = false;
};
class PoorOps : public store::QuickOps {
 public:
  explicit PoorOps(Lacks lacks) : lacks_(lacks) {}
  int linkat(int folder, const char* from, const char* to) override {
    return lacks_.links ? fail(EPERM) : QuickOps::linkat(folder, from, to);
  }
  int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                unsigned flags) override {
    return lacks_.no_replace ? fail(EINVAL)
                             : QuickOps::renameat2(from_folder, from, to_folder, to, flags);
  }
  int flock(int fd, int operation) override {
    return lacks_.locks ? fail(ENOLCK) : QuickOps::flock(fd, operation);
  }

 private:
  static int fail(int error) {
    errno = error;
    return -1;
  }
  Lacks lacks_;
};

class PoorFileSystems : public ::testing::TestWithParam<Lacks> {};

TEST_P(PoorFileSystems, HaveLeasesTheSame) {
  PoorOps ops(GetParam());
  const store::TempFolder temp;
  const std::string root = temp / "cache";
  const Opened opened(root, ops);
  Acquired got = opened.acquire();
  ASSERT_EQ(got.how, How::held);
  EXPECT_THAT(lease_files(root), ElementsAre(kKey));
  store::Child waiter([&]() -> std::string {
    const Opened own(root, ops);
    const Acquired other = own.acquire(kKey, {.limit_s = 30});
    return other.how == How::ended && other.ending->verdict == Verdict::published ? "" : "no";
  });
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_FALSE(got.lease->lost());
  got.lease->end({Verdict::published});
  EXPECT_EQ(waiter.finish(), "");
  EXPECT_THAT(lease_files(root), IsEmpty());
  leave_dead(root);
  Acquired taken = opened.acquire();
  EXPECT_TRUE(taken.lease->taken_over());
  EXPECT_THAT(lease_files(root), ElementsAre(kKey));
  taken.lease.reset();
  EXPECT_THAT(lease_files(root), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, PoorFileSystems,
    ::testing::Values(Lacks{.links = true}, Lacks{.links = true, .no_replace = true},
                      Lacks{.locks = true},
                      Lacks{.links = true, .no_replace = true, .locks = true}));

// A network that loses the answer to a call that was done.
class LosesTheAnswer : public store::QuickOps {
 public:
  int linkat(int folder, const char* from, const char* to) override {
    const int done = QuickOps::linkat(folder, from, to);
    if (done == 0) errno = EEXIST;
    return -1;
  }
};

TEST(LostAnswers, ItsOwnLeaseIsNotWaitedFor) {
  LosesTheAnswer ops;
  const store::TempFolder temp;
  const Opened opened(temp / "cache", ops, faulty_timing());
  Acquired got = opened.acquire(kKey, {.limit_s = 20});
  ASSERT_EQ(got.how, How::held);
  EXPECT_THAT(temp.temporary_files(), IsEmpty());
  got.lease.reset();
  EXPECT_THAT(lease_files(temp / "cache"), IsEmpty());
}

TEST(Takers, OneThatWasStoppedWithTheLockDoesNotBlockTheOthersForEver) {
  const store::TempFolder temp;
  const std::string root = temp / "cache";
  leave_dead(root);
  const base::Fd stopped(::open((root + "/v1/leases/" + kKey).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(stopped.get(), LOCK_EX), 0);
  const Opened opened(root, store::quick_ops(), impatient_timing());
  const Acquired got = opened.acquire(kKey, {.limit_s = 30});
  EXPECT_EQ(got.how, How::held);
  EXPECT_GE(got.waited_s, 0.4);
}

TEST(Takers, EightAtOnceOnADeadLeaseAreOneAfterTheOther) {
  for (int round = 0; round < 10; ++round) {
    const store::TempFolder temp;
    const std::string root = temp / "cache";
    leave_dead(root);
    const std::string shared = temp / "held";
    std::vector<store::Child> takers;
    for (int i = 0; i < 8; ++i) {
      takers.emplace_back([&]() -> std::string {
        const Opened opened(root, store::quick_ops(), patient_timing());
        const Acquired got = opened.acquire();
        if (got.how != How::held) return "not held";
        if (::mkdir(shared.c_str(), 0700) != 0) return "two at once";
        std::this_thread::sleep_for(milliseconds(2));
        ::rmdir(shared.c_str());
        return got.lease->taken_over() ? "taken over" : "held";
      });
    }
    int taken_over = 0;
    for (store::Child& taker : takers) {
      const std::string said = taker.finish();
      if (said == "taken over") ++taken_over;
      EXPECT_THAT(said, ::testing::AnyOf("held", "taken over"));
    }
    EXPECT_EQ(taken_over, 1);
    EXPECT_THAT(lease_files(root), IsEmpty());
  }
}

}  // namespace
}  // namespace precast::lease
