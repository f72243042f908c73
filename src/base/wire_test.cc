#include "base/wire.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace precast::base {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

std::vector<WireField> fields(BytesView message, bool* damaged = nullptr) {
  std::vector<WireField> all;
  FieldReader reader(message);
  while (reader.next()) all.push_back(reader.field());
  if (damaged != nullptr) *damaged = reader.damaged();
  return all;
}

TEST(FieldReader, ReadsEveryWireType) {
  const std::string message = bytes({0x08, 0x96, 0x01,                            // 1: 150
                                     0x11, 1,    2,    3,    4,    5,   6, 7, 8,  // 2: fixed64
                                     0x1a, 3,    'a',  'b',  'c',                 // 3: "abc"
                                     0x25, 0xff, 0,    0,    0x80,                // 4: fixed32
                                     0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01});        // 2^29 - 1: 1
  bool damaged = true;
  const auto all = fields(message, &damaged);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_FALSE(damaged);
  EXPECT_TRUE(all[0].is(1, WireType::varint));
  EXPECT_EQ(all[0].value, 150u);
  EXPECT_TRUE(all[1].is(2, WireType::fixed64));
  EXPECT_EQ(all[1].value, 0x0807060504030201u);
  EXPECT_TRUE(all[2].is(3, WireType::bytes));
  EXPECT_EQ(all[2].bytes, "abc");
  EXPECT_TRUE(all[3].is(4, WireType::fixed32));
  EXPECT_EQ(all[3].value, 0x800000ffu);
  EXPECT_TRUE(all[4].is((1u << 29) - 1, WireType::varint));
  std::string joined;
  for (const WireField& field : all) joined += field.raw;
  EXPECT_EQ(joined, message);
}

TEST(FieldReader, DamageOfEveryKind) {
  const std::vector<std::string> damaged = {
      bytes({0x08}),                       // no value
      bytes({0x80}),                       // tag cut short
      bytes({0x08, 0x80}),                 // varint cut short
      bytes({0x11, 1, 2, 3, 4, 5, 6, 7}),  // fixed64 cut short
      bytes({0x25, 1, 2, 3}),              // fixed32 cut short
      bytes({0x1a, 4, 'a', 'b', 'c'}),     // content cut short
      bytes({0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),  // 2^64 - 1 bytes
      bytes({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}),  // too long
      bytes({0x00, 0x01}),                          // field number 0
      bytes({0x0b}),                                // group
      bytes({0x0c}),                                // end of a group
      bytes({0x0e, 0}),                             // wire type 6
      bytes({0x0f, 0}),                             // wire type 7
      bytes({0x80, 0x80, 0x80, 0x80, 0x10, 0x00}),  // field number 2^29
  };
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    bool bad = false;
    EXPECT_TRUE(fields(damaged[i], &bad).empty()) << i;
    EXPECT_TRUE(bad) << i;
    // What stands before the damage is read.
    EXPECT_EQ(fields(bytes({0x08, 0x01}) + damaged[i], &bad).size(), 1u) << i;
    EXPECT_TRUE(bad) << i;
  }
}

TEST(FieldReader, FinishNamesTheMessage) {
  FieldReader sound("");
  EXPECT_FALSE(sound.next());
  EXPECT_TRUE(sound.finish("xla.X"));
  FieldReader damaged("\x08");
  EXPECT_FALSE(damaged.next());
  EXPECT_FALSE(damaged.next());
  const auto error = damaged.finish("xla.X");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(error.error().message().rfind("xla.X does not parse", 0), 0u);
}

TEST(FieldReader, RandomBytesNeverReachOutside) {
  std::mt19937 random(20240601);
  for (int round = 0; round < 20000; ++round) {
    std::string message(random() % 40, '\0');
    for (char& c : message) c = static_cast<char>(random());
    std::size_t used = 0;
    FieldReader reader(message);
    while (reader.next()) {
      used += reader.field().raw.size();
      ASSERT_LE(reader.field().bytes.size(), reader.field().raw.size());
    }
    ASSERT_LE(used, message.size());
    ASSERT_EQ(used == message.size(), !reader.damaged());
  }
}

TEST(PackedReader, ReadsToTheEndOrToTheDamage) {
  PackedReader reader(BytesView("\x01\x96\x01\x00\x80", 5));
  std::vector<std::uint64_t> values;
  while (reader.next()) values.push_back(reader.value());
  EXPECT_EQ(values, (std::vector<std::uint64_t>{1, 150, 0}));
  EXPECT_TRUE(reader.damaged());
  PackedReader empty("");
  EXPECT_FALSE(empty.next());
  EXPECT_FALSE(empty.damaged());
}

TEST(Append, WritesWhatTheReaderReads) {
  Bytes message;
  append_varint(message, 4, 1);
  append_varint(message, 1, ~std::uint64_t{0});
  append_bytes(message, 7, std::string("\0x", 2));
  append_double(message, 3, 0.5);
  EXPECT_EQ(message,
            bytes({0x20, 0x01, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
                   0x3a, 0x02, 0x00, 'x',  0x19, 0,    0,    0,    0,    0,    0,    0xe0, 0x3f}));
  EXPECT_EQ(fields(message).size(), 4u);
}

}  // namespace
}  // namespace precast::base
