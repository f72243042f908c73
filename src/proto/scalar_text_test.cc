#include "proto/scalar_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "proto/enum_values.h"

namespace precast::proto {
namespace {

TEST(XlaInteger, IsReadAsXlaReadsIt) {
  EXPECT_EQ(read_xla_integer(" \t+007\v", 32), 7);
  EXPECT_EQ(read_xla_integer("-2147483648", 32), -2147483648);
  EXPECT_EQ(read_xla_integer("2147483648", 32), std::nullopt);
  EXPECT_EQ(read_xla_integer("2147483648", 64), 2147483648);
  for (const char* text : {"", " ", "+", "-", "+-1", "--1", "- 1", "1 2", "1.0", "0x1", "1e3"}) {
    EXPECT_EQ(read_xla_integer(text, 64), std::nullopt) << text;
  }
}

TEST(XlaBoolean, HasFourTextsInAnyCase) {
  EXPECT_EQ(read_xla_boolean("tRUE"), true);
  EXPECT_EQ(read_xla_boolean("1"), true);
  EXPECT_EQ(read_xla_boolean("False"), false);
  EXPECT_EQ(read_xla_boolean("0"), false);
  for (const char* text : {"", "yes", "t", " true", "true ", "01", "on"}) {
    EXPECT_EQ(read_xla_boolean(text), std::nullopt) << text;
  }
}

TEST(FloatEffect, NoTwoFloatsAreOne) {
  const auto of_bits = [](std::uint32_t bits) { return float_effect(std::bit_cast<float>(bits)); };
  EXPECT_NE(of_bits(0), of_bits(0x80000000U));
  EXPECT_NE(of_bits(0x7fc00000U), of_bits(0x7fc00001U));
  EXPECT_NE(of_bits(0x7fc00000U), of_bits(0xffc00000U));
  std::map<Bytes, std::uint32_t> seen;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 65'521) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    EXPECT_TRUE(seen.emplace(of_bits(narrow), narrow).second) << bits;
  }
}

TEST(FloatEffect, WhatIsNotComputedStands) {
  EXPECT_EQ(float_effect(std::string_view("0x1p3")), "text:0x1p3");
  EXPECT_EQ(float_effect(std::string_view(" 1e60 ")), "text:1e60");
  EXPECT_EQ(float_effect(std::string_view("-1e60")), "text:-1e60");
  EXPECT_EQ(float_effect(std::string_view("1e-60")), "text:1e-60");
  EXPECT_EQ(float_effect(std::string_view("nan(1)")), "text:nan(1)");
  EXPECT_EQ(float_effect(std::string_view("0e5")), "0");
  EXPECT_EQ(float_effect(std::string_view("nan")), "nan:0x7fc00000");
}

TEST(EnumValue, KnowsNamesOfOneEnumerationOnly) {
  EXPECT_EQ(enum_value("xla_cpu_opt_preset", "CPU_OPT_PRESET_FAST_COMPILE"), 2);
  EXPECT_EQ(enum_value("xla_cpu_opt_preset", "RUNTIME"), std::nullopt);
  EXPECT_EQ(enum_value("xla_cpu_ftz", "RUNTIME"), std::nullopt);
}

}  // namespace
}  // namespace precast::proto
