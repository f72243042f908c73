#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  set_mode(path, 0600);
}

class DirectoryContentsTest : public ::testing::Test {
 protected:
  DirectoryContentsTest() {
    auto opened = DirectoryStore::open(root_, quick_ops());
    if (!opened) {
      ADD_FAILURE() << opened.error().to_string();
      return;
    }
    store_ = std::move(*opened);
    EXPECT_TRUE(store_->put(kName, "one"));
    EXPECT_TRUE(store_->put(kOtherName, "another"));
  }

  StoreContents contents() {
    auto found = store_->contents();
    if (!found) {
      ADD_FAILURE() << found.error().to_string();
      return {};
    }
    return *std::move(found);
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
  std::unique_ptr<DirectoryStore> store_;
};

TEST_F(DirectoryContentsTest, ListsEntriesByName) {
  const StoreContents found = contents();
  ASSERT_EQ(found.entries.size(), 2u);
  EXPECT_EQ(found.entries[0].name, kName);
  EXPECT_EQ(found.entries[0].bytes, 3u);
  EXPECT_EQ(found.entries[0].path, store_->locate(kName));
  EXPECT_GT(found.entries[0].modified_unix_s, 0);
  EXPECT_EQ(found.entries[1].name, kOtherName);
  EXPECT_THAT(found.refused, IsEmpty());
  EXPECT_THAT(found.unfinished, IsEmpty());
  EXPECT_EQ(found.foreign, 0u);
}

TEST_F(DirectoryContentsTest, AnEmptyStoreHasNothing) {
  auto store = DirectoryStore::open(temp_ / "empty", quick_ops());
  ASSERT_TRUE(store);
  const auto found = (*store)->contents();
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_THAT(found->entries, IsEmpty());
}

TEST_F(DirectoryContentsTest, FindsOnlyAFolderThatIsThere) {
  const auto none = DirectoryStore::find(temp_ / "not/there", quick_ops());
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(fs::exists(temp_ / "not"));
  const auto found = DirectoryStore::find(root_, quick_ops());
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->path(), root_);
}

TEST_F(DirectoryContentsTest, TellsWhatIsNotItsOwn) {
  write_file(root_ + "/README", "outside of the layout: not looked at");
  write_file(root_ + "/v1/notes.txt", "x");
  fs::create_directory(root_ + "/v1/other");
  write_file(root_ + "/v1/ab/notes.precast", "x");
  fs::create_directory(root_ + "/v1/ab/" + std::string(62, 'd') + ".precast");
  fs::create_symlink("notes.precast", root_ + "/v1/ab/" + std::string(62, 'e') + ".precast");
  const StoreContents found = contents();
  EXPECT_EQ(found.entries.size(), 2u);
  EXPECT_EQ(found.foreign, 5u);
  EXPECT_THAT(found.refused, IsEmpty());
}

TEST_F(DirectoryContentsTest, RefusesWhatOthersCouldHaveWritten) {
  set_mode(store_->locate(kName), 0666);
  set_mode(root_ + "/v1/ab", 0777);
  const StoreContents found = contents();
  EXPECT_THAT(found.entries, IsEmpty());
  ASSERT_EQ(found.refused.size(), 2u);
  EXPECT_EQ(found.refused[0].path, store_->locate(kName));
  EXPECT_THAT(found.refused[0].error.message(), HasSubstr("chmod go-w"));
  EXPECT_EQ(found.refused[1].path, root_ + "/v1/ab");
}

TEST_F(DirectoryContentsTest, AFolderThatLeadsElsewhereIsRefused) {
  fs::rename(root_ + "/v1/ab", temp_ / "elsewhere");
  fs::create_directory_symlink(temp_ / "elsewhere", root_ + "/v1/ab");
  const StoreContents found = contents();
  EXPECT_EQ(found.entries.size(), 1u);
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_THAT(found.refused[0].error.message(), HasSubstr("symbolic link"));
  EXPECT_FALSE(store_->remove(kOtherName));
  EXPECT_TRUE(fs::exists(temp_ / "elsewhere/" + std::string(62, 'c') + ".precast"));
}

TEST_F(DirectoryContentsTest, RemovesOneEntry) {
  const auto removed = store_->remove(kName);
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_TRUE(*removed);
  EXPECT_FALSE(*value_in(*store_, kName));
  EXPECT_EQ(**value_in(*store_, kOtherName), "another");
  const auto again = store_->remove(kName);
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  EXPECT_FALSE(store_->remove("../../etc"));
}

TEST_F(DirectoryContentsTest, RemovesAnEntryThatIsNotTrusted) {
  set_mode(store_->locate(kName), 0666);
  const auto removed = store_->remove(kName);
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_TRUE(*removed);
}

TEST_F(DirectoryContentsTest, RemovesNoLinkAndNoFolder) {
  const std::string path = store_->locate(kName);
  fs::remove(path);
  write_file(temp_ / "precious", "x");
  fs::create_symlink(temp_ / "precious", path);
  const auto link = store_->remove(kName);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code(), ErrorCode::permission_denied);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(store_->remove(kName));
  EXPECT_TRUE(fs::exists(temp_ / "precious"));
}

TEST_F(DirectoryContentsTest, RemovesOldUnfinishedFilesOnly) {
  const std::string path = root_ + "/v1/ab/.tmp-123-0011";
  write_file(path, "half");
  const StoreContents found = contents();
  ASSERT_EQ(found.unfinished.size(), 1u);
  EXPECT_EQ(found.unfinished[0].path, path);
  const auto young =
      store_->remove_unfinished(found.unfinished[0], found.unfinished[0].modified_unix_s);
  ASSERT_TRUE(young);
  EXPECT_FALSE(*young);
  EXPECT_TRUE(fs::exists(path));
  const auto old = store_->remove_unfinished(found.unfinished[0], kAlways);
  ASSERT_TRUE(old);
  EXPECT_TRUE(*old);
  EXPECT_FALSE(fs::exists(path));
  // An entry is never taken for one.
  EXPECT_FALSE(store_->remove_unfinished(found.entries[0], kAlways));
  EXPECT_TRUE(fs::exists(found.entries[0].path));
}

TEST_F(DirectoryContentsTest, ReadsPartsOfAnEntry) {
  const auto file = store_->open_entry(kOtherName);
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->bytes(), 7u);
  EXPECT_EQ(*(*file)->read(2, 3), "oth");
  const auto beyond = (*file)->read(5, 3);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), ErrorCode::corrupt);
}

// Every system call may fail: the answer is an error or says what could not be looked at, and
// nothing is lost.
TEST_F(DirectoryContentsTest, SurvivesEveryFault) {
  for (int at = 1; at < 100; ++at) {
    FaultyOps ops({.at = at, .error = EIO});
    const auto store = DirectoryStore::find(root_, ops);
    if (store) {
      const auto found = (*store)->contents();
      if (found) {
        EXPECT_EQ(found->entries.size() + found->refused.size(), 2u) << "call " << at;
      }
      if (!ops.fired()) return;
    }
    EXPECT_TRUE(ops.fired());
  }
  FAIL() << "more than 100 calls";
}

TEST_F(DirectoryContentsTest, AFaultRemovesAllOrNothing) {
  for (int at = 1; at < 100; ++at) {
    EXPECT_TRUE(store_->put(kName, "one"));
    FaultyOps ops({.at = at, .error = EIO});
    const auto store = DirectoryStore::find(root_, ops);
    const auto removed = store ? (*store)->remove(kName) : Result<bool>(store.error());
    EXPECT_EQ(removed && *removed, !*value_in(*store_, kName)) << "call " << at;
    EXPECT_EQ(**value_in(*store_, kOtherName), "another");
    if (!ops.fired()) return;
  }
  FAIL() << "more than 100 calls";
}

TEST_F(DirectoryContentsTest, WhoMayOnlyReadRemovesNothing) {
  set_mode(temp_.path(), 0755);
  for (const char* path : {"", "/v1", "/v1/ab"}) set_mode(root_ + path, 0755);
  EXPECT_EQ(as_plain_user([&]() -> std::string {
              if (::geteuid() != 0) ::chmod((root_ + "/v1/ab").c_str(), 0555);
              const auto store = DirectoryStore::find(root_);
              if (!store) return store.error().to_string();
              const auto removed = (*store)->remove(kOtherName);
              if (removed) return "removed";
              return removed.error().code() == ErrorCode::permission_denied
                         ? ""
                         : removed.error().to_string();
            }),
            "");
  EXPECT_EQ(**value_in(*store_, kOtherName), "another");
}

}  // namespace
}  // namespace precast::store
