#include "pjrt/mapped_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "testing/temp_dir.h"

namespace precast::pjrt {
namespace {

namespace fs = std::filesystem;
using precast::testing::TempDir;

TEST(MappingOf, FindsTheLineOfAnAddress) {
  const std::string maps =
      "55d0c8a00000-55d0c8a02000 r--p 00000000 fe:00 1234                       /usr/bin/a b\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00001000 08:11 18446744073709551615   /lib/x.so (deleted)\n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";
  const auto first = mapping_of(maps, 0x55d0c8a00000);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->device, "fe:00");
  EXPECT_EQ(first->inode, 1234U);
  EXPECT_EQ(first->path, "/usr/bin/a b");
  EXPECT_EQ(mapping_of(maps, 0x55d0c8a01fff)->inode, 1234U);
  EXPECT_FALSE(mapping_of(maps, 0x55d0c8a02000)) << "the end is not part of it";

  const auto anonymous = mapping_of(maps, 0x7f0000000800);
  ASSERT_TRUE(anonymous);
  EXPECT_EQ(anonymous->inode, 0U);
  EXPECT_EQ(anonymous->path, "");

  const auto deleted = mapping_of(maps, 0x7f0000002000);
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->inode, 18446744073709551615U);
  EXPECT_EQ(deleted->path, "/lib/x.so (deleted)");
}

TEST(MappingOf, PassesOverWhatIsNotALine) {
  const std::string maps =
      "\nnonsense\n1-zz r--p 0 fe:00 1 /x\n10-20 r--p 0 fe:00 y /x\n10-20\n"
      "30-40 r--p 0 fe:00 5 /y";
  EXPECT_FALSE(mapping_of(maps, 0x18));
  EXPECT_EQ(mapping_of(maps, 0x30)->path, "/y");
  EXPECT_FALSE(mapping_of("", 1));
}

// A copy of a small library, opened from a folder of its own.
class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(PRECAST_TEST_LIBRARY, path_);
    opened_ = identity();
    library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    address_ = ::dlsym(library_, "precast_test_symbol");
    ASSERT_NE(address_, nullptr);
  }
  void TearDown() override {
    if (library_ != nullptr) ::dlclose(library_);
  }

  FileIdentity identity() const {
    struct stat status{};
    EXPECT_EQ(::stat(path_.c_str(), &status), 0);
    return FileIdentity::of(status);
  }
  Result<HashedFile> mapped(const std::optional<HashedFile>& known = std::nullopt) const {
    return mapped_file_at(address_, opened_, DigestMemory(state_), known);
  }
  void make_old() {
    fs::last_write_time(path_, fs::file_time_type::clock::now() - std::chrono::hours(1));
    opened_ = identity();
  }
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_unavailable(const Result<HashedFile>& result) const {
    ASSERT_FALSE(result) << result->file.path;
    EXPECT_EQ(result.error().code(), ErrorCode::unavailable);
    EXPECT_NE(result.error().message().find(path_), std::string::npos) << result.error().message();
  }

  TempDir dir_;
  const std::string path_ = dir_.file("library.so");
  const std::string state_ = dir_.file("state");
  FileIdentity opened_;
  void* library_ = nullptr;
  void* address_ = nullptr;
};

TEST_F(MappedFileTest, IsTheFileThatWasOpened) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed) << hashed.error().to_string();
  EXPECT_EQ(fs::canonical(hashed->file.path), fs::canonical(path_));
  EXPECT_EQ(hashed->file.bytes, fs::file_size(path_));
  EXPECT_EQ(hashed->file.digest, base::sha256(content(path_)));
  EXPECT_EQ(hashed->identity, identity());
}

TEST_F(MappedFileTest, AnAddressWithoutAFileIsUnavailable) {
  const auto heap = std::make_unique<int>(1);
  const auto result = mapped_file_at(heap.get(), opened_, DigestMemory(""));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::unavailable);
}

TEST_F(MappedFileTest, AReplacedFileIsUnavailable) {
  // As a package manager does it: a new file under the old name, here even with the same content.
  fs::copy_file(path_, dir_.path() / "new");
  fs::last_write_time(dir_.path() / "new", fs::last_write_time(path_));
  fs::rename(dir_.path() / "new", path_);
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, ARemovedFileIsUnavailable) {
  fs::remove(path_);
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, AFileUnderTheDeletedNameIsNotTheMappedOne) {
  // The kernel writes "<path> (deleted)" for a removed file; somebody may have such a file.
  fs::copy_file(path_, path_ + " (deleted)");
  fs::remove(path_);
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, AFolderInItsPlaceIsUnavailable) {
  fs::remove(path_);
  fs::create_directory(path_);
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, APipeInItsPlaceIsUnavailableAndDoesNotHang) {
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, AFileWrittenInPlaceIsUnavailable) {
  make_old();
  ASSERT_TRUE(mapped());
  {
    std::ofstream file(path_, std::ios::app | std::ios::binary);
    file << "more";
  }
  expect_unavailable(mapped());
}

TEST_F(MappedFileTest, AFileTouchedInPlaceIsUnavailable) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  fs::last_write_time(path_, fs::last_write_time(path_) + std::chrono::seconds(1));
  expect_unavailable(mapped(*hashed));
}

TEST_F(MappedFileTest, AHardLinkDoesNotMatter) {
  const auto before = mapped();
  ASSERT_TRUE(before);
  fs::create_hard_link(path_, dir_.path() / "link");
  const auto after = mapped(*before);
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_EQ(after->file.digest, before->file.digest);
}

TEST_F(MappedFileTest, AReplacedFileIsUnavailableAlsoWhenTheDigestIsKnown) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  fs::copy_file(path_, dir_.path() / "new");
  fs::rename(dir_.path() / "new", path_);
  expect_unavailable(mapped(*hashed));
}

TEST_F(MappedFileTest, AFileWrittenInPlaceIsUnavailableAlsoWhenTheDigestIsKnown) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file << "other";  // as many bytes as before
  }
  expect_unavailable(mapped(*hashed));
}

TEST_F(MappedFileTest, ARemovedFileIsUnavailableAlsoWhenTheDigestIsKnown) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  fs::remove(path_);
  expect_unavailable(mapped(*hashed));
}

TEST_F(MappedFileTest, AMovedFileIsFoundWhereItIs) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  fs::rename(path_, dir_.file("moved.so"));
  const auto again = mapped(*hashed);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->file.digest, hashed->file.digest);
  EXPECT_EQ(fs::canonical(again->file.path), fs::canonical(dir_.file("moved.so")));
}

TEST_F(MappedFileTest, ADigestIsNotComputedTwice) {
  const auto hashed = mapped();
  ASSERT_TRUE(hashed);
  HashedFile known = *hashed;
  known.file.digest = base::sha256("another");  // only to see where the answer comes from
  const auto again = mapped(known);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->file.digest, known.file.digest);
}

TEST_F(MappedFileTest, AnOldFileIsRememberedOnDisk) {
  // What the memory holds is what is given; the file's own digest is not asked for.
  FileIdentity old = identity();
  constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;
  old.modified_ns -= kHourNs;
  old.changed_ns -= kHourNs;
  DigestMemory(state_).remember(old, base::sha256("another"));
  EXPECT_EQ(DigestMemory(state_).recall(old), base::sha256("another"));
  // This file is young: its status changed when it was copied a moment ago.
  ASSERT_TRUE(mapped());
  EXPECT_FALSE(fs::exists(fs::path(state_) / identity().text()));
}

}  // namespace
}  // namespace precast::pjrt
