#include "cache/marks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "base/sealed.h"
#include "base/wire.h"
#include "testing/temp_dir.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;

const std::string kKey(64, 'a');
const Digest kRoot = base::sha256("one artifact");
const Digest kOtherRoot = base::sha256("another artifact");

class MarksTest : public ::testing::Test {
 protected:
  std::string path(const std::string& key = kKey) const {
    return temp_.path().string() + "/state/marks/" + key;
  }
  Bytes read(const std::string& file) const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& file, const Bytes& bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }
  // The mark's message with another field put behind, which counts in its place.
  void change(std::uint32_t field, std::uint64_t value) const {
    Bytes message(base::unseal("PRECMARK", 1, read(path())).value());
    base::append_varint(message, field, value);
    write(path(), base::seal("PRECMARK", 1, message));
  }

  testing::TempDir temp_;
  Marks marks_{temp_.path().string() + "/state"};
};

TEST_F(MarksTest, AreFoundForTheirArtifactAlone) {
  EXPECT_FALSE(marks_.find(kKey, kRoot));
  marks_.put(kKey, kRoot, MarkKind::load_refused, "the plugin says no");
  const auto mark = marks_.find(kKey, kRoot);
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->kind, MarkKind::load_refused);
  EXPECT_EQ(mark->why, "the plugin says no");
  EXPECT_EQ(mark->count, 1U);
  EXPECT_FALSE(marks_.find(kKey, kOtherRoot));
  EXPECT_FALSE(marks_.find(std::string(64, 'b'), kRoot));
}

TEST_F(MarksTest, CountHowOftenTheyWerePut) {
  marks_.put(kKey, kRoot, MarkKind::load_refused, "first");
  marks_.put(kKey, kRoot, MarkKind::load_refused, "second");
  EXPECT_EQ(marks_.find(kKey, kRoot)->count, 2U);
  EXPECT_EQ(marks_.find(kKey, kRoot)->why, "second");
  marks_.put(kKey, kRoot, MarkKind::trial_crashed, "third");
  EXPECT_EQ(marks_.find(kKey, kRoot)->count, 1U);
  marks_.put(kKey, kOtherRoot, MarkKind::trial_crashed, "fourth");
  EXPECT_EQ(marks_.find(kKey, kOtherRoot)->count, 1U);
  EXPECT_FALSE(marks_.find(kKey, kRoot));
}

TEST_F(MarksTest, AreForgotten) {
  marks_.put(kKey, kRoot, MarkKind::trial_passed, "");
  marks_.forget(kKey);
  EXPECT_FALSE(marks_.find(kKey, kRoot));
  marks_.forget(kKey);
}

TEST_F(MarksTest, ExpireAndDoNotComeFromTheFuture) {
  marks_.put(kKey, kRoot, MarkKind::trial_crashed, "");
  const std::int64_t now = marks_.find(kKey, kRoot)->unix_s;
  const auto found_at = [&](std::int64_t time) {
    change(5, static_cast<std::uint64_t>(time));
    return marks_.find(kKey, kRoot).has_value();
  };
  constexpr std::int64_t kDay = 24 * 3600;
  EXPECT_TRUE(found_at(now - (kMarkDays - 1) * kDay));
  EXPECT_FALSE(found_at(now - (kMarkDays + 1) * kDay));
  EXPECT_FALSE(found_at(now + 2 * kDay));
  EXPECT_TRUE(found_at(now));
  // A refusal may have come from a sick device, and is tried again sooner.
  marks_.put(kKey, kRoot, MarkKind::load_refused, "");
  EXPECT_TRUE(found_at(now - (kRefusalHours - 1) * 3600));
  EXPECT_FALSE(found_at(now - (kRefusalHours + 1) * 3600));
}

TEST_F(MarksTest, OfAnotherHostDoNotCount) {
  marks_.put(kKey, kRoot, MarkKind::load_refused, "");
  Bytes message(base::unseal("PRECMARK", 1, read(path())).value());
  base::append_bytes(message, 1, "another-host");
  write(path(), base::seal("PRECMARK", 1, message));
  EXPECT_FALSE(marks_.find(kKey, kRoot));
}

TEST_F(MarksTest, DamagedIsNotThere) {
  marks_.put(kKey, kRoot, MarkKind::load_refused, "why");
  const Bytes whole = read(path());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write(path(), changed);
    EXPECT_FALSE(marks_.find(kKey, kRoot)) << i;
    write(path(), whole.substr(0, i));
    EXPECT_FALSE(marks_.find(kKey, kRoot)) << i;
  }
  write(path(), whole);
  EXPECT_TRUE(marks_.find(kKey, kRoot));
  change(3, 99);  // a kind of a later version leaves the one before it
  EXPECT_EQ(marks_.find(kKey, kRoot)->kind, MarkKind::load_refused);
}

TEST_F(MarksTest, OthersCannotPutMarks) {
  marks_.put(kKey, kRoot, MarkKind::load_refused, "why");
  ::chmod(path().c_str(), 0666);
  EXPECT_FALSE(marks_.find(kKey, kRoot));
}

TEST_F(MarksTest, LongReasonsAreCut) {
  marks_.put(kKey, kRoot, MarkKind::load_refused, std::string(1 << 20, 'x'));
  EXPECT_EQ(marks_.find(kKey, kRoot)->why.size(), kMaxMarkWhyBytes);
}

TEST_F(MarksTest, AreBoundedInNumber) {
  const auto key = [](std::size_t i) { return base::sha256(std::to_string(i)).hex(); };
  marks_.put(key(0), kRoot, MarkKind::trial_passed, "");
  for (std::size_t i = 1; i < kMaxMarks; ++i) fs::copy(path(key(0)), path(key(i)));
  fs::last_write_time(path(key(0)), fs::file_time_type::clock::now() - std::chrono::hours(1));
  marks_.put(key(1), kRoot, MarkKind::trial_passed, "");
  EXPECT_TRUE(marks_.find(key(0), kRoot)) << "there is room";
  marks_.put(key(kMaxMarks), kRoot, MarkKind::trial_passed, "");
  EXPECT_FALSE(marks_.find(key(0), kRoot)) << "the oldest goes";
  EXPECT_TRUE(marks_.find(key(2), kRoot));
  EXPECT_TRUE(marks_.find(key(kMaxMarks), kRoot));
}

TEST_F(MarksTest, WithoutAStateFolderNothingIsKept) {
  const Marks nowhere("");
  nowhere.put(kKey, kRoot, MarkKind::load_refused, "");
  EXPECT_FALSE(nowhere.find(kKey, kRoot));
  nowhere.forget(kKey);
}

}  // namespace
}  // namespace precast::cache
