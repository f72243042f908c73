// Which entries and records come nearest, and finding one by its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cache/misses.h"
#include "cache/rank.h"
#include "precast/explain.h"
#include "store/directory_store.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KeyRecord record_of(const std::string& program, const std::string& flags, const std::string& salt) {
  return KeyRecord({{"program", {{"sha256", program}}},
                    {"flags", {{"a", flags}, {"b", flags}}},
                    {"extra", {{"salt", salt}}}});
}

SavedRecord saved(KeyRecord record, std::int64_t time = 0) {
  SavedRecord made;
  made.record = std::move(record);
  made.outline.none_because = "none in this test";
  made.provenance.created_unix_s = time;
  return made;
}

TEST(Nearness, CountsTheProgramThenFieldsThenItemsThenTime) {
  const SavedRecord asked = saved(record_of("p", "f", "s"));
  const auto near = [&](const KeyRecord& record, std::int64_t time = 0) {
    return cache::nearness_of(asked, saved(record, time));
  };
  const auto one_item = near(record_of("p", "f", "t"), 1);
  const auto one_field_of_two_items = near(record_of("p", "g", "s"), 9);
  const auto two_fields = near(record_of("p", "g", "t"), 99);
  const auto another_program = near(record_of("q", "f", "s"), 99);
  EXPECT_EQ(one_item.shared_fields, 2U);
  EXPECT_GT(one_item, one_field_of_two_items);
  EXPECT_GT(one_field_of_two_items, two_fields);
  EXPECT_GT(two_fields, another_program);
  EXPECT_GT(near(record_of("p", "f", "t"), 2), one_item);
  EXPECT_EQ(near(KeyRecord()).shared_fields, 0U);
  SavedRecord named = saved(record_of("q", "f", "s"));
  named.provenance.program_name = "other.mlir";
  EXPECT_LT(cache::nearness_of(asked, named), another_program);
}

class NearestTest : public ::testing::Test {
 protected:
  void put(const KeyRecord& record, std::int64_t time = 0) {
    ArtifactContents contents;
    contents.key_record = record.encode();
    contents.executable = "executable";
    contents.compile_options = "options";
    contents.provenance.created_unix_s = time;
    auto store = store::DirectoryStore::open(places_.directory);
    ASSERT_TRUE(store) << store.error().to_string();
    ASSERT_TRUE((*store)->put(record.digest().hex(), encode_artifact(contents).value()));
  }
  void leave(const KeyRecord& record) {
    SavedRecord made = saved(record);
    made.outcome = Outcome::skip;
    ASSERT_TRUE(cache::keep_miss(places_.state_directory, record.digest().hex(), made.encode()));
  }
  Nearest search(const KeyRecord& asked, std::size_t most = 10) {
    return nearest(saved(asked), places_, most);
  }

  testing::TempDir temp_;
  const std::string root_ = fs::canonical(temp_.path()).string();
  const RecordPlaces places_{root_ + "/cache", root_ + "/state"};
};

TEST_F(NearestTest, NothingIsFoundWhereNothingIs) {
  const Nearest none = search(record_of("p", "f", "s"));
  EXPECT_THAT(none.entries, IsEmpty());
  EXPECT_EQ(none.looked_at, 0U);
  EXPECT_FALSE(fs::exists(places_.directory));
}

TEST_F(NearestTest, EntriesAndRecordsInOrder) {
  put(record_of("p", "f", "stored"));
  put(record_of("q", "f", "far"));
  put(record_of("p", "f", "s"));  // what is asked for itself
  leave(record_of("p", "g", "s"));
  leave(record_of("p", "f", "stored"));  // the entry counts, and counts once
  const Nearest found = search(record_of("p", "f", "s"));
  ASSERT_EQ(found.entries.size(), 3U);
  EXPECT_EQ(found.looked_at, 3U);
  EXPECT_EQ(found.entries[0].entry.record, record_of("p", "f", "stored"));
  EXPECT_TRUE(found.entries[0].stored);
  EXPECT_TRUE(fs::exists(found.entries[0].path));
  ASSERT_EQ(found.entries[0].differences.items.size(), 1U);
  EXPECT_EQ(found.entries[0].differences.items[0].left, "s");
  EXPECT_EQ(found.entries[0].differences.items[0].right, "stored");
  EXPECT_FALSE(found.entries[1].stored);
  EXPECT_EQ(found.entries[1].entry.outcome, Outcome::skip);
  EXPECT_EQ(found.entries[2].shared_fields, 1U);
  EXPECT_THAT(found.entries[2].differences.program_note, HasSubstr("no outline"));
  EXPECT_EQ(search(record_of("p", "f", "s"), 1).entries.size(), 1U);
}

TEST_F(NearestTest, DamagedEntriesArePassedOverAndCounted) {
  put(record_of("p", "f", "good"));
  put(record_of("p", "f", "bad"));
  const std::string bad = record_of("p", "f", "bad").digest().hex();
  std::ofstream(places_.directory + "/v1/" + bad.substr(0, 2) + "/" + bad.substr(2) + ".precast")
      << "no artifact";
  std::ofstream(root_ + "/state", std::ios::app).close();
  const Nearest found = search(record_of("p", "f", "s"));
  EXPECT_EQ(found.entries.size(), 1U);
  EXPECT_EQ(found.unreadable, 1U);
  EXPECT_EQ(found.looked_at, 2U);
}

TEST_F(NearestTest, ACacheThatCannotBeUsedLeavesTheRecords) {
  leave(record_of("p", "f", "left"));
  std::ofstream(places_.directory) << "a file is in the way";
  const Nearest found = search(record_of("p", "f", "s"));
  EXPECT_EQ(found.entries.size(), 1U);
  EXPECT_THAT(found.problem, HasSubstr(places_.directory));
  const KeyRecord left = record_of("p", "f", "left");
  EXPECT_EQ(find_saved_record(left.digest().hex(), places_)->record, left);
  EXPECT_THAT(find_saved_record("0123", places_).error().message(), HasSubstr(places_.directory));
}

TEST_F(NearestTest, ARecordIsFoundByTheBeginningOfItsKey) {
  const KeyRecord stored = record_of("p", "f", "stored");
  const KeyRecord left = record_of("p", "f", "left");
  put(stored);
  leave(left);
  const auto by_prefix = [&](const std::string& prefix) {
    return find_saved_record(prefix, places_);
  };
  EXPECT_EQ(by_prefix(stored.digest().hex())->record, stored);
  EXPECT_EQ(by_prefix(left.digest().hex().substr(0, 12))->outcome, Outcome::skip);
  EXPECT_THAT(by_prefix("").error().message(), HasSubstr("2 keys begin with ''"));
  EXPECT_THAT(by_prefix("x").error().message(), HasSubstr("begins with 'x'"));
  // What the request left says more than the entry.
  leave(stored);
  EXPECT_EQ(by_prefix(stored.digest().hex())->outcome, Outcome::skip);
}

}  // namespace
}  // namespace precast
