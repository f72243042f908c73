#include "store/directory_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "base/file.h"
#include "precast/limits.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<DirectoryStore> open_store(const std::string& path, FileOps& ops = quick_ops()) {
  auto store = DirectoryStore::open(path, ops);
  if (!store) {
    ADD_FAILURE() << store.error().to_string();
    return nullptr;
  }
  return std::move(*store);
}

void expect_value(Store& store, const std::string& name, const std::optional<Bytes>& expected) {
  const auto found = value_in(store, name);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(*found, expected);
}

void expect_put(Store& store, const std::string& name, BytesView bytes) {
  const auto stored = store.put(name, bytes);
  ASSERT_TRUE(stored) << stored.error().to_string();
}

template <typename T>
void expect_error(const Result<T>& result, ErrorCode code, const std::string& part) {
  ASSERT_FALSE(result);
  EXPECT_EQ(to_string(result.error().code()), to_string(code));
  EXPECT_THAT(result.error().message(), HasSubstr(part));
}

class DirectoryStoreTest : public ::testing::Test {
 protected:
  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

TEST_F(DirectoryStoreTest, AbsenceIsAValueAndWritesNothing) {
  const auto store = open_store(root_);
  expect_value(*store, kName, std::nullopt);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(DirectoryStoreTest, GivesBackWhatWasPut) {
  const auto store = open_store(root_, posix_file_ops());
  Bytes all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  expect_put(*store, kName, all);
  expect_put(*store, kOtherName, "");
  expect_value(*store, kName, all);
  expect_value(*store, kOtherName, "");
  expect_put(*store, kName, "another");
  expect_value(*open_store(root_), kName, "another");
  EXPECT_THAT(temp_.temporary_files(), IsEmpty());
}

TEST_F(DirectoryStoreTest, LaysEntriesOutUnderTheVersion) {
  const auto store = open_store(root_);
  const std::string path = root_ + "/v1/ab/" + std::string(62, 'c') + ".precast";
  EXPECT_EQ(store->locate(kOtherName), path);
  EXPECT_EQ(store->locate("../../etc/passwd"), "");
  EXPECT_EQ(store->locate(""), "");
  expect_put(*store, kOtherName, "bytes");
  const auto bytes = base::read_file(path, 100);
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  EXPECT_EQ(*bytes, "bytes");
}

TEST_F(DirectoryStoreTest, RefusesNamesThatAreNotDigests) {
  const auto store = open_store(root_);
  std::string upper = kName;
  upper.back() = 'F';
  for (const std::string& name : {std::string(), std::string("ab"), kName + "0", kName.substr(1),
                                  upper, std::string(63, '0') + "/", "../" + kName.substr(3),
                                  std::string(64, '\0'), std::string(10000, 'a')}) {
    expect_error(value_in(*store, name), ErrorCode::invalid_argument,
                 "64 lower-case hexadecimal digits");
    expect_error(store->put(name, "x"), ErrorCode::invalid_argument, "is no name");
    EXPECT_LT(value_in(*store, name).error().message().size(), 300U);
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(DirectoryStoreTest, RefusesValuesBeyondTheLimit) {
  const auto store = open_store(root_);
  // The size alone decides; the bytes are never looked at.
  const BytesView large(kName.data(), limits::kMaxArtifactBytes + 1);
  expect_error(store->put(kName, large), ErrorCode::invalid_argument, "kMaxArtifactBytes");
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(DirectoryStoreTest, RefusesEntriesBeyondTheLimitBeforeReadingThem) {
  expect_put(*open_store(root_), kName, "small");
  FaultyOps ops;
  const auto store = open_store(root_, ops);
  ops.lie_about(store->locate(kName), [](struct stat& status) {
    status.st_size = static_cast<off_t>(limits::kMaxArtifactBytes) + 1;
  });
  expect_error(value_in(*store, kName), ErrorCode::corrupt, "kMaxArtifactBytes");
  EXPECT_THAT(ops.trace(), ::testing::Not(::testing::Contains(Op::pread)));
}

TEST_F(DirectoryStoreTest, NoticesAnEntryThatIsCutShortWhileItIsRead) {
  expect_put(*open_store(root_), kName, "12345678");
  FaultyOps ops;
  ops.set_max_transfer(3);
  const auto store = open_store(root_, ops);
  ops.set_hook([&](Op op, const char*) {
    if (op == Op::pread) fs::resize_file(store->locate(kName), 4);
  });
  expect_error(value_in(*store, kName), ErrorCode::corrupt, "cut short from 8 to 4 bytes");
}

TEST_F(DirectoryStoreTest, MovesBytesAcrossShortReadsAndWrites) {
  FaultyOps ops;
  ops.set_max_transfer(7);
  const auto store = open_store(root_, ops);
  const Bytes value = value_of(3, 1000);
  expect_put(*store, kName, value);
  expect_value(*store, kName, value);
  EXPECT_GT(std::count(ops.trace().begin(), ops.trace().end(), Op::write), 2);
}

TEST_F(DirectoryStoreTest, CreatesMissingFoldersForThisUserAlone) {
  const mode_t old_mask = ::umask(0);
  const auto store = open_store(temp_ / "a/b/c");
  expect_put(*store, kName, "x");
  ::umask(old_mask);
  for (const char* path : {"a", "a/b", "a/b/c", "a/b/c/v1", "a/b/c/v1/00"}) {
    EXPECT_EQ(mode_of(temp_ / path), 0700) << path;
  }
  EXPECT_EQ(mode_of(store->locate(kName)), 0600);
}

TEST_F(DirectoryStoreTest, AnotherProcessMayBeFasterToCreateAFolder) {
  FaultyOps ops;
  std::vector<std::string> made;
  mode_t mode = 0700;
  ops.set_hook([&](Op op, const char* name) {
    if (op != Op::mkdirat) return;
    made.push_back((made.empty() ? temp_.path() : made.back()) + "/" + name);
    fs::create_directory(made.back());
    set_mode(made.back(), mode);
  });
  const auto store = open_store(root_, ops);
  expect_put(*store, kName, "x");
  EXPECT_THAT(made, ::testing::ElementsAre(root_, root_ + "/v1", root_ + "/v1/00"));
  // What the other one made is checked like anything else.
  made = {root_ + "/v1"};
  mode = 0777;
  expect_error(store->put(kOtherName, "x"), ErrorCode::permission_denied, "v1/ab' may be written");
}

TEST_F(DirectoryStoreTest, LetsOthersReadWhatTheFolderLetsThemRead) {
  fs::create_directory(root_);
  const mode_t old_mask = ::umask(0);
  set_mode(root_, 0755);
  const auto store = open_store(root_);
  expect_put(*store, kName, "x");
  ::umask(077);
  expect_put(*store, kOtherName, "x");
  ::umask(old_mask);
  EXPECT_EQ(mode_of(root_ + "/v1"), 0755);
  EXPECT_EQ(mode_of(store->locate(kName)), 0644);
  EXPECT_EQ(mode_of(store->locate(kOtherName)), 0600) << "the umask can only take away";
}

TEST_F(DirectoryStoreTest, ARelativePathCountsFromTheFolderOfTheMoment) {
  const std::string failure = in_child([&]() -> std::string {
    if (::chdir(temp_.path().c_str()) != 0) return "chdir";
    auto store = DirectoryStore::open("x/../cache");
    if (!store) return store.error().to_string();
    if (::chdir("/") != 0) return "chdir /";
    if ((*store)->path() != root_) return (*store)->path();
    const auto stored = (*store)->put(kName, "x");
    return stored ? "" : stored.error().to_string();
  });
  EXPECT_EQ(failure, "");
  expect_value(*open_store(root_), kName, "x");
}

TEST_F(DirectoryStoreTest, ARelativePathNeedsAWorkingDirectory) {
  const std::string said = in_child([&]() -> std::string {
    const std::string gone = temp_ / "gone";
    if (::mkdir(gone.c_str(), 0700) != 0 || ::chdir(gone.c_str()) != 0) return "chdir";
    if (::rmdir(gone.c_str()) != 0) return "rmdir";
    const auto store = DirectoryStore::open("cache");
    return store ? "opened" : store.error().to_string();
  });
  EXPECT_THAT(said, HasSubstr("invalid_argument: 'cache' counts from the working directory"));
}

TEST_F(DirectoryStoreTest, RefusesPathsThatNameNoFolder) {
  std::ofstream(temp_ / "file") << "x";
  expect_error(DirectoryStore::open(""), ErrorCode::invalid_argument, "empty");
  expect_error(DirectoryStore::open(std::string("a\0b", 3)), ErrorCode::invalid_argument, "NUL");
  expect_error(DirectoryStore::open(temp_ / "file"), ErrorCode::invalid_argument,
               "file' is not a folder");
  expect_error(DirectoryStore::open(temp_ / "file/below"), ErrorCode::invalid_argument,
               "file' is not a folder");
  expect_error(DirectoryStore::open(temp_ / std::string(300, 'x')), ErrorCode::invalid_argument,
               "File name too long");
  fs::create_symlink("circle", temp_ / "circle");
  expect_error(DirectoryStore::open(temp_ / "circle"), ErrorCode::invalid_argument,
               "more than 40 symbolic links");
}

TEST_F(DirectoryStoreTest, OddButSoundPathsLeadToTheSameFolder) {
  expect_put(*open_store(root_), kName, "x");
  for (const std::string& path : {root_ + "/", "/" + root_, temp_ / "./cache/./",
                                  temp_ / "cache/../cache", "/.." + root_, root_ + "/v1/.."}) {
    const auto store = open_store(path);
    ASSERT_TRUE(store) << path;
    EXPECT_EQ(store->path(), root_) << path;
    expect_value(*store, kName, "x");
  }
}

TEST_F(DirectoryStoreTest, IsReachedThroughSymbolicLinks) {
  fs::create_directories(temp_ / "disk/real");
  fs::create_directories(temp_ / "links");
  fs::create_symlink("../disk", temp_ / "links/relative");
  fs::create_symlink(temp_ / "links/relative/real", temp_ / "links/absolute");
  const auto store = open_store(temp_ / "links/absolute");
  EXPECT_EQ(store->path(), temp_ / "disk/real");
  // The path was resolved once: where the link leads later does not matter.
  fs::remove(temp_ / "links/absolute");
  expect_put(*store, kName, "x");
  expect_value(*open_store(temp_ / "disk/real"), kName, "x");
}

TEST_F(DirectoryStoreTest, CreatesWhereADanglingLinkLeads) {
  fs::create_symlink("elsewhere/cache", temp_ / "link");
  const auto store = open_store(temp_ / "link");
  EXPECT_EQ(store->path(), temp_ / "elsewhere/cache");
  EXPECT_EQ(mode_of(temp_ / "elsewhere"), 0700);
}

TEST_F(DirectoryStoreTest, APipeInPlaceOfAnEntryDoesNotBlock) {
  const auto store = open_store(root_);
  expect_put(*store, kName, "x");
  fs::remove(store->locate(kName));
  ASSERT_EQ(::mkfifo(store->locate(kName).c_str(), 0600), 0);
  expect_error(value_in(*store, kName), ErrorCode::corrupt, "no entry but a pipe");
  expect_put(*store, kName, "y");
  expect_value(*store, kName, "y");
}

TEST_F(DirectoryStoreTest, AFolderInPlaceOfAnEntryIsAnError) {
  const auto store = open_store(root_);
  fs::create_directories(store->locate(kName));
  set_mode(root_ + "/v1", 0700);
  set_mode(root_ + "/v1/00", 0700);
  expect_error(value_in(*store, kName), ErrorCode::corrupt, "no entry but a folder");
  expect_error(store->put(kName, "x"), ErrorCode::io_error, store->locate(kName));
  EXPECT_THAT(temp_.temporary_files(), IsEmpty());
}

TEST_F(DirectoryStoreTest, AFileInPlaceOfAFolderIsAnError) {
  const auto store = open_store(root_);
  std::ofstream(root_ + "/v1") << "x";
  expect_error(value_in(*store, kName), ErrorCode::permission_denied, "v1' is not a folder");
  expect_error(store->put(kName, "x"), ErrorCode::permission_denied, "v1' is not a folder");
}

TEST_F(DirectoryStoreTest, OpenFilesAreNotUsedUp) {
  const auto store = open_store(root_);
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_files();
  for (int i = 0; i < 10; ++i) {
    expect_put(*store, kName, "x");
    expect_value(*store, kName, "x");
    expect_value(*store, kOtherName, std::nullopt);
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(DirectoryStoreTest, RunningOutOfDescriptorsIsResourceExhausted) {
  const std::string said = in_child([&]() -> std::string {
    auto store = DirectoryStore::open(root_);
    if (!store) return store.error().to_string();
    const rlimit none = {0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return "setrlimit";
    const auto stored = (*store)->put(kName, "x");
    return stored ? "stored" : stored.error().to_string();
  });
  EXPECT_THAT(said, HasSubstr("resource_exhausted"));
  EXPECT_THAT(said, HasSubstr("ulimit -n"));
}

TEST_F(DirectoryStoreTest, NeverWritesThroughAFileThatIsAlreadyThere) {
  std::ofstream(temp_ / "victim") << "precious";
  FaultyOps ops;
  const auto store = open_store(root_, ops);
  std::string planted;
  ops.set_hook([&](Op op, const char* name) {
    if (op != Op::openat || !std::string_view(name).starts_with(".tmp-")) return;
    planted = root_ + "/v1/00/" + name;
    fs::create_hard_link(temp_ / "victim", planted);
  });
  expect_error(store->put(kName, "x"), ErrorCode::io_error, "File exists");
  EXPECT_TRUE(fs::exists(planted)) << "what is not ours is not removed";
  EXPECT_EQ(fs::file_size(temp_ / "victim"), 8U);
}

// --- The cache is removed while it is in use.

TEST_F(DirectoryStoreTest, MakesAVersionFolderAgainThatVanishedMeanwhile) {
  for (const Op moment : {Op::openat, Op::write, Op::renameat}) {
    FaultyOps ops;
    const auto store = open_store(root_, ops);
    expect_put(*store, kName, "old");
    bool removed = false;
    ops.set_hook([&](Op op, const char* name) {
      const bool creates = std::string_view(name).starts_with(".tmp-");
      if (removed || op != moment || (op == Op::openat && !creates)) return;
      removed = true;
      fs::remove_all(root_ + "/v1");
    });
    expect_put(*store, kName, "new");
    EXPECT_TRUE(removed);
    expect_value(*store, kName, "new");
    EXPECT_THAT(temp_.temporary_files(), IsEmpty());
  }
}

TEST_F(DirectoryStoreTest, GivesUpWhenTheFolderKeepsVanishing) {
  FaultyOps ops;
  const auto store = open_store(root_, ops);
  ops.set_hook([&](Op op, const char*) {
    if (op == Op::renameat) fs::remove_all(root_ + "/v1");
  });
  expect_error(store->put(kName, "x"), ErrorCode::unavailable, "removed while in use");
}

TEST_F(DirectoryStoreTest, GivesTheFolderOfTheLayoutAndMakesItWhenAsked) {
  const auto store = open_store(root_);
  const auto absent = store->find_layout_folder();
  ASSERT_TRUE(absent);
  EXPECT_FALSE(*absent);
  for (int round = 0; round < 2; ++round) {
    const auto made = store->layout_folder();
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_EQ(made->path, root_ + "/v1");
    EXPECT_TRUE(fs::is_directory(root_ + "/v1"));
    const auto found = store->find_layout_folder();
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->status.st_ino, made->status.st_ino);
    fs::remove_all(root_);  // the next round finds a root that was removed
  }
}

TEST_F(DirectoryStoreTest, FindsTheRootAgainThatWasRemoved) {
  const auto store = open_store(root_);
  expect_put(*store, kName, "old");
  fs::remove_all(root_);
  expect_value(*store, kName, std::nullopt);
  expect_put(*store, kName, "new");
  expect_value(*store, kName, "new");
  expect_value(*open_store(root_), kName, "new");
}

}  // namespace
}  // namespace precast::store
