#include "precast/signature.h"

#include <gtest/gtest.h>

namespace precast {
namespace {

TensorSpec spec(std::vector<std::int64_t> dimensions, std::vector<std::int64_t> minor_to_major) {
  TensorSpec result;
  result.type = {ElementType::f32, std::move(dimensions)};
  result.minor_to_major = std::move(minor_to_major);
  return result;
}

TEST(TensorSpec, RowMajorMeansFastestLast) {
  EXPECT_TRUE(spec({}, {}).is_row_major());
  EXPECT_TRUE(spec({4}, {0}).is_row_major());
  EXPECT_TRUE(spec({4, 8}, {1, 0}).is_row_major());
  EXPECT_TRUE(spec({2, 3, 4}, {2, 1, 0}).is_row_major());
  EXPECT_FALSE(spec({4, 8}, {0, 1}).is_row_major());
  EXPECT_FALSE(spec({2, 3, 4}, {2, 0, 1}).is_row_major());
}

TEST(TensorSpec, ATiledLayoutIsNeverRowMajor) {
  TensorSpec tiled = spec({8, 128}, {1, 0});
  tiled.has_tiles = true;
  EXPECT_FALSE(tiled.is_row_major());
  EXPECT_EQ(tiled.to_string(), "f32[8,128]{1,0:tiled}");
}

TEST(TensorSpec, PrintsTheLayoutOnlyWhenItIsNotRowMajor) {
  EXPECT_EQ(spec({4, 8}, {1, 0}).to_string(), "f32[4,8]");
  EXPECT_EQ(spec({4, 8}, {0, 1}).to_string(), "f32[4,8]{0,1}");
  EXPECT_EQ(spec({}, {}).to_string(), "f32[]");
}

TEST(Donation, PersistedNumbersAndNames) {
  constexpr std::pair<Donation, std::string_view> kAll[] = {{Donation::none, "none"},
                                                            {Donation::may_alias, "may_alias"},
                                                            {Donation::must_alias, "must_alias"},
                                                            {Donation::donor, "donor"}};
  for (std::size_t i = 0; i < std::size(kAll); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kAll[i].first), i);
    EXPECT_EQ(to_string(kAll[i].first), kAll[i].second);
  }
  EXPECT_EQ(to_string(static_cast<Donation>(9)), "unknown");
}

TEST(ProgramSignature, EveryPartCountsInComparison) {
  ProgramSignature base;
  base.name = "main";
  base.parameters = {spec({4}, {0})};
  base.results = {spec({4}, {0})};
  EXPECT_EQ(base, ProgramSignature(base));
  const auto differs = [&](auto&& change) {
    ProgramSignature other = base;
    change(other);
    return other != base;
  };
  EXPECT_TRUE(differs([](auto& s) { s.name = "other"; }));
  EXPECT_TRUE(differs([](auto& s) { s.results.clear(); }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].type.dimensions[0] = 5; }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].type.element = ElementType::s32; }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].has_tiles = true; }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].memory_kind = "device"; }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].sharding = "x"; }));
  EXPECT_TRUE(differs([](auto& s) { s.parameters[0].donation = Donation::donor; }));
}

}  // namespace
}  // namespace precast
