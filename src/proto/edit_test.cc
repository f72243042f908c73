#include "proto/edit.h"

#include <gtest/gtest.h>

#include "proto/test_messages.h"

namespace precast::proto {
namespace {

using base::WireField;
using testing::number;
using testing::text;

const Bytes kMessage = number(1, 5) + text(2, "a") + number(1, 6) + text(3, "") + text(2, "b");

TEST(EditFields, KeepsReplacesAndRemoves) {
  const auto edited = edit_fields(kMessage, [](const WireField& field) -> Replacement {
    if (field.number == 2) return Bytes();
    if (field.value == 6) return number(9, 9) + number(9, 8);
    return std::nullopt;
  });
  EXPECT_EQ(edited.value(), number(1, 5) + number(9, 9) + number(9, 8) + text(3, ""));
  EXPECT_EQ(edit_fields("", [](const WireField&) -> Replacement { return Bytes("x"); }).value(),
            "");
}

TEST(EditFields, KeepsAnUnusualEncodingByteForByte) {
  // 5 in three bytes, a tag in two: valid, and not what anyone would write again.
  const Bytes unusual("\x88\x00\x85\x80\x00", 5);
  const auto keep = [](const WireField&) -> Replacement { return std::nullopt; };
  EXPECT_EQ(edit_fields(unusual, keep).value(), unusual);
}

TEST(EditFields, RefusesDamage) {
  const auto keep = [](const WireField&) -> Replacement { return std::nullopt; };
  EXPECT_EQ(edit_fields(kMessage + "\x08", keep).error().code(), ErrorCode::corrupt);
}

TEST(ReplaceField, StandsInThePlaceOfTheFirst) {
  EXPECT_EQ(replace_field(kMessage, 2, text(2, "new")).value(),
            number(1, 5) + text(2, "new") + number(1, 6) + text(3, ""));
  EXPECT_EQ(replace_field(kMessage, 2, "").value(), number(1, 5) + number(1, 6) + text(3, ""));
  EXPECT_EQ(replace_field(kMessage, 7, number(7, 1)).value(), kMessage + number(7, 1));
  EXPECT_EQ(replace_field(kMessage, 7, "").value(), kMessage);
  // To protobuf a field of another wire type is unknown, and what is unknown stays.
  EXPECT_EQ(replace_field(kMessage, 1, text(1, "new")).value(), kMessage + text(1, "new"));
}

TEST(LastField, IsTheOneThatProtobufReads) {
  EXPECT_EQ(last_varint(kMessage, 1), 6u);
  EXPECT_EQ(last_bytes(kMessage, 2), "b");
  EXPECT_EQ(last_bytes(kMessage, 3), "");
  EXPECT_EQ(last_varint(kMessage, 2), std::nullopt);
  EXPECT_EQ(last_bytes(kMessage, 1), std::nullopt);
  EXPECT_EQ(last_varint(kMessage + "\x08", 1), std::nullopt);
  EXPECT_EQ(last_bytes(kMessage + "\x08", 2), std::nullopt);
}

}  // namespace
}  // namespace precast::proto
