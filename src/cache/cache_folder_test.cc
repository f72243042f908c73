#include "precast/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "precast/key.h"
#include "store/directory_store.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KeyRecord record_of(const std::string& salt) {
  return KeyRecord({KeyField{"salt", {KeyItem{"salt", salt}}}});
}

Bytes artifact_of(const std::string& label) {
  ArtifactContents contents;
  contents.key_record = record_of(label).encode();
  contents.executable = "executable";
  contents.compile_options = "options";
  contents.provenance.label = label;
  contents.provenance.program_name = "ranker";
  auto file = encode_artifact(contents);
  EXPECT_TRUE(file);
  return *std::move(file);
}

std::string key_of(const std::string& label) { return record_of(label).digest().hex(); }

class CacheFolderTest : public ::testing::Test {
 protected:
  // Entries of `labels`, then the folder.
  CacheFolder filled(const std::vector<std::string>& labels) {
    auto store = store::DirectoryStore::open(root_);
    EXPECT_TRUE(store) << store.error().to_string();
    for (const std::string& label : labels) {
      EXPECT_TRUE((*store)->put(key_of(label), artifact_of(label)));
    }
    auto folder = CacheFolder::open(root_);
    EXPECT_TRUE(folder && *folder);
    return **std::move(folder);
  }

  testing::TempDir temp_;
  const std::string root_ = fs::canonical(temp_.path()).string() + "/cache";
};

TEST_F(CacheFolderTest, MakesNoFolder) {
  const auto folder = CacheFolder::open(root_);
  ASSERT_TRUE(folder) << folder.error().to_string();
  EXPECT_FALSE(*folder);
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(CacheFolderTest, TellsWhatEntriesSayOfThemselves) {
  const CacheFolder folder = filled({"one", "two"});
  const auto contents = folder.contents();
  ASSERT_TRUE(contents) << contents.error().to_string();
  EXPECT_EQ(contents->entries.size(), 2u);
  EXPECT_THAT(contents->unusable, IsEmpty());
  const auto facts = folder.facts(key_of("two"));
  ASSERT_TRUE(facts && *facts);
  EXPECT_EQ((*facts)->entry.key, key_of("two"));
  EXPECT_EQ((*facts)->provenance.label, "two");
  EXPECT_EQ((*facts)->executable_bytes, 10u);
  EXPECT_EQ((*facts)->entry.bytes, artifact_of("two").size());
  const auto none = folder.facts(key_of("three"));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST_F(CacheFolderTest, NoticesAnEntryUnderAnothersName) {
  const CacheFolder folder = filled({"one"});
  auto store = store::DirectoryStore::open(root_);
  ASSERT_TRUE(store && (*store)->put(key_of("two"), artifact_of("one")));
  const auto facts = folder.facts(key_of("two"));
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(facts.error().to_string(), HasSubstr(key_of("one")));
}

TEST_F(CacheFolderTest, RemovesByKey) {
  const CacheFolder folder = filled({"one", "two"});
  const auto removed = folder.remove(key_of("one"));
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_TRUE(*removed);
  EXPECT_FALSE(*folder.remove(key_of("one")));
  EXPECT_EQ(folder.contents()->entries.size(), 1u);
  EXPECT_FALSE(folder.remove("nothing"));
}

TEST_F(CacheFolderTest, ReadsTheFactsOfAnyFile) {
  const std::string path = temp_.file("x.precast");
  std::ofstream(path) << artifact_of("here");
  const auto facts = artifact_facts(path);
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->entry.key, key_of("here"));
  EXPECT_EQ(facts->entry.path, path);
  const auto none = artifact_facts(path + "x");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::invalid_argument);
  const auto folder = artifact_facts(temp_.path().string());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code(), ErrorCode::invalid_argument);
  std::ofstream(path) << "nothing of the kind";
  const auto other = artifact_facts(path);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace precast
