// The Nth system call fails, N = 1, 2, ... until the operation succeeds without a fault; and a
// process is killed at the Nth system call of a put.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// More system calls than any operation here makes.
constexpr int kMaxCalls = 100;

struct Fault {
  int error;
  ErrorCode code;  // what an operation that meets it reports
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {ENOSPC, ErrorCode::resource_exhausted},
      {EMFILE, ErrorCode::resource_exhausted},
      {EIO, ErrorCode::io_error},
      {EACCES, ErrorCode::permission_denied},
      {ESTALE, ErrorCode::unavailable},
  };
  return all;
}

// What is in the store when the fault comes.
enum class Before { nothing, other_entry, old_entry };

class Case {
 public:
  explicit Case(Before before) {
    if (before == Before::nothing) return;
    auto store = DirectoryStore::open(root_, quick_ops());
    EXPECT_TRUE((*store)->put(kOtherName, other_));
    if (before == Before::old_entry) {
      EXPECT_TRUE((*store)->put(kName, old_));
      had_old_ = true;
    }
  }

  const std::string& root() const { return root_; }
  const Bytes& fresh() const { return fresh_; }

  // What every reader may see after a put of fresh() that returned (or did not), and nothing else.
  void expect_sound(const std::optional<Result<void>>& put, bool may_leave_temporary) {
    auto store = DirectoryStore::open(root_, quick_ops());
    ASSERT_TRUE(store) << store.error().to_string();
    auto found = value_in(**store, kName);
    ASSERT_TRUE(found) << found.error().to_string();
    const bool is_fresh = *found == fresh_;
    const bool is_before = *found == (had_old_ ? std::optional(old_) : std::nullopt);
    EXPECT_TRUE(is_fresh || is_before);
    if (put && *put) {
      EXPECT_TRUE(is_fresh) << "put() said it was done";
    }
    if (!may_leave_temporary) {
      EXPECT_THAT(temp_.temporary_files(), IsEmpty());
    }
    if (had_old_) {
      EXPECT_EQ(*value_in(**store, kOtherName), other_);
    }
    // And the store works on.
    EXPECT_TRUE((*store)->put(kName, fresh_));
    EXPECT_EQ(*value_in(**store, kName), fresh_);
  }

 private:
  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
  const Bytes old_ = value_of(1, 3000);
  const Bytes fresh_ = value_of(2, 3000);
  const Bytes other_ = value_of(3, 3000);
  bool had_old_ = false;
};

FaultyOps ops_with(FaultyOps::Plan plan) {
  FaultyOps ops(plan);
  ops.set_max_transfer(700);  // several reads and writes
  return ops;
}

std::string describe(const FaultyOps::Plan& plan) {
  return "call " + std::to_string(plan.at) + (plan.kill ? " kills" : " fails with ") +
         (plan.kill ? "" : std::strerror(plan.error)) + (plan.sticky ? ", and all after it" : "");
}

void expect_code(const Error& error, const Fault& fault) {
  EXPECT_EQ(error.code(), fault.code) << error.to_string();
}

// Opens and puts with the fault; true when the fault did not come up any more.
bool put_with(FaultyOps::Plan plan, const Fault& fault, Before before) {
  SCOPED_TRACE(describe(plan));
  Case scene(before);
  FaultyOps ops = ops_with(plan);
  auto store = DirectoryStore::open(scene.root(), ops);
  if (!store) {
    expect_code(store.error(), fault);
    scene.expect_sound(std::nullopt, false);
    return false;
  }
  const Result<void> put = (*store)->put(kName, scene.fresh());
  if (!put) expect_code(put.error(), fault);
  // A stale handle is worth a second try; nothing else is.
  if (ops.fired()) {
    EXPECT_EQ(put.has_value(), fault.error == ESTALE && !plan.sticky);
  }
  scene.expect_sound(put, false);
  return !ops.fired();
}

class PutFaults : public ::testing::TestWithParam<std::tuple<Before, bool>> {};

TEST_P(PutFaults, LeaveAWholeEntryAndNoLitter) {
  const auto [before, sticky] = GetParam();
  for (const Fault& fault : faults()) {
    int at = 1;
    while (!put_with({.at = at, .error = fault.error, .sticky = sticky}, fault, before)) {
      ASSERT_LT(++at, kMaxCalls);
      if (HasFailure()) return;
    }
    EXPECT_GT(at, 15) << "too few calls failed to have met them all";
  }
}

INSTANTIATE_TEST_SUITE_P(All, PutFaults,
                         ::testing::Combine(::testing::Values(Before::nothing, Before::other_entry,
                                                              Before::old_entry),
                                            ::testing::Bool()));

TEST(GetFaults, GiveTheWholeValueOrAnError) {
  for (const bool sticky : {false, true}) {
    for (const Fault& fault : faults()) {
      Case scene(Before::old_entry);
      int at = 0;
      for (bool fired = true; fired;) {
        ASSERT_LT(++at, kMaxCalls);
        FaultyOps ops = ops_with({.at = at, .error = fault.error, .sticky = sticky});
        SCOPED_TRACE(describe({.at = at, .error = fault.error, .sticky = sticky}));
        auto store = DirectoryStore::open(scene.root(), ops);
        if (!store) {
          expect_code(store.error(), fault);
          continue;
        }
        const auto found = value_in(**store, kName);
        fired = ops.fired();
        EXPECT_EQ(found.has_value(), !fired || (fault.error == ESTALE && !sticky));
        if (found) {
          EXPECT_EQ(*found, value_of(1, 3000)) << "an unreadable entry is no miss";
        } else {
          expect_code(found.error(), fault);
        }
      }
      EXPECT_GT(at, 10);
    }
  }
}

TEST(SignalFaults, AreTriedAgain) {
  bool fired = true;
  for (int at = 1; fired; ++at) {
    ASSERT_LT(at, kMaxCalls);
    Case scene(Before::nothing);
    FaultyOps ops = ops_with({.at = at, .error = EINTR});
    SCOPED_TRACE(describe({.at = at, .error = EINTR}));
    auto store = DirectoryStore::open(scene.root(), ops);
    ASSERT_TRUE(store) << store.error().to_string();
    const Result<void> put = (*store)->put(kName, scene.fresh());
    EXPECT_TRUE(put) << put.error().to_string();
    const auto found = value_in(**store, kName);
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_EQ(*found, scene.fresh());
    fired = ops.fired();
    scene.expect_sound(put, false);
  }
}

class NeitherRenamesNorRemoves : public QuickOps {
 public:
  int renameat(int, const char*, const char*) override {
    errno = EIO;
    return -1;
  }
  int unlinkat(int, const char*) override {
    errno = EACCES;
    return -1;
  }
};

TEST(UnlinkFaults, LeaveLitterButNoDamage) {
  Case scene(Before::old_entry);
  NeitherRenamesNorRemoves ops;
  auto store = DirectoryStore::open(scene.root(), ops);
  ASSERT_TRUE(store);
  const Result<void> put = (*store)->put(kName, scene.fresh());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::io_error) << "the first error is the one to tell";
  scene.expect_sound(put, true);
}

TEST(FlushOrder, TheBytesAreDurableBeforeTheyAreVisible) {
  const TempFolder temp;
  FaultyOps ops;
  auto store = DirectoryStore::open(temp / "cache", ops);
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->put(kName, "first"));
  const std::size_t before = ops.trace().size();
  ASSERT_TRUE((*store)->put(kName, "second"));
  const std::vector<Op> calls(ops.trace().begin() + static_cast<std::ptrdiff_t>(before),
                              ops.trace().end());
  EXPECT_THAT(calls, ElementsAre(Op::openat, Op::fstat,                        // v1
                                 Op::openat, Op::fstat,                        // v1/00
                                 Op::openat, Op::write, Op::fsync, Op::close,  // the temporary file
                                 Op::renameat, Op::openat, Op::fsync));        // the folder
}

class FlushesNoFolders : public QuickOps {
 public:
  explicit FlushesNoFolders(int error) : error_(error) {}
  int fsync(int fd) override {
    struct stat status{};
    if (FileOps::fstat(fd, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
    errno = error_;
    return -1;
  }

 private:
  int error_;
};

TEST(FlushOrder, AFileSystemThatCannotFlushFoldersWillDo) {
  const TempFolder temp;
  for (const int error : {EINVAL, EOPNOTSUPP}) {
    FlushesNoFolders ops(error);
    auto store = DirectoryStore::open(temp / "cache", ops);
    ASSERT_TRUE(store);
    EXPECT_TRUE((*store)->put(kName, "x"));
  }
  FlushesNoFolders sick(EIO);
  auto store = DirectoryStore::open(temp / "cache", sick);
  ASSERT_TRUE(store);
  EXPECT_FALSE((*store)->put(kName, "y"));
}

TEST(CrashTest, AReaderSeesTheOldOrTheNewValue) {
  for (const Before before : {Before::nothing, Before::other_entry, Before::old_entry}) {
    bool killed = true;
    for (int at = 1; killed; ++at) {
      ASSERT_LT(at, kMaxCalls);
      Case scene(before);
      SCOPED_TRACE(describe({.at = at, .kill = true}));
      const std::string said = in_child([&]() -> std::string {
        FaultyOps ops = ops_with({.at = at, .kill = true});
        auto store = DirectoryStore::open(scene.root(), ops);
        if (!store) return store.error().to_string();
        const Result<void> put = (*store)->put(kName, scene.fresh());
        return put ? "" : put.error().to_string();
      });
      killed = said == "died of signal 9";
      if (!killed) {
        EXPECT_EQ(said, "");
      }
      scene.expect_sound(killed ? std::nullopt : std::optional(Result<void>()), killed);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace precast::store
