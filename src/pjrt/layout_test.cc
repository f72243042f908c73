#include "pjrt/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace precast::pjrt {
namespace {

using Order = std::vector<std::int64_t>;

TEST(Layout, RowMajorIsTheLastDimensionFirst) {
  EXPECT_EQ(row_major(0), Order{});
  EXPECT_EQ(row_major(3), (Order{2, 1, 0}));
}

TEST(Layout, DimensionsOfOneDoNotMove) {
  EXPECT_TRUE(same_order({0, 1}, {1, 0}, {1, 5}));
  EXPECT_TRUE(same_order({0, 1, 2}, {0, 2, 1}, {3, 1, 5}));
  EXPECT_FALSE(same_order({0, 1}, {1, 0}, {2, 5}));
  EXPECT_FALSE(same_order({0, 1}, {1, 0}, {0, 5}));
}

TEST(Layout, ColumnsOfTwoRows) {
  EXPECT_EQ(to_order("abcdef", {2, 3}, {0, 1}, 1), "adbecf");
  EXPECT_EQ(from_order("adbecf", {2, 3}, {0, 1}, 1), "abcdef");
  EXPECT_EQ(to_order("aabbccddeeff", {2, 3}, {0, 1}, 2), "aaddbbeeccff");
}

TEST(Layout, EveryOrderComesBack) {
  Bytes data;
  for (char i = 0; i < 24; ++i) data += i;
  Order order = {0, 1, 2};
  do {
    const Bytes turned = to_order(data, {2, 3, 4}, order, 1);
    EXPECT_EQ(turned == data, order == row_major(3));
    // Element [1,2,3], the last one, is the last one in every order; [1,0,0] stands at its stride.
    EXPECT_EQ(turned.back(), data.back());
    const std::size_t stride = order[0] == 0 ? 1 : order[2] == 0 ? 12 : order[0] == 1 ? 3 : 4;
    EXPECT_EQ(turned[stride], data[12]);
    EXPECT_EQ(from_order(turned, {2, 3, 4}, order, 1), data);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Layout, NothingStaysNothing) {
  EXPECT_EQ(to_order("", {0, 3}, {0, 1}, 4), "");
  EXPECT_EQ(to_order("abcd", {}, {}, 4), "abcd");
}

}  // namespace
}  // namespace precast::pjrt
