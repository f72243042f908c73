// Who may write where: what the store refuses to open, and what it says then.
//
// Foreign owners are shown by an fstat() that lies, so these tests mean the same for root and for
// everybody else; RealOwners does it with chown where this process is root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "store/directory_store.h"
#include "store/test_support.h"
#include "store/trust.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t kStranger = 4711;

std::string failure_of(const Error& error) { return error.to_string(); }
std::string failure_of(const Result<void>& result) {
  return result ? "" : failure_of(result.error());
}
std::string failure_of(const Result<std::optional<Bytes>>& result) {
  return result ? "" : failure_of(result.error());
}

class DirectoryTrustTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(temp_ / "above");
    auto store = DirectoryStore::open(root_, quick_ops());
    ASSERT_TRUE(store) << store.error().to_string();
    ASSERT_EQ(failure_of((*store)->put(kName, "secret")), "");
    entry_ = (*store)->locate(kName);
  }

  // What opening the store says; "" when it opens.
  std::string open_failure(FileOps& ops = quick_ops()) {
    auto store = DirectoryStore::open(root_, ops);
    return store ? "" : failure_of(store.error());
  }
  std::string get_failure(FileOps& ops = quick_ops()) {
    auto store = DirectoryStore::open(root_, ops);
    return store ? failure_of(value_in(**store, kName)) : failure_of(store.error());
  }
  std::string put_failure(FileOps& ops = quick_ops()) {
    auto store = DirectoryStore::open(root_, ops);
    return store ? failure_of((*store)->put(kName, "new")) : failure_of(store.error());
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "above/cache";
  std::string entry_;
};

::testing::Matcher<std::string> refusal(const std::string& path, const std::string& mode,
                                        const std::string& whose) {
  return AllOf(HasSubstr("permission_denied: '" + path + "' may be written by " + whose),
               HasSubstr("owner " + std::to_string(::geteuid()) + ", mode " + mode),
               HasSubstr("run: chmod go-w '" + path + "'"));
}

TEST_F(DirectoryTrustTest, ASoundStoreOpens) {
  EXPECT_EQ(get_failure(), "");
  EXPECT_EQ(put_failure(), "");
}

TEST_F(DirectoryTrustTest, NobodyElseMayWriteToTheRoot) {
  set_mode(root_, 0770);
  EXPECT_THAT(open_failure(), refusal(root_, "0770", "its group"));
  set_mode(root_, 0702);
  EXPECT_THAT(open_failure(), refusal(root_, "0702", "everybody"));
  // Sticky is not enough here: a stranger could create the version folder first.
  set_mode(root_, 01777);
  EXPECT_THAT(open_failure(), refusal(root_, "1777", "everybody"));
}

TEST_F(DirectoryTrustTest, NobodyElseMayWriteAboveTheRootUnlessSticky) {
  set_mode(temp_ / "above", 0775);
  EXPECT_THAT(open_failure(), refusal(temp_ / "above", "0775", "its group"));
  set_mode(temp_ / "above", 0777);
  EXPECT_THAT(open_failure(), refusal(temp_ / "above", "0777", "everybody"));
  set_mode(temp_ / "above", 01777);
  EXPECT_EQ(open_failure(), "");
}

TEST_F(DirectoryTrustTest, AMissingRootIsNotCreatedInAnUnsafePlace) {
  fs::remove_all(root_);
  set_mode(temp_ / "above", 0777);
  EXPECT_THAT(open_failure(), refusal(temp_ / "above", "0777", "everybody"));
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(DirectoryTrustTest, FoldersAreCheckedOnTheWayOfALinkToo) {
  fs::create_directory(temp_ / "open");
  fs::create_directory_symlink(root_, temp_ / "open/link");
  ASSERT_TRUE(DirectoryStore::open(temp_ / "open/link"));
  set_mode(temp_ / "open", 0777);
  const auto store = DirectoryStore::open(temp_ / "open/link");
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().to_string(), refusal(temp_ / "open", "0777", "everybody"));
}

TEST_F(DirectoryTrustTest, NobodyElseMayWriteBelowTheRoot) {
  for (const std::string& folder : {root_ + "/v1", root_ + "/v1/00"}) {
    set_mode(folder, 0720);
    EXPECT_THAT(get_failure(), refusal(folder, "0720", "its group"));
    EXPECT_THAT(put_failure(), refusal(folder, "0720", "its group"));
    set_mode(folder, 01777);
    EXPECT_THAT(get_failure(), refusal(folder, "1777", "everybody"));
    set_mode(folder, 0700);
  }
  EXPECT_EQ(get_failure(), "");
}

TEST_F(DirectoryTrustTest, AnEntryThatOthersMayWriteIsNotReadAndMayBeReplaced) {
  set_mode(entry_, 0660);
  EXPECT_THAT(get_failure(), refusal(entry_, "0660", "its group"));
  set_mode(entry_, 0646);
  EXPECT_THAT(get_failure(), refusal(entry_, "0646", "everybody"));
  EXPECT_EQ(put_failure(), "");
  EXPECT_EQ(get_failure(), "");
}

TEST_F(DirectoryTrustTest, ReadingByOthersIsNoReasonToRefuse) {
  for (const std::string& folder : {root_, root_ + "/v1", root_ + "/v1/00"}) set_mode(folder, 0755);
  set_mode(entry_, 0644);
  EXPECT_EQ(get_failure(), "");
}

TEST_F(DirectoryTrustTest, NoLinkIsFollowedBelowTheRoot) {
  for (const std::string& path : {root_ + "/v1", root_ + "/v1/00", entry_}) {
    fs::rename(path, temp_ / "moved");
    fs::create_symlink(temp_ / "moved", path);
    if (path == entry_) {
      EXPECT_THAT(get_failure(), HasSubstr("corrupt: '" + path + "' is no entry but a symbolic"));
      // The link is replaced, and what it led to stays as it was.
      EXPECT_EQ(put_failure(), "");
      EXPECT_FALSE(fs::is_symlink(entry_));
      EXPECT_EQ(fs::file_size(temp_ / "moved"), 6U);
    } else {
      EXPECT_THAT(get_failure(), AllOf(HasSubstr("permission_denied: '" + path + "' is a symbolic"),
                                       HasSubstr("run: rm '" + path + "'")));
      EXPECT_THAT(put_failure(), HasSubstr("permission_denied: '" + path + "' is a symbolic"));
      fs::remove(path);
      fs::rename(temp_ / "moved", path);
    }
  }
  EXPECT_EQ(get_failure(), "");
}

TEST_F(DirectoryTrustTest, StrangersOwnNothingOnTheWay) {
  for (const std::string& path :
       {std::string("/"), temp_ / "above", root_, root_ + "/v1", root_ + "/v1/00", entry_}) {
    FaultyOps ops;
    ops.lie_about(path, [](struct stat& status) { status.st_uid = kStranger; });
    EXPECT_THAT(get_failure(ops),
                AllOf(HasSubstr("permission_denied: '" + path + "' belongs to somebody else"),
                      HasSubstr("owner 4711, mode 0"), HasSubstr("as root: chown -h ")));
    if (path == entry_) {
      EXPECT_EQ(put_failure(ops), "");
    } else {
      EXPECT_THAT(put_failure(ops), HasSubstr("'" + path + "' belongs to somebody else"));
    }
  }
}

TEST_F(DirectoryTrustTest, RootMayOwnWhatThisUserReads) {
  FaultyOps ops;
  for (const std::string& path :
       {temp_.path(), temp_ / "above", root_, root_ + "/v1", root_ + "/v1/00", entry_}) {
    ops.lie_about(path, [](struct stat& status) { status.st_uid = 0; });
  }
  EXPECT_EQ(get_failure(ops), "");
}

TEST_F(DirectoryTrustTest, ALinkToTheRootBelongsToThisUserOrRoot) {
  fs::create_directory_symlink(root_, temp_ / "link");
  for (const uid_t owner : {uid_t{0}, ::geteuid(), kStranger}) {
    FaultyOps ops;
    ops.lie_about(temp_ / "link", [&](struct stat& status) { status.st_uid = owner; });
    const auto store = DirectoryStore::open(temp_ / "link", ops);
    EXPECT_EQ(store.has_value(), owner != kStranger);
    if (!store) {
      EXPECT_THAT(failure_of(store.error()), HasSubstr("link' belongs to somebody else"));
    }
  }
}

TEST_F(DirectoryTrustTest, AStoreThatMayOnlyBeReadServesReaders) {
  for (const std::string& folder : {root_, root_ + "/v1", root_ + "/v1/00"}) set_mode(folder, 0500);
  temp_.give_to_plain_user();
  const std::string failure = as_plain_user([&]() -> std::string {
    if (auto said = get_failure(); !said.empty()) return said;
    auto store = DirectoryStore::open(root_, quick_ops());
    const auto other = value_in(**store, kOtherName);
    if (!other) return failure_of(other);
    if (other->has_value()) return "found what is not there";
    const std::string present = failure_of((*store)->put(kName, "new"));
    const std::string absent = failure_of((*store)->put(kOtherName, "new"));
    return present + "\n" + absent;
  });
  EXPECT_THAT(failure, HasSubstr("permission_denied: cannot create a file in '" + root_ +
                                 "/v1/00': Permission denied; give user "));
  EXPECT_THAT(failure, HasSubstr("permission_denied: cannot create the folder '" + root_ +
                                 "/v1/ab': Permission denied; give user "));
}

TEST_F(DirectoryTrustTest, AnEntryThatMayNotBeReadIsAnErrorNotAMiss) {
  set_mode(entry_, 0000);
  temp_.give_to_plain_user();
  EXPECT_THAT(as_plain_user([&] { return get_failure(); }),
              HasSubstr("permission_denied: cannot open '" + entry_ + "': Permission denied"));
}

TEST_F(DirectoryTrustTest, ARootThatCannotBeCreatedSaysWhere) {
  set_mode(temp_ / "above", 0500);
  temp_.give_to_plain_user();
  const std::string failure = as_plain_user([&]() -> std::string {
    const auto store = DirectoryStore::open(temp_ / "above/new/cache");
    return store ? "opened" : failure_of(store.error());
  });
  EXPECT_THAT(failure, HasSubstr("permission_denied: cannot create the folder '" +
                                 (temp_ / "above/new") + "': Permission denied"));
}

TEST_F(DirectoryTrustTest, AFolderThatMayNotBeEnteredSaysWhich) {
  set_mode(temp_ / "above", 0600);
  temp_.give_to_plain_user();
  EXPECT_THAT(as_plain_user([&] { return open_failure(); }),
              HasSubstr("permission_denied: cannot open '" + root_ + "': Permission denied"));
}

TEST_F(DirectoryTrustTest, AReadOnlyFileSystemIsPermissionDenied) {
  fs::remove_all(root_ + "/v1");
  // open_root() makes no folder here, so the first mkdirat() is put()'s.
  int calls = 0;
  {
    FaultyOps count;
    ASSERT_EQ(open_failure(count), "");
    calls = count.calls();
  }
  FaultyOps ops({.at = calls + 2, .error = EROFS, .sticky = true});
  EXPECT_THAT(put_failure(ops), HasSubstr("permission_denied: cannot create the folder '" + root_ +
                                          "/v1': Read-only file system; choose a cache folder on"));
}

TEST_F(DirectoryTrustTest, RealOwners) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "chown needs root; StrangersOwnNothingOnTheWay shows the same without it";
  }
  for (const std::string& path : {temp_ / "above", root_, root_ + "/v1", entry_}) {
    ASSERT_EQ(::lchown(path.c_str(), kStranger, kStranger), 0);
    EXPECT_THAT(get_failure(), HasSubstr("'" + path + "' belongs to somebody else (owner 4711"));
    EXPECT_THAT(get_failure(), HasSubstr("where root alone can write"));
    ASSERT_EQ(::lchown(path.c_str(), 0, 0), 0);
  }
  // And a plain user reads what root put there, when root lets everybody read.
  for (const std::string& folder :
       {temp_.path(), temp_ / "above", root_, root_ + "/v1", root_ + "/v1/00"}) {
    set_mode(folder, 0755);
  }
  set_mode(entry_, 0644);
  EXPECT_EQ(as_plain_user([&] { return get_failure(); }), "");
  EXPECT_THAT(as_plain_user([&] { return put_failure(); }), HasSubstr("permission_denied"));
}

TEST(ShellQuoted, IsOneWord) {
  EXPECT_EQ(shell_quoted("/a b"), "'/a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace precast::store
