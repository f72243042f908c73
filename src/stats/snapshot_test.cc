#include "stats/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "base/wire.h"
#include "stats/test_support.h"

namespace precast::stats {
namespace {

constexpr std::size_t kHeaderBytes = 44;

Bytes sealed(BytesView message) {
  return Bytes("PRECSTAT") + Bytes("\1\0\0\0", 4) + Bytes(base::sha256(message).view()) +
         Bytes(message);
}

Snapshot some_snapshot() {
  return {.totals = some_totals(3), .folded = {"process-a", "process-b"}};
}

TEST(Snapshot, ComesBackAsItWas) {
  const Snapshot snapshot = some_snapshot();
  const auto back = Snapshot::decode(snapshot.encode());
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, snapshot);
  const auto empty = Snapshot::decode(Snapshot().encode());
  ASSERT_TRUE(empty);
  EXPECT_EQ(*empty, Snapshot());
}

TEST(Snapshot, EveryChangedOrMissingByteIsSeen) {
  const Bytes bytes = some_snapshot().encode();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_FALSE(Snapshot::decode(changed)) << i;
    EXPECT_FALSE(Snapshot::decode(BytesView(bytes).substr(0, i))) << i;
  }
}

TEST(Snapshot, ALaterVersionIsIncompatibleAndNotDamaged) {
  Bytes bytes = some_snapshot().encode();
  bytes[8] = 2;
  const auto decoded = Snapshot::decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), ErrorCode::incompatible);
}

TEST(Snapshot, UnknownFieldsAreIgnored) {
  Bytes message = some_snapshot().encode().substr(kHeaderBytes);
  base::append_varint(message, 77, 5);
  const auto decoded = Snapshot::decode(sealed(message));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, some_snapshot());
}

Bytes cell(std::uint64_t zigzag_start, std::uint64_t length, const std::string& label) {
  Bytes one;
  base::append_varint(one, 1, zigzag_start);
  base::append_varint(one, 2, length);
  base::append_bytes(one, 3, label);
  base::append_bytes(one, 4, "hit");
  base::append_varint(one, 5, 1);
  Bytes message;
  base::append_bytes(message, 1, one);
  return sealed(message);
}

TEST(Snapshot, WhatCannotBeIsDamage) {
  EXPECT_TRUE(Snapshot::decode(cell(2 * 7200, 3600, "x")));
  EXPECT_FALSE(Snapshot::decode(cell(2 * 7201, 3600, "x"))) << "no whole hour";
  EXPECT_FALSE(Snapshot::decode(cell(2 * 7200, 60, "x"))) << "neither hour nor day";
  EXPECT_FALSE(Snapshot::decode(cell(std::uint64_t{0} - 2, 3600, "x"))) << "too far away";
  EXPECT_FALSE(Snapshot::decode(cell(2 * 7200, 3600, std::string(kMaxTextBytes + 1, 'x'))));
}

TEST(Snapshot, TooManyCellsAreDamage) {
  Bytes message;
  for (std::uint64_t i = 0; i <= kMaxCells; ++i) {
    message += cell(2 * 3600 * i, 3600, "x").substr(kHeaderBytes);
  }
  const auto decoded = Snapshot::decode(sealed(message));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), ErrorCode::corrupt);
}

TEST(Snapshot, BoundedBytesHoldTheSameCounts) {
  Snapshot snapshot;
  std::uint64_t wanted = 0;
  for (int day = 0; day < 300; ++day) {
    for (int label = 0; label < 60; ++label) {
      const TestEvent event("hit", "job-" + std::to_string(label), 1 + label);
      snapshot.totals.count(event.event, kSomeTime + day * kDay);
      ++wanted;
    }
  }
  const Bytes bytes = snapshot.encode_bounded(kSomeTime + 300 * kDay);
  EXPECT_LE(bytes.size(), kMaxFileBytes);
  const auto back = Snapshot::decode(bytes);
  ASSERT_TRUE(back) << back.error().to_string();
  std::uint64_t all = 0;
  for (const auto& [key, one] : back->totals.cells()) all += one.count;
  EXPECT_EQ(all, wanted);
}

// What version 1 wrote must be read for ever.
TEST(Snapshot, GoldenOfVersionOne) {
  std::ifstream file(PRECAST_TESTDATA "/stats/v1.stats", std::ios::binary);
  ASSERT_TRUE(file);
  const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
  const auto decoded = Snapshot::decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(*decoded, some_snapshot());
}

}  // namespace
}  // namespace precast::stats
