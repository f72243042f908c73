#include "cli/amounts.h"

#include <gtest/gtest.h>

namespace precast::cli {
namespace {

TEST(Amounts, AgesReadWell) {
  EXPECT_EQ(age_text(-5), "0 s");
  EXPECT_EQ(age_text(59), "59 s");
  EXPECT_EQ(age_text(60), "1 min");
  EXPECT_EQ(age_text(3599), "59 min");
  EXPECT_EQ(age_text(3600), "1 h");
  EXPECT_EQ(age_text(86'400), "1 d");
  EXPECT_EQ(age_text(364 * 86'400), "364 d");
  EXPECT_EQ(age_text(800 * std::int64_t{86'400}), "2 y");
}

TEST(Amounts, AgesAreParsed) {
  EXPECT_EQ(*parse_age("90"), 90);
  EXPECT_EQ(*parse_age("90s"), 90);
  EXPECT_EQ(*parse_age("15min"), 900);
  EXPECT_EQ(*parse_age("1.5 h"), 5400);
  EXPECT_EQ(*parse_age("7D"), 7 * 86'400);
  EXPECT_EQ(*parse_age("2w"), 14 * 86'400);
  EXPECT_EQ(*parse_age("0d"), 0);
  for (const char* bad : {"", "d", "-1d", "7 days", "7m", "nan", "inf", "1e400", "1e30y", "0x7d",
                          "99999999999999999999999d"}) {
    const auto age = parse_age(bad);
    EXPECT_FALSE(age) << bad;
    if (!age) {
      EXPECT_NE(age.error().message().find("7d"), std::string::npos);
    }
  }
}

TEST(Amounts, SizesAreParsed) {
  EXPECT_EQ(*parse_size("4096"), 4096u);
  EXPECT_EQ(*parse_size("10kB"), 10'000u);
  EXPECT_EQ(*parse_size("1.5MB"), 1'500'000u);
  EXPECT_EQ(*parse_size("2 g"), 2'000'000'000u);
  EXPECT_EQ(*parse_size("1GiB"), std::uint64_t{1} << 30);
  EXPECT_EQ(*parse_size("3KIB"), 3072u);
  EXPECT_EQ(*parse_size("7 B"), 7u);
  for (const char* bad : {"", "MB", "-1", "1 PB", "ten", "1MBB", "9999999999999TB"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

}  // namespace
}  // namespace precast::cli
