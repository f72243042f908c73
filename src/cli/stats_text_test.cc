#include "cli/stats_text.h"

#include <gtest/gtest.h>

#include <string>

namespace precast::cli {
namespace {

TEST(StatsText, Durations) {
  EXPECT_EQ(duration_text(0), "0.00 ms");
  EXPECT_EQ(duration_text(0.714), "0.71 ms");
  EXPECT_EQ(duration_text(999), "999 ms");
  EXPECT_EQ(duration_text(1500), "1.50 s");
  EXPECT_EQ(duration_text(90'000), "1.50 min");
  EXPECT_EQ(duration_text(5'400'000), "1.50 h");
  EXPECT_EQ(duration_text(129'600'000), "1.50 d");
}

TEST(StatsText, SinceIsAnAgeOrADate) {
  constexpr std::int64_t kNow = 1'794'700'000;
  EXPECT_EQ(parse_since("2h", kNow).value(), kNow - 7200);
  EXPECT_EQ(parse_since("3d", kNow).value(), kNow - 3 * 86'400);
  EXPECT_EQ(parse_since("2026-11-30", kNow).value(), 1'795'996'800);
  EXPECT_EQ(parse_since("2026-11-30T08:30", kNow).value(), 1'795'996'800 + 8 * 3600 + 1800);
  EXPECT_EQ(parse_since("2026-11-30T08:30:05Z", kNow).value(), 1'795'996'800 + 30'605);
  for (const char* bad :
       {"", "yesterday", "2026-13-01", "2026-11-30 8", "2026-11-30T08:30+01", "2x"}) {
    const auto parsed = parse_since(bad, kNow);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument);
  }
}

Stats some_stats() {
  Stats stats;
  stats.results["hit"] = {3, 1500, 6000, 0};
  stats.results["bad:entry_corrupt"] = {1, 0, 10, 20};
  stats.results_by_label["say \"hi\"\n\\"] = {{"hit", {3, 1500, 6000, 0}}};
  stats.results_by_label[""] = {{"bad:entry_corrupt", {1, 0, 10, 20}}};
  stats.phases["load"] = {3, 6, 4, {{1.024, 1}, {1.217747, 1}, {4.096, 1}}};
  stats.files = 2;
  return stats;
}

TEST(StatsText, Prometheus) {
  const std::string text = prometheus_text(some_stats());
  const auto has = [&text](const std::string& line) {
    return text.find(line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has("# TYPE precast_requests_total counter"));
  EXPECT_TRUE(has(R"(precast_requests_total{result="hit",label="say \"hi\"\n\\"} 3)")) << text;
  EXPECT_TRUE(has(R"(precast_requests_total{result="bad:entry_corrupt",label=""} 1)"));
  EXPECT_TRUE(has(R"(precast_saved_seconds{result="hit",label="say \"hi\"\n\\"} 1.5)"));
  EXPECT_TRUE(has(R"(precast_phase_seconds_bucket{phase="load",le="0.000256"} 0)"));
  EXPECT_TRUE(has(R"(precast_phase_seconds_bucket{phase="load",le="0.001024"} 1)"));
  EXPECT_TRUE(has(R"(precast_phase_seconds_bucket{phase="load",le="0.004096"} 3)"));
  EXPECT_TRUE(has(R"(precast_phase_seconds_bucket{phase="load",le="+Inf"} 3)"));
  EXPECT_TRUE(has(R"(precast_phase_seconds_sum{phase="load"} 0.006)"));
  EXPECT_TRUE(has("precast_stats_damaged_files 0"));
}

TEST(StatsText, PrometheusOfNothingIsWellFormed) {
  EXPECT_NE(prometheus_text(Stats()).find("# TYPE precast_requests_total counter\n"),
            std::string::npos);
}

TEST(StatsText, Json) {
  const Json json = json_of(some_stats());
  EXPECT_EQ(json["requests"], 4);
  EXPECT_EQ(json["hit_rate"], 0.75);
  EXPECT_EQ(json["results"]["hit"]["saved_ms"], 1500.0);
  EXPECT_EQ(json["labels"][""]["results"]["bad:entry_corrupt"]["count"], 1);
  EXPECT_EQ(json["phases"]["load"]["p50_ms"], 1.218);
  EXPECT_EQ(json["phases"]["load"]["max_ms"], 4.0);
  EXPECT_TRUE(json_of(Stats())["from"].is_null());
}

}  // namespace
}  // namespace precast::cli
