#include "store/collect_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace precast::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kNow = 1'000'000;

Candidate entry(unsigned char id, std::uint64_t bytes, std::int64_t published_ago,
                std::int64_t used_ago, bool pinned = false) {
  Candidate one{.digest = {id},
                .bytes = bytes,
                .published_unix_s = kNow - published_ago,
                .used_unix_s = kNow - used_ago,
                .pinned = pinned};
  return one;
}

// "0:age 2:size", in order.
std::vector<std::string> plan(const std::vector<Candidate>& candidates, const CollectRules& rules) {
  std::vector<std::string> words;
  for (const Removal& removal : plan_collection(candidates, rules, kNow)) {
    words.push_back(std::to_string(removal.index) + ":" + std::string(to_string(removal.why)));
  }
  return words;
}

TEST(CollectPlanTest, NoRuleRemovesNothing) {
  EXPECT_THAT(plan({entry(0, 10, 999'999, 999'999)}, {}), IsEmpty());
  EXPECT_THAT(plan({}, {.max_bytes = 0, .older_than_s = 0}), IsEmpty());
}

TEST(CollectPlanTest, AgeCountsFromThePublishingAndUseFromTheLastOne) {
  const std::vector<Candidate> all = {entry(0, 1, 100, 10), entry(1, 1, 50, 50),
                                      entry(2, 1, 10, 10)};
  EXPECT_THAT(plan(all, {.older_than_s = 99}), ElementsAre("0:age"));
  EXPECT_THAT(plan(all, {.older_than_s = 100}), IsEmpty());
  EXPECT_THAT(plan(all, {.unused_for_s = 49}), ElementsAre("1:unused"));
  EXPECT_THAT(plan(all, {.older_than_s = 99, .unused_for_s = 5}),
              ElementsAre("0:age", "1:unused", "2:unused"));
}

TEST(CollectPlanTest, SizeTakesWhatWasNotUsedForLongest) {
  const std::vector<Candidate> all = {entry(0, 10, 500, 100), entry(1, 10, 500, 300),
                                      entry(2, 10, 500, 200)};
  EXPECT_THAT(plan(all, {.max_bytes = 30}), IsEmpty());
  EXPECT_THAT(plan(all, {.max_bytes = 29}), ElementsAre("1:size"));
  EXPECT_THAT(plan(all, {.max_bytes = 10}), ElementsAre("1:size", "2:size"));
  EXPECT_THAT(plan(all, {.max_bytes = 0}), ElementsAre("1:size", "2:size", "0:size"));
  EXPECT_THAT(plan(all, {.max_bytes = 10, .only_beyond_bytes = 30}), IsEmpty());
  EXPECT_THAT(plan(all, {.max_bytes = 10, .only_beyond_bytes = 29}),
              ElementsAre("1:size", "2:size"));
  // What goes by another rule makes room first.
  EXPECT_THAT(plan(all, {.max_bytes = 20, .unused_for_s = 250}), ElementsAre("1:unused"));
}

TEST(CollectPlanTest, OfTwoUsedAtOnceTheLargerGoes) {
  const std::vector<Candidate> all = {entry(0, 10, 500, 100), entry(1, 30, 500, 100)};
  EXPECT_THAT(plan(all, {.max_bytes = 39}), ElementsAre("1:size"));
}

TEST(CollectPlanTest, PinnedNeverGoes) {
  const std::vector<Candidate> all = {entry(0, 10, 500, 500, true), entry(1, 10, 500, 400)};
  EXPECT_THAT(plan(all, {.max_bytes = 0, .older_than_s = 1, .unused_for_s = 1, .hard_bytes = 0}),
              ElementsAre("1:age"));
  EXPECT_THAT(plan(all, {.max_bytes = 0, .hard_bytes = 0}), ElementsAre("1:size"));
}

TEST(CollectPlanTest, TheYoungStayUnlessBeyondTheHardLimit) {
  const std::vector<Candidate> all = {entry(0, 10, 50, 50), entry(1, 10, 500, 40),
                                      entry(2, 10, 500, 100)};
  const CollectRules rules = {.max_bytes = 5, .grace_s = 60, .hard_bytes = 20};
  EXPECT_THAT(plan(all, rules), ElementsAre("2:size"));
  EXPECT_THAT(plan(all, {.max_bytes = 5, .grace_s = 60, .hard_bytes = 19}),
              ElementsAre("2:size", "0:size"));
  EXPECT_THAT(plan(all, {.max_bytes = 5, .grace_s = 60}), ElementsAre("2:size"));
  EXPECT_THAT(plan(all, {.unused_for_s = 45, .grace_s = 60}), ElementsAre("2:unused"));
}

// Against a plain model: what is left is within the bound, or nothing more could go; and nothing
// that stays for its use was used before something that went for size.
TEST(CollectPlanTest, HoldsItsBoundsOnRandomStores) {
  std::minstd_rand random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Candidate> all;
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < random() % 40; ++i) {
      const auto published = static_cast<std::int64_t>(random() % 1000);
      all.push_back(entry(static_cast<unsigned char>(i), random() % 100, published,
                          published == 0 ? 0 : static_cast<std::int64_t>(random()) % published,
                          random() % 5 == 0));
      total += all.back().bytes;
    }
    CollectRules rules;
    rules.max_bytes = random() % 1500;
    rules.grace_s = static_cast<std::int64_t>(random() % 200);
    if (random() % 2 == 0) rules.hard_bytes = *rules.max_bytes + random() % 500;
    std::set<std::uint32_t> gone;
    std::int64_t last_gone = 0;
    for (const Removal& removal : plan_collection(all, rules, kNow)) {
      EXPECT_TRUE(gone.insert(removal.index).second);
      EXPECT_FALSE(all[removal.index].pinned);
      total -= all[removal.index].bytes;
      last_gone = std::max(last_gone, all[removal.index].used_unix_s);
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (gone.contains(i) || all[i].pinned) continue;
      const bool young = kNow - all[i].used_unix_s < rules.grace_s;
      if (!young) {
        EXPECT_LE(total, *rules.max_bytes);
      }
      if (!young && !rules.hard_bytes) {
        EXPECT_GE(all[i].used_unix_s, last_gone);
      }
      if (rules.hard_bytes) {
        EXPECT_LE(total, std::max(*rules.hard_bytes, *rules.max_bytes));
      }
    }
  }
}

TEST(CollectPlanTest, NamesComeBack) {
  const std::string name = "0123456789abcdef" + std::string(46, '7') + "ff";
  EXPECT_EQ((Candidate{.digest = Candidate::digest_of(name)}.name()), name);
}

}  // namespace
}  // namespace precast::store
