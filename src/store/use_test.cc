// When the use of an entry is kept, and when a hit must write nothing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <ctime>

#include "store/directory_store.h"
#include "store/sharing.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr std::int64_t kExt4 = 0xef53;
constexpr std::int64_t kNfs = 0x6969;

// On a file system of the test's choice.
class OnFileSystem : public FaultyOps {
 public:
  explicit OnFileSystem(std::int64_t magic, long flags = 0) : magic_(magic), flags_(flags) {}
  int fstatfs(int fd, struct statfs* status) override {
    if (FaultyOps::fstatfs(fd, status) != 0) return -1;
    status->f_type = magic_;
    status->f_flags = flags_;
    return 0;
  }

 private:
  std::int64_t magic_;
  long flags_;
};

class UseTest : public ::testing::Test {
 protected:
  UseTest() {
    auto store = DirectoryStore::open(root_, quick_ops());
    EXPECT_TRUE(store);
    EXPECT_TRUE((*store)->put(kName, "bytes"));
    path_ = (*store)->locate(kName);
  }

  struct stat status() const {
    struct stat status{};
    EXPECT_EQ(::lstat(path_.c_str(), &status), 0);
    return status;
  }
  // As if it had been published and last used so long ago.
  void age(std::int64_t seconds) const {
    const std::array<timespec, 2> times = {
        {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 7}}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times.data(), 0), 0);
  }
  // A hit: get() and used(). Whether it was kept.
  static bool hit(Store& store) {
    const auto found = store.get(kName);
    if (!found || !*found) {
      ADD_FAILURE();
      return false;
    }
    const auto kept = store.used(kName, (*found)->identity, (*found)->used_unix_s);
    EXPECT_TRUE(kept) << kept.error().to_string();
    return kept && *kept;
  }
  bool hit(FileOps& ops) const {
    auto store = DirectoryStore::open(root_, ops);
    EXPECT_TRUE(store);
    return store && hit(**store);
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
  std::string path_;
};

TEST_F(UseTest, IsKeptOnceAnHour) {
  OnFileSystem ops(kExt4);
  EXPECT_FALSE(hit(ops)) << "it was published a moment ago";
  age(kUseStampSeconds - 100);
  EXPECT_FALSE(hit(ops));
  age(kUseStampSeconds + 1);
  EXPECT_TRUE(hit(ops));
  EXPECT_LE(std::abs(status().st_atime - std::time(nullptr)), 100);
  EXPECT_EQ(status().st_mtim.tv_nsec, 7) << "when it was published stays";
  EXPECT_FALSE(hit(ops));
}

TEST_F(UseTest, ReadingIsNoUse) {
  age(1'000'000);
  const struct stat before = status();
  auto store = DirectoryStore::open(root_, quick_ops());
  ASSERT_TRUE((*store)->get(kName));
  EXPECT_EQ(status().st_atim.tv_sec, before.st_atim.tv_sec);
}

TEST_F(UseTest, AnotherFileIsNotStamped) {
  age(1'000'000);
  OnFileSystem ops(kExt4);
  auto store = DirectoryStore::open(root_, ops);
  const auto found = (*store)->get(kName);
  age(2'000'000);
  const auto kept = (*store)->used(kName, (*found)->identity, (*found)->used_unix_s);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(*kept);
}

// Every call that could write shows in the trace, but a creating openat(): its flags do.
class Watching : public OnFileSystem {
 public:
  using OnFileSystem::OnFileSystem;
  int openat(int folder, const char* name, int flags, mode_t mode) override {
    EXPECT_EQ(flags & (O_CREAT | O_WRONLY | O_RDWR), 0) << name;
    return OnFileSystem::openat(folder, name, flags, mode);
  }
  void expect_no_write() const {
    for (const Op op : {Op::write, Op::pwrite, Op::futimens, Op::mkdirat, Op::renameat,
                        Op::renameat2, Op::linkat, Op::unlinkat, Op::rmdirat, Op::ftruncate}) {
      EXPECT_THAT(trace(), Not(Contains(op)));
    }
  }
};

TEST_F(UseTest, AHitInASharedStoreWritesNothing) {
  age(1'000'000);
  const auto expect_nothing = [&](Watching& ops, const std::string& why) {
    SCOPED_TRACE(why);
    EXPECT_FALSE(hit(ops));
    ops.expect_no_write();
  };
  Watching nfs(kNfs);
  expect_nothing(nfs, "NFS");
  Watching read_only(kExt4, 1);
  expect_nothing(read_only, "mounted read-only");
  Watching foreign(kExt4);
  foreign.lie_about(root_, [](struct stat& status) { status.st_uid = 0; });
  if (::geteuid() != 0) expect_nothing(foreign, "of root");
  set_mode(root_, 0750);
  Watching group(kExt4);
  expect_nothing(group, "readable by the group");
  set_mode(root_, 0704);
  Watching others(kExt4);
  expect_nothing(others, "readable by others");
  set_mode(root_, 0700);
  Watching declared(kExt4);
  auto store = DirectoryStore::open(root_, declared);
  (*store)->declare_shared();
  EXPECT_FALSE(hit(**store));
  declared.expect_no_write();
  Watching own(kExt4);
  EXPECT_TRUE(hit(own)) << "and otherwise it is kept";
}

TEST_F(UseTest, WhatCannotBeFoundOutIsShared) {
  const auto root = open_root(quick_ops(), root_);
  ASSERT_TRUE(root);
  OnFileSystem sound(kExt4);
  EXPECT_FALSE(is_shared(sound, *root));
  FaultyOps sick({.at = 1, .error = EIO, .sticky = true});
  EXPECT_TRUE(is_shared(sick, *root));
}

TEST_F(UseTest, AFaultIsToldAndHarmsNothing) {
  bool fired = true;
  for (int at = 1; fired; ++at) {
    ASSERT_LT(at, 100);
    age(1'000'000);
    FaultyOps ops({.at = at, .error = EIO});
    auto store = DirectoryStore::open(root_, ops);
    if (!store) continue;
    const auto found = (*store)->get(kName);
    if (found) {
      static_cast<void>((*store)->used(kName, (*found)->identity, (*found)->used_unix_s));
    }
    fired = ops.fired();
    EXPECT_EQ(**value_in(**DirectoryStore::open(root_, quick_ops()), kName), "bytes");
  }
}

}  // namespace
}  // namespace precast::store
