#include "pjrt/digest_memory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "precast/limits.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::pjrt {
namespace {

namespace fs = std::filesystem;
using precast::testing::EnvGuard;
using precast::testing::TempDir;

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns() { return static_cast<std::int64_t>(::time(nullptr)) * kSecond; }

FileIdentity old_file() {
  FileIdentity identity;
  identity.device = 65024;
  identity.inode = 12;
  identity.bytes = 345;
  identity.modified_ns = 1'700'000'000 * kSecond + 7;
  identity.changed_ns = 1'700'000'001 * kSecond + 8;
  return identity;
}

class DigestMemoryTest : public ::testing::Test {
 protected:
  std::string folder() const { return dir_.file("state/precast/plugin-digests"); }
  fs::path entry(const FileIdentity& identity) const {
    return fs::path(folder()) / identity.text();
  }
  std::string content(const FileIdentity& identity) const {
    std::ifstream file(entry(identity));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const FileIdentity& identity, const std::string& text) const {
    std::ofstream(entry(identity), std::ios::trunc) << text;
  }

  TempDir dir_;
  DigestMemory memory_{dir_.file("state/precast/plugin-digests")};
  const Digest digest_ = base::sha256("plugin");
};

TEST_F(DigestMemoryTest, RemembersAcrossObjects) {
  EXPECT_FALSE(memory_.recall(old_file()));
  memory_.remember(old_file(), digest_);
  EXPECT_EQ(DigestMemory(folder()).recall(old_file()), digest_);
  EXPECT_EQ(content(old_file()), digest_.hex() + " " + old_file().text() + "\n");
}

TEST_F(DigestMemoryTest, LeavesNothingElseBehind) {
  memory_.remember(old_file(), digest_);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
}

TEST_F(DigestMemoryTest, EveryPartOfTheIdentityCounts) {
  memory_.remember(old_file(), digest_);
  FileIdentity other = old_file();
  ++other.device;
  EXPECT_FALSE(memory_.recall(other));
  other = old_file();
  ++other.inode;
  EXPECT_FALSE(memory_.recall(other));
  other = old_file();
  ++other.bytes;
  EXPECT_FALSE(memory_.recall(other));
  other = old_file();
  ++other.modified_ns;
  EXPECT_FALSE(memory_.recall(other));
  other = old_file();
  ++other.changed_ns;
  EXPECT_FALSE(memory_.recall(other));
}

TEST_F(DigestMemoryTest, AYoungFileIsNotRemembered) {
  FileIdentity young = old_file();
  young.changed_ns = now_ns();
  memory_.remember(young, digest_);
  EXPECT_FALSE(fs::exists(entry(young)));
  young = old_file();
  young.modified_ns = now_ns() + 3600 * kSecond;  // a clock that runs ahead
  memory_.remember(young, digest_);
  EXPECT_FALSE(fs::exists(entry(young)));
}

TEST_F(DigestMemoryTest, AYoungFileIsNotRecalled) {
  FileIdentity young = old_file();
  young.modified_ns = now_ns();
  memory_.remember(old_file(), digest_);
  write(young, digest_.hex() + " " + young.text() + "\n");
  EXPECT_FALSE(memory_.recall(young));
}

TEST_F(DigestMemoryTest, AFileJustOldEnoughIsRemembered) {
  FileIdentity identity = old_file();
  identity.changed_ns = now_ns() - (limits::kPluginDigestMinAgeSeconds + 1) * kSecond;
  memory_.remember(identity, digest_);
  EXPECT_EQ(memory_.recall(identity), digest_);
}

TEST_F(DigestMemoryTest, DamagedEntriesAreIgnoredAndReplaced) {
  memory_.remember(old_file(), digest_);
  const std::string good = content(old_file());
  FileIdentity other = old_file();
  ++other.inode;
  const std::string cases[] = {
      "",
      "\n",
      good.substr(0, good.size() - 1),
      good + "x",
      "g" + good.substr(1),
      good.substr(2),
      digest_.hex() + " " + other.text() + "\n",
      std::string(100000, 'a'),
  };
  for (const std::string& text : cases) {
    write(old_file(), text);
    EXPECT_FALSE(memory_.recall(old_file())) << text.substr(0, 100);
  }
  memory_.remember(old_file(), digest_);
  EXPECT_EQ(memory_.recall(old_file()), digest_);
}

TEST_F(DigestMemoryTest, TheFolderIsPrivate) {
  memory_.remember(old_file(), digest_);
  struct stat status{};
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, static_cast<mode_t>(S_IRWXU));
}

TEST_F(DigestMemoryTest, AFolderThatOthersMayWriteIsNotTrusted) {
  memory_.remember(old_file(), digest_);
  ASSERT_TRUE(memory_.recall(old_file()));
  fs::permissions(folder(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(memory_.recall(old_file()));
  FileIdentity other = old_file();
  ++other.inode;
  memory_.remember(other, digest_);
  EXPECT_FALSE(fs::exists(entry(other)));
}

TEST_F(DigestMemoryTest, AnEntryThatOthersMayWriteIsNotTrusted) {
  memory_.remember(old_file(), digest_);
  fs::permissions(entry(old_file()), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(memory_.recall(old_file()));
}

TEST_F(DigestMemoryTest, LinksAreNotFollowed) {
  memory_.remember(old_file(), digest_);
  fs::rename(entry(old_file()), dir_.path() / "elsewhere");
  fs::create_symlink(dir_.path() / "elsewhere", entry(old_file()));
  EXPECT_FALSE(memory_.recall(old_file()));

  fs::create_directory_symlink(folder(), dir_.path() / "link");
  const DigestMemory linked(dir_.file("link"));
  memory_.remember(old_file(), digest_);
  EXPECT_TRUE(memory_.recall(old_file()));
  EXPECT_FALSE(linked.recall(old_file()));
}

TEST_F(DigestMemoryTest, APipeInsteadOfAnEntryDoesNotHang) {
  memory_.remember(old_file(), digest_);
  fs::remove(entry(old_file()));
  ASSERT_EQ(::mkfifo(entry(old_file()).c_str(), 0600), 0);
  EXPECT_FALSE(memory_.recall(old_file()));
}

TEST_F(DigestMemoryTest, NowhereMeansNever) {
  const DigestMemory nowhere("");
  nowhere.remember(old_file(), digest_);
  EXPECT_FALSE(nowhere.recall(old_file()));
}

TEST_F(DigestMemoryTest, APlaceThatCannotBeMadeIsNoError) {
  std::ofstream(dir_.path() / "file").put('x');
  const DigestMemory blocked(dir_.file("file/precast"));
  blocked.remember(old_file(), digest_);
  EXPECT_FALSE(blocked.recall(old_file()));
}

TEST_F(DigestMemoryTest, OfTheUserIsBelowTheStateFolder) {
  const EnvGuard home("HOME", dir_.file("home"));
  {
    const EnvGuard state("XDG_STATE_HOME", dir_.file("xdg"));
    DigestMemory::of_user().remember(old_file(), digest_);
    EXPECT_TRUE(fs::exists(dir_.path() / "xdg/precast/plugin-digests" / old_file().text()));
  }
  for (const std::optional<std::string>& unusable :
       {std::optional<std::string>(), std::optional<std::string>("relative")}) {
    const EnvGuard state("XDG_STATE_HOME", unusable);
    FileIdentity identity = old_file();
    identity.inode += unusable ? 1 : 2;
    DigestMemory::of_user().remember(identity, digest_);
    EXPECT_TRUE(
        fs::exists(dir_.path() / "home/.local/state/precast/plugin-digests" / identity.text()));
  }
  const EnvGuard state("XDG_STATE_HOME", std::nullopt);
  const EnvGuard homeless("HOME", std::nullopt);
  DigestMemory::of_user().remember(old_file(), digest_);
  EXPECT_FALSE(DigestMemory::of_user().recall(old_file()));
}

}  // namespace
}  // namespace precast::pjrt
