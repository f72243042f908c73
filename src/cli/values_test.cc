#include "cli/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cli/small_floats.h"

namespace precast::cli {
namespace {

using ::testing::HasSubstr;

HostTensor filled(ElementType element, std::int64_t count, const std::string& fill,
                  std::size_t index = 0) {
  const auto parsed = Fill::parse(fill);
  EXPECT_TRUE(parsed) << fill;
  auto tensor = make_tensor({element, {count}}, *parsed, index);
  EXPECT_TRUE(tensor) << tensor.error().to_string();
  return std::move(tensor).value();
}

template <typename T>
std::vector<T> values_of(const HostTensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

TEST(Fill, ParsesItsThreeForms) {
  EXPECT_EQ(Fill::parse("zeros")->to_string(), "zeros");
  EXPECT_EQ(Fill::parse("iota")->to_string(), "iota");
  EXPECT_EQ(Fill::parse("random:18446744073709551615")->to_string(), "random:18446744073709551615");
  for (const char* bad : {"", "zero", "random", "random:", "random:x", "random:1 ", "random:-1",
                          "random:18446744073709551616"}) {
    EXPECT_FALSE(Fill::parse(bad)) << bad;
  }
}

TEST(Fill, IotaCountsAndStartsAgainAtTheEndOfTheRange) {
  EXPECT_EQ(first_values(filled(ElementType::f32, 4, "iota"), 4), "0, 1, 2, 3");
  EXPECT_EQ(first_values(filled(ElementType::bf16, 3, "iota"), 4), "0, 1, 2");
  EXPECT_EQ(first_values(filled(ElementType::f16, 3, "iota"), 4), "0, 1, 2");
  EXPECT_EQ(first_values(filled(ElementType::c64, 2, "iota"), 4), "0+0j, 1+0j");
  EXPECT_EQ(first_values(filled(ElementType::pred, 3, "iota"), 4), "false, true, false");
  const HostTensor bytes = filled(ElementType::s8, 130, "iota");
  EXPECT_EQ(values_of<std::int8_t>(bytes)[127], 127);
  EXPECT_EQ(values_of<std::int8_t>(bytes)[128], 0);
  EXPECT_EQ(values_of<std::uint8_t>(filled(ElementType::u4, 17, "iota"))[16], 0);
  EXPECT_EQ(values_of<std::int8_t>(filled(ElementType::s4, 9, "iota"))[8], 0);
  EXPECT_EQ(values_of<std::uint64_t>(filled(ElementType::u64, 9, "iota"))[8], 8U);
}

TEST(Fill, RandomIsTheSameEverywhereAndDiffersByParameter) {
  // The numbers are part of the contract: a run can be repeated on another machine.
  EXPECT_EQ(first_values(filled(ElementType::s32, 6, "random:7"), 6),
            first_values(filled(ElementType::s64, 6, "random:7"), 6));
  const HostTensor one = filled(ElementType::f32, 1000, "random:7");
  EXPECT_EQ(one.data, filled(ElementType::f32, 1000, "random:7").data);
  EXPECT_NE(one.data, filled(ElementType::f32, 1000, "random:8").data);
  EXPECT_NE(one.data, filled(ElementType::f32, 1000, "random:7", 1).data);
}

TEST(Fill, RandomStaysInItsRange) {
  double sum = 0;
  for (const float value : values_of<float>(filled(ElementType::f32, 10000, "random:1"))) {
    EXPECT_GE(value, -1.0F);
    EXPECT_LT(value, 1.0F);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.03);
  bool high = false;
  for (const std::int32_t value :
       values_of<std::int32_t>(filled(ElementType::s32, 1000, "random:1"))) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 100);
    high = high || value > 90;
  }
  EXPECT_TRUE(high);
  for (const std::uint8_t value :
       values_of<std::uint8_t>(filled(ElementType::u2, 99, "random:1"))) {
    EXPECT_LT(value, 4);
  }
}

TEST(Fill, SaysWhichTypesItCannotFill) {
  const TensorType type{ElementType::f8e5m2, {2}};
  EXPECT_TRUE(make_tensor(type, *Fill::parse("zeros"), 0));
  const auto tensor = make_tensor(type, *Fill::parse("iota"), 0);
  ASSERT_FALSE(tensor);
  EXPECT_THAT(tensor.error().message(), HasSubstr("use --fill zeros"));
  EXPECT_FALSE(make_tensor({ElementType::token, {}}, *Fill::parse("zeros"), 0));
}

TEST(FirstValues, StopsAndSaysThatThereAreMore) {
  EXPECT_EQ(first_values(filled(ElementType::s32, 5, "iota"), 2), "0, 1, \u2026");
  EXPECT_EQ(first_values(filled(ElementType::s32, 0, "iota"), 2), "");
  EXPECT_EQ(first_values({{ElementType::f8e4m3, {1}}, "\x5a"}, 2), "0x5a");
  EXPECT_EQ(first_values({{ElementType::s8, {2}}, Bytes("\xff\x80", 2)}, 2), "-1, -128");
}

TEST(SmallFloats, RoundToNearestEven) {
  EXPECT_EQ(f16_bits(1.0F), 0x3c00);
  EXPECT_EQ(f16_bits(-2.0F), 0xc000);
  EXPECT_EQ(f16_bits(65504.0F), 0x7bff);
  EXPECT_EQ(f16_bits(65519.0F), 0x7bff);
  EXPECT_EQ(f16_bits(65520.0F), 0x7c00);
  EXPECT_EQ(f16_bits(0x1p-24F), 0x0001);
  EXPECT_EQ(f16_bits(0x1p-25F), 0x0000);             // a tie, to even
  EXPECT_EQ(f16_bits(0x1.8p-24F), 0x0002);           // a tie, to even
  EXPECT_EQ(f16_bits(0x1p-14F - 0x1p-26F), 0x0400);  // rounds up to the smallest normal
  EXPECT_EQ(f16_bits(1.0F + 0x1p-11F), 0x3c00);      // a tie, to even
  EXPECT_EQ(f16_bits(1.0F + 3 * 0x1p-11F), 0x3c02);  // a tie, to even
  EXPECT_EQ(bf16_bits(1.0F), 0x3f80);
  EXPECT_EQ(bf16_bits(1.0F + 0x1p-8F), 0x3f80);  // a tie, to even
  EXPECT_EQ(bf16_bits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(f16_value(f16_bits(std::nanf("")))));
  EXPECT_TRUE(std::isnan(bf16_value(bf16_bits(std::nanf("1")))));
}

TEST(SmallFloats, EveryValueComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(f16_value(half))) {
      EXPECT_EQ(f16_bits(f16_value(half)), half);
    }
    if (!std::isnan(bf16_value(half))) {
      EXPECT_EQ(bf16_bits(bf16_value(half)), half);
    }
  }
}

}  // namespace
}  // namespace precast::cli
