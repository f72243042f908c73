#include "base/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::base {
namespace {

namespace fs = std::filesystem;
using precast::testing::EnvGuard;
using precast::testing::TempDir;

TEST(PrivateFolder, KeepsFiles) {
  const TempDir dir;
  const PrivateFolder folder(dir.file("a/b"));
  EXPECT_FALSE(folder.read("f", 100));
  folder.write("f", "first");
  folder.write("f", "second");
  EXPECT_EQ(folder.read("f", 100), "second");
  EXPECT_FALSE(folder.read("f", 5));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.file("a/b")), {}), 1);  // nothing temporary
}

TEST(PrivateFolder, WhatOthersMayWriteIsNotThere) {
  const TempDir dir;
  const PrivateFolder folder(dir.file("a"));
  folder.write("f", "x");
  ASSERT_EQ(::chmod(dir.file("a/f").c_str(), 0666), 0);
  EXPECT_FALSE(folder.read("f", 100));
  folder.write("f", "x");
  EXPECT_TRUE(folder.read("f", 100));
  fs::rename(dir.file("a/f"), dir.file("elsewhere"));
  fs::create_symlink(dir.file("elsewhere"), dir.file("a/f"));
  EXPECT_FALSE(folder.read("f", 100));
  fs::remove(dir.file("a/f"));
  folder.write("f", "x");
  ASSERT_EQ(::chmod(dir.file("a").c_str(), 0777), 0);
  EXPECT_FALSE(folder.read("f", 100));
}

TEST(PrivateFolder, OfTheUser) {
  const TempDir dir;
  const EnvGuard home("HOME", dir.file("home"));
  const EnvGuard none("XDG_STATE_HOME", std::nullopt);
  PrivateFolder::of_user("n").write("f", "x");
  EXPECT_TRUE(fs::exists(dir.file("home/.local/state/precast/n/f")));
  {
    const EnvGuard state("XDG_STATE_HOME", dir.file("state"));
    PrivateFolder::of_user("n").write("f", "x");
    EXPECT_TRUE(fs::exists(dir.file("state/precast/n/f")));
  }
  const EnvGuard no_home("HOME", "relative");
  PrivateFolder::of_user("n").write("f", "x");
  EXPECT_FALSE(PrivateFolder::of_user("n").read("f", 100));
  EXPECT_FALSE(PrivateFolder("").read("f", 100));
}

}  // namespace
}  // namespace precast::base
