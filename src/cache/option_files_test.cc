#include "cache/option_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "precast/limits.h"
#include "testing/temp_dir.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;

class OptionFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) const {
    fs::create_directories((dir_.path() / name).parent_path());
    std::ofstream(dir_.path() / name, std::ios::binary) << bytes;
    return dir_.file(name);
  }

  testing::TempDir dir_;
};

TEST_F(OptionFiles, AFileIsItsBytes) {
  const auto content = read_content(write("f", std::string("a\0b", 3)));
  ASSERT_TRUE(content);
  EXPECT_FALSE(content->folder);
  ASSERT_EQ(content->entries.size(), 1u);
  EXPECT_EQ(content->entries[0].bytes, std::string("a\0b", 3));
  fs::create_symlink(dir_.file("f"), dir_.file("link"));
  EXPECT_EQ(read_content(dir_.file("link"))->entries[0].bytes, content->entries[0].bytes);
}

TEST_F(OptionFiles, AFolderIsAllThatIsBelowIt) {
  write("folder/a", "1");
  write("folder/sub/b", "2");
  const auto content = read_content(dir_.file("folder"));
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->folder);
  std::vector<std::string> seen;
  for (const auto& entry : content->entries) seen.push_back(entry.name + "=" + entry.bytes);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector<std::string>{"a=1", "sub/b=2"}));
}

TEST_F(OptionFiles, WhatIsNeitherIsRefused) {
  EXPECT_EQ(read_content(dir_.file("missing")).error().code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(read_content(""));
  EXPECT_FALSE(read_content(std::string("a\0b", 3)));
  ASSERT_EQ(::mkfifo(dir_.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_content(dir_.file("pipe")).error().code(), ErrorCode::invalid_argument);
  write("folder/a", "1");
  fs::create_directory_symlink(dir_.path(), dir_.path() / "folder" / "up");
  EXPECT_EQ(read_content(dir_.file("folder")).error().code(), ErrorCode::invalid_argument);
}

TEST_F(OptionFiles, TheLimitsHold) {
  fs::create_directory(dir_.file("many"));
  for (std::uint32_t i = 0; i <= limits::kMaxOptionFolderFiles; ++i) {
    std::ofstream(dir_.path() / "many" / std::to_string(i));
  }
  EXPECT_EQ(read_content(dir_.file("many")).error().code(), ErrorCode::resource_exhausted);
  const std::string large = write("large", "");
  fs::resize_file(large, limits::kMaxOptionContentBytes + 1);
  EXPECT_EQ(read_content(large).error().code(), ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace precast::cache
