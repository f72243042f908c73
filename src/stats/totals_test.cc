#include "stats/totals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stats/test_support.h"

namespace precast::stats {
namespace {

std::uint64_t sum(const Totals& totals) {
  std::uint64_t all = 0;
  for (const auto& [key, cell] : totals.cells()) all += cell.count;
  return all;
}

TEST(Buckets, HoldWhatIsWithinTheirBounds) {
  for (std::uint64_t us = 1; us < (std::uint64_t{1} << 40); us += us / 3 + 1) {
    const std::uint32_t bucket = bucket_of(us);
    EXPECT_LE(static_cast<double>(us), bucket_bound_us(bucket) * (1 + 1e-9)) << us;
    if (bucket == 0) continue;
    EXPECT_GT(static_cast<double>(us), bucket_bound_us(bucket - 1)) << us;
  }
  EXPECT_EQ(bucket_of(0), 0U);
  EXPECT_EQ(bucket_of(std::numeric_limits<std::uint64_t>::max()), kBuckets - 1);
  // The bounds that docs/stats.md promises to be exact.
  EXPECT_EQ(bucket_bound_us(bucket_of(1024)), 1024);
  EXPECT_EQ(bucket_of(1025), bucket_of(1024) + 1);
}

TEST(Totals, CountByHourLabelAndName) {
  Totals totals;
  const TestEvent event("hit", "train", 2);
  totals.count(event.event, kSomeTime);
  totals.count(event.event, kSomeTime + 1);
  totals.count(event.event, kSomeTime + kHour);
  ASSERT_EQ(totals.cells().size(), 2U);
  const auto& [key, cell] = *totals.cells().begin();
  EXPECT_EQ(key.start_s % kHour, 0);
  EXPECT_LE(key.start_s, kSomeTime);
  EXPECT_GT(key.start_s + kHour, kSomeTime);
  EXPECT_EQ(key.label, "train");
  EXPECT_EQ(key.name, "hit");
  EXPECT_EQ(cell.count, 2U);
  EXPECT_EQ(cell.saved_us, 100'000);
  EXPECT_EQ(cell.bytes_read, 4000U);
  EXPECT_EQ(cell.bytes_written, 4U);
  EXPECT_EQ(cell.phases.at("load").total_us, 12'000U);
  EXPECT_EQ(cell.phases.at("load").max_us, 6'000U);
  EXPECT_EQ(cell.phases.at("total").count, 2U);
}

TEST(Totals, TimesThatCannotBeAreZero) {
  Cell cell;
  const std::vector<Phase> phases = {{"key", -5},
                                     {"load", std::numeric_limits<double>::quiet_NaN()},
                                     {"compile", std::numeric_limits<double>::infinity()}};
  cell.add(Event{.name = "hit", .label = "", .phases = phases, .saved_ms = -2});
  EXPECT_EQ(cell.phases.at("key").total_us, 0U);
  EXPECT_EQ(cell.phases.at("load").total_us, 0U);
  EXPECT_GT(cell.phases.at("compile").total_us, 0U);
  EXPECT_EQ(cell.saved_us, -2000);
}

TEST(Totals, SumsStopAtTheLargestNumber) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  Cell cell{.count = kMost - 1,
            .saved_us = std::numeric_limits<std::int64_t>::max(),
            .bytes_read = kMost,
            .bytes_written = 1,
            .phases = {{"load", {.count = kMost, .total_us = kMost, .max_us = 1, .buckets = {}}}}};
  cell.add(Cell(cell));
  EXPECT_EQ(cell.count, kMost);
  EXPECT_EQ(cell.saved_us, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(cell.bytes_read, kMost);
  EXPECT_EQ(cell.bytes_written, 2U);
  EXPECT_EQ(cell.phases.at("load").count, kMost);
}

TEST(Totals, LabelsAndNamesAreBounded) {
  Totals totals;
  for (std::size_t i = 0; i < 3 * kMaxLabels; ++i) {
    const TestEvent event("hit", "job-" + std::to_string(i), 1);
    totals.count(event.event, kSomeTime);
  }
  EXPECT_EQ(totals.cells().size(), kMaxLabels + 1);
  std::uint64_t others = 0;
  for (const auto& [key, cell] : totals.cells()) {
    if (key.label == kOther) others += cell.count;
  }
  EXPECT_EQ(others, 2 * kMaxLabels);
  EXPECT_EQ(sum(totals), 3 * kMaxLabels);
  const TestEvent known("hit", "job-0", 1);
  totals.count(known.event, kSomeTime);
  EXPECT_EQ(totals.cells().size(), kMaxLabels + 1) << "a known label keeps its place";
}

TEST(Totals, LongLabelsAreCut) {
  Totals totals;
  const TestEvent event("hit", std::string(1000, 'x'), 1);
  totals.count(event.event, kSomeTime);
  EXPECT_EQ(totals.cells().begin()->first.label.size(), kMaxTextBytes);
}

TEST(Totals, ManyPhasesEndInOne) {
  Cell cell;
  for (int i = 0; i < 100; ++i) {
    const std::vector<Phase> phases = {{"phase-" + std::to_string(i), 1}};
    cell.add(Event{.name = "hit", .label = "", .phases = phases});
  }
  EXPECT_EQ(cell.phases.size(), kMaxPhases + 1);
}

TEST(Totals, DaysAreJoinedWhenTheyAreOver) {
  Totals totals;
  const std::int64_t midnight = kSomeTime - kSomeTime % kDay;
  const TestEvent event("hit", "", 1);
  for (int hour = 0; hour < 48; ++hour) totals.count(event.event, midnight + hour * kHour);
  Totals joined = totals;
  joined.join_days(midnight + kDay + kHour);
  ASSERT_EQ(joined.cells().size(), 25U);
  EXPECT_EQ(joined.cells().begin()->first.start_s, midnight);
  EXPECT_EQ(joined.cells().begin()->first.length_s, kDay);
  EXPECT_EQ(joined.cells().begin()->second.count, 24U);
  EXPECT_EQ(sum(joined), sum(totals));
  const Totals once = joined;
  joined.join_days(midnight + kDay + kHour);
  EXPECT_EQ(joined, once);
}

TEST(Totals, StayBoundedOverYears) {
  Totals totals;
  const TestEvent event("hit", "train", 1);
  const int hours = 10 * 366 * 24;
  for (int hour = 0; hour < hours; ++hour) totals.count(event.event, kSomeTime + hour * kHour);
  EXPECT_LE(totals.cells().size(), kMaxCells);
  EXPECT_EQ(sum(totals), static_cast<std::uint64_t>(hours));
}

TEST(Totals, FitPutsLabelsTogetherOnlyWhenDaysDoNotHelp) {
  Totals few = some_totals(1);
  const Totals before = few;
  few.fit(kSomeTime);
  EXPECT_EQ(few, before);
  Totals many;
  for (int day = 0; day < 800; ++day) {
    for (std::size_t label = 0; label < kMaxLabels; ++label) {
      const TestEvent event("hit", "job-" + std::to_string(label), 1);
      many.count(event.event, kSomeTime + day * kDay);
    }
  }
  EXPECT_LE(many.cells().size(), kMaxCells);
  EXPECT_EQ(sum(many), 800 * kMaxLabels);
}

}  // namespace
}  // namespace precast::stats
