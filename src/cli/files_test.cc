#include "cli/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(Files, WritesAndReadsBack) {
  const testing::TempDir dir;
  const std::string path = dir.file("x.npy");
  ASSERT_TRUE(write_output(path, "head ", "body"));
  ASSERT_TRUE(write_output(path, "other"));
  const auto bytes = read_input(path, 5);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, "other");
  // Nothing temporary stays.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
}

TEST(Files, ReadingSaysWhatIsWrong) {
  const testing::TempDir dir;
  std::ofstream(dir.file("x")) << "123456";
  EXPECT_THAT(read_input(dir.file("x"), 5).error().message(), HasSubstr("limit of 5 bytes"));
  EXPECT_THAT(read_input(dir.path().string(), 5).error().message(), HasSubstr("is a folder"));
  const auto missing = read_input(dir.file("missing"), 5);
  EXPECT_EQ(missing.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(missing.error().message(), HasSubstr("no file '"));
  // The limit holds where no size is known before, too.
  EXPECT_THAT(read_input("/dev/zero", 5).error().message(), HasSubstr("limit of 5 bytes"));
}

TEST(Files, WritingFailsWithoutATrace) {
  const testing::TempDir dir;
  EXPECT_THAT(write_output(dir.path().string(), "x").error().message(), HasSubstr("is a folder"));
  EXPECT_EQ(write_output(dir.file("no/such/folder"), "x").error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(write_output("/dev/full", "x").error().code(), ErrorCode::resource_exhausted);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(Files, TemporaryFolderIsPrivateAndGoesAway) {
  const testing::TempDir dir;
  const testing::EnvGuard guard("TMPDIR", dir.path().string());
  std::string path;
  {
    const auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder);
    path = folder->path();
    EXPECT_TRUE(path.starts_with(dir.path().string()));
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    std::ofstream(path + "/entry") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Files, MakesFolders) {
  const testing::TempDir dir;
  EXPECT_TRUE(make_folders(dir.file("a/b/c")));
  EXPECT_TRUE(make_folders(dir.file("a/b/c")));
  std::ofstream(dir.file("file")) << "x";
  EXPECT_FALSE(make_folders(dir.file("file")));
  EXPECT_FALSE(make_folders(dir.file("file/below")));
}

}  // namespace
}  // namespace precast::cli
