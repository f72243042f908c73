#include <gtest/gtest.h>

#include <random>

#include "precast/key.h"

namespace precast {
namespace {

std::string text(const KeyDifference& d) {
  const auto side = [](bool in, const Bytes& value) { return in ? "'" + value + "'" : "-"; };
  return d.field + "/" + d.item + ": " + side(d.in_left, d.left) + " " + side(d.in_right, d.right);
}

std::vector<std::string> texts(const KeyRecord& left, const KeyRecord& right) {
  std::vector<std::string> out;
  for (const KeyDifference& difference : diff(left, right)) out.push_back(text(difference));
  return out;
}

using Lines = std::vector<std::string>;

TEST(Diff, EqualRecordsHaveNone) {
  const KeyRecord record({{"a", {{"x", "1"}}}, {"b", {}}});
  EXPECT_EQ(texts(record, record), Lines{});
  EXPECT_EQ(texts({}, {}), Lines{});
}

TEST(Diff, NamesFieldAndItem) {
  const KeyRecord left({{"a", {{"x", "1"}, {"y", "2"}, {"only left", "3"}}}, {"b", {{"z", "4"}}}});
  const KeyRecord right({{"a", {{"x", "9"}, {"y", "2"}, {"only right", "5"}}}, {"b", {{"z", ""}}}});
  EXPECT_EQ(texts(left, right),
            (Lines{"a/x: '1' '9'", "a/only left: '3' -", "a/only right: - '5'", "b/z: '4' ''"}));
}

TEST(Diff, WholeFieldsHaveNoItem) {
  const KeyRecord left({{"a", {{"x", "1"}}}, {"b", {}}});
  const KeyRecord right({{"b", {}}, {"c", {{"x", "1"}}}});
  EXPECT_EQ(texts(left, right), (Lines{"a/: '' -", "c/: - ''"}));
}

TEST(Diff, RepeatedItemsByPosition) {
  const KeyRecord left({{"a", {{"x", "1"}, {"x", "2"}, {"x", "3"}}}});
  EXPECT_EQ(texts(left, KeyRecord({{"a", {{"x", "1"}, {"x", "9"}}}})),
            (Lines{"a/x: '2' '9'", "a/x: '3' -"}));
}

TEST(Diff, OrderIsADifferenceToo) {
  const KeyRecord items({{"a", {{"x", "1"}, {"y", "2"}}}});
  const KeyRecord items_swapped({{"a", {{"y", "2"}, {"x", "1"}}}});
  EXPECT_EQ(texts(items, items_swapped), Lines{"a/: 'x, y' 'y, x'"});
  const KeyRecord fields({{"a", {}}, {"b", {}}});
  const KeyRecord fields_swapped({{"b", {}}, {"a", {}}});
  EXPECT_EQ(texts(fields, fields_swapped), Lines{"/: 'a, b' 'b, a'"});
}

KeyRecord random_record(std::mt19937_64& random) {
  std::vector<KeyField> fields(random() % 3);
  for (KeyField& field : fields) {
    field.name = static_cast<char>('a' + random() % 3);
    field.items.resize(random() % 4);
    for (KeyItem& item : field.items) {
      item.name = static_cast<char>('x' + random() % 2);
      item.value = std::to_string(random() % 2);
    }
  }
  return KeyRecord(fields);
}

TEST(Diff, EmptyExactlyWhenEqualAndMirrored) {
  std::mt19937_64 random(5);
  int equal = 0;
  for (int round = 0; round < 20000; ++round) {
    const KeyRecord left = random_record(random);
    const KeyRecord right = random_record(random);
    const auto forward = diff(left, right);
    EXPECT_EQ(forward.empty(), left == right);
    EXPECT_EQ(forward.size(), diff(right, left).size());
    if (left == right) ++equal;
  }
  EXPECT_GT(equal, 100);
}

}  // namespace
}  // namespace precast
