#include "precast/tensor_type.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace precast {
namespace {

struct ElementCase {
  ElementType type;
  std::uint32_t number;  // PJRT_Buffer_Type
  const char* name;
  unsigned bits;
  unsigned host_bytes;
};

constexpr ElementCase kCases[] = {
    {ElementType::invalid, 0, "invalid", 0, 0},
    {ElementType::pred, 1, "pred", 8, 1},
    {ElementType::s8, 2, "s8", 8, 1},
    {ElementType::s16, 3, "s16", 16, 2},
    {ElementType::s32, 4, "s32", 32, 4},
    {ElementType::s64, 5, "s64", 64, 8},
    {ElementType::u8, 6, "u8", 8, 1},
    {ElementType::u16, 7, "u16", 16, 2},
    {ElementType::u32, 8, "u32", 32, 4},
    {ElementType::u64, 9, "u64", 64, 8},
    {ElementType::f16, 10, "f16", 16, 2},
    {ElementType::f32, 11, "f32", 32, 4},
    {ElementType::f64, 12, "f64", 64, 8},
    {ElementType::bf16, 13, "bf16", 16, 2},
    {ElementType::c64, 14, "c64", 64, 8},
    {ElementType::c128, 15, "c128", 128, 16},
    {ElementType::f8e5m2, 16, "f8e5m2", 8, 1},
    {ElementType::f8e4m3fn, 17, "f8e4m3fn", 8, 1},
    {ElementType::f8e4m3b11fnuz, 18, "f8e4m3b11fnuz", 8, 1},
    {ElementType::f8e5m2fnuz, 19, "f8e5m2fnuz", 8, 1},
    {ElementType::f8e4m3fnuz, 20, "f8e4m3fnuz", 8, 1},
    {ElementType::s4, 21, "s4", 4, 1},
    {ElementType::u4, 22, "u4", 4, 1},
    {ElementType::token, 23, "token", 0, 0},
    {ElementType::s2, 24, "s2", 2, 1},
    {ElementType::u2, 25, "u2", 2, 1},
    {ElementType::f8e4m3, 26, "f8e4m3", 8, 1},
    {ElementType::f8e3m4, 27, "f8e3m4", 8, 1},
    {ElementType::f8e8m0fnu, 28, "f8e8m0fnu", 8, 1},
    {ElementType::f4e2m1fn, 29, "f4e2m1fn", 4, 1},
    {ElementType::s1, 30, "s1", 1, 1},
    {ElementType::u1, 31, "u1", 1, 1},
    {ElementType::f6e2m3fn, 32, "f6e2m3fn", 6, 1},
    {ElementType::f6e3m2fn, 33, "f6e3m2fn", 6, 1},
};

TEST(ElementType, NumberNameAndSizesOfEach) {
  std::set<std::string> names;
  for (const ElementCase& c : kCases) {
    EXPECT_EQ(static_cast<std::uint32_t>(c.type), c.number) << c.name;
    EXPECT_EQ(to_string(c.type), c.name);
    EXPECT_EQ(bits_of(c.type), c.bits) << c.name;
    EXPECT_EQ(host_bytes_of(c.type), c.host_bytes) << c.name;
    names.insert(to_string(c.type));
  }
  EXPECT_EQ(names.size(), std::size(kCases));
}

TEST(ElementType, UnknownNumbersAreNamedAndHaveNoSize) {
  const auto unknown = static_cast<ElementType>(34);
  EXPECT_EQ(to_string(unknown), "type34");
  EXPECT_EQ(bits_of(unknown), 0u);
  EXPECT_EQ(host_bytes_of(static_cast<ElementType>(0xffffffffu)), 0u);
}

TEST(TensorType, CountsAndPrints) {
  EXPECT_EQ((TensorType{ElementType::f32, {4, 8}}.to_string()), "f32[4,8]");
  EXPECT_EQ((TensorType{ElementType::pred, {}}.to_string()), "pred[]");
  EXPECT_EQ((TensorType{ElementType::f32, {4, 8}}.host_bytes()), 128u);
  EXPECT_EQ((TensorType{ElementType::s4, {3}}.host_bytes()), 3u);
  EXPECT_EQ((TensorType{ElementType::f64, {}}.element_count()), 1u);
  EXPECT_EQ((TensorType{ElementType::f64, {5, 0, 7}}.host_bytes()), 0u);
}

TEST(TensorType, HostileDimensionsHaveNoCount) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((TensorType{ElementType::f32, {-1}}.element_count()), std::nullopt);
  EXPECT_EQ((TensorType{ElementType::f32, {kMax, 3}}.element_count()), std::nullopt);
  EXPECT_EQ((TensorType{ElementType::u8, {kMax, 2}}.element_count()), std::uint64_t{kMax} * 2);
  EXPECT_EQ((TensorType{ElementType::f32, {kMax}}.host_bytes()), std::nullopt);
  EXPECT_EQ((TensorType{ElementType::token, {}}.host_bytes()), std::nullopt);
  EXPECT_EQ((TensorType{static_cast<ElementType>(90), {1}}.host_bytes()), std::nullopt);
}

}  // namespace
}  // namespace precast
