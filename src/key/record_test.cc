#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/key.h"
#include "precast/limits.h"

namespace precast {
namespace {

KeyRecord sample() {
  return KeyRecord({{"program", {{"mode", "raw"}, {"sha256", Bytes(32, '\xAB')}}},
                    {"empty", {}},
                    {"options", {{"x", "1"}, {"x", "2"}, {"", ""}, {"y", Bytes("a\0b", 3)}}}});
}

Bytes u64(std::uint64_t value) {
  Bytes bytes;
  base::append_little_endian(bytes, value);
  return bytes;
}

Bytes framed(const Bytes& bytes) { return u64(bytes.size()) + bytes; }

void expect_corrupt(const Bytes& bytes, const std::string& words) {
  const auto result = KeyRecord::decode(bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().to_string();
}

TEST(KeyRecord, FindsFieldsAndItems) {
  const KeyRecord record = sample();
  ASSERT_NE(record.find("options"), nullptr);
  EXPECT_EQ(record.find("option"), nullptr);
  EXPECT_EQ(*record.find("options")->find("x"), "1") << "the first of a name";
  EXPECT_EQ(record.find("options")->find("z"), nullptr);
}

TEST(KeyRecord, RoundTrips) {
  for (const KeyRecord& record :
       {sample(), KeyRecord(), KeyRecord(std::vector<KeyField>{{"", {}}})}) {
    const auto back = KeyRecord::decode(record.encode());
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, record);
    EXPECT_EQ(back->digest(), record.digest());
  }
}

// The byte tables of docs/format.md, written out.
TEST(KeyRecord, EncodingIsTheDocumentedOne) {
  const KeyRecord record({{"f", {{"i", "v"}}}});
  EXPECT_EQ(record.encode(),
            Bytes("PKR\1") + u64(1) + framed("f") + u64(1) + framed("i") + framed("v"));
  const Digest field = base::sha256(Bytes("precast key field 1\0", 20) + framed("f") + u64(1) +
                                    framed("i") + framed("v"));
  EXPECT_EQ(record.fields()[0].digest(), field);
  EXPECT_EQ(record.digest(), base::sha256(Bytes("precast key record 1\0", 21) + u64(1) +
                                          framed("f") + Bytes(field.view())));
}

// Every record of up to two fields with up to two items, whose names and values are drawn from
// texts that look like parts of the framing: all have their own digest and their own encoding.
TEST(KeyRecord, NothingCanLookLikeABoundary) {
  const std::vector<Bytes> texts = {"",      "a",      "aa",         Bytes(1, '\0'), Bytes(8, '\0'),
                                    "=",     "a=a",    u64(1) + "a", u64(0),         "a\na",
                                    "PKR\1", "a\",\"a"};
  std::vector<KeyField> fields;
  for (const Bytes& name : {Bytes("f"), Bytes("fa"), u64(1) + "f"}) {
    fields.push_back({name, {}});
    for (const Bytes& a : texts) {
      for (const Bytes& b : texts) {
        fields.push_back({name, {{a, b}}});
        fields.push_back({name, {{a, b}, {b, ""}}});
        fields.push_back({name, {{"", a}, {b, a}}});
        fields.push_back({name, {{"", ""}, {a, b}, {"", ""}}});
      }
    }
  }
  std::set<Digest> field_digests;
  std::set<Digest> record_digests;
  std::set<Bytes> encodings;
  std::vector<KeyField> distinct;
  for (const KeyField& field : fields) {
    if (std::find(distinct.begin(), distinct.end(), field) != distinct.end()) continue;
    distinct.push_back(field);
    EXPECT_TRUE(field_digests.insert(field.digest()).second);
    EXPECT_TRUE(record_digests.insert(KeyRecord({field}).digest()).second);
    EXPECT_TRUE(record_digests.insert(KeyRecord({{"", {}}, field}).digest()).second);
    EXPECT_TRUE(record_digests.insert(KeyRecord({field, {"", {}}}).digest()).second);
    EXPECT_TRUE(encodings.insert(KeyRecord({field}).encode()).second);
  }
  EXPECT_GT(distinct.size(), 1000u);
}

TEST(KeyRecord, OrderCounts) {
  const KeyField a{"a", {{"x", "1"}, {"y", "2"}}};
  const KeyField b{"b", {{"y", "2"}, {"x", "1"}}};
  EXPECT_NE(KeyRecord({a, b}).digest(), KeyRecord({b, a}).digest());
  const KeyField a_other{"a", {{"y", "2"}, {"x", "1"}}};
  EXPECT_NE(a.digest(), a_other.digest());
}

TEST(KeyRecord, EveryTruncationAndAdditionIsCorrupt) {
  const Bytes good = sample().encode();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto result = KeyRecord::decode(BytesView(good).substr(0, size));
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  }
  expect_corrupt(good + Bytes(1, '\0'),
                 "at byte " + std::to_string(good.size()) + ": 1 bytes follow");
  expect_corrupt(good + good, "bytes follow");
}

// Whatever decodes is exactly one record: it encodes to the same bytes.
TEST(KeyRecord, EveryBitIsMeaningful) {
  const Bytes good = sample().encode();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto result = KeyRecord::decode(bad);
      if (!result) continue;
      EXPECT_NE(*result, sample()) << i;
      EXPECT_EQ(result->encode(), bad) << i;
      EXPECT_NE(result->digest(), sample().digest()) << i;
    }
  }
}

TEST(KeyRecord, SeededMutationsAreExactOrCorrupt) {
  std::mt19937_64 random(11);
  const Bytes good = sample().encode();
  int decoded = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bad = good;
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % bad.size();
      switch (random() % 3) {
        case 0: bad[at] = static_cast<char>(random()); break;
        case 1: bad.insert(at, 1, static_cast<char>(random() % 4)); break;
        default: bad.erase(at, 1); break;
      }
    }
    const auto result = KeyRecord::decode(bad);
    if (!result) continue;
    ++decoded;
    EXPECT_EQ(result->encode(), bad);
  }
  EXPECT_GT(decoded, 100);
}

TEST(KeyRecord, CorruptErrorsNameTheOffset) {
  expect_corrupt("", "not a key record");
  expect_corrupt("PKR\2" + u64(0), "not a key record");
  const Bytes head = "PKR\1";
  expect_corrupt(head, "byte 4: it ends inside the length of the list of fields");
  expect_corrupt(head + u64(1), "byte 4: 1 fields, more than the bytes behind can hold");
  expect_corrupt(head + u64(1) + u64(50) + "abc" + Bytes(8, '\0'),
                 "byte 12: a field's name has 50 bytes, but only 11 are left");
  const Bytes field = framed("f") + u64(0);
  expect_corrupt(head + u64(2) + field + field, "byte 29: the field 'f' stands twice");
  expect_corrupt(head + u64(1) + framed("f") + u64(1) + framed("i") + u64(~std::uint64_t{0}),
                 "an item's value has 18446744073709551615 bytes, more than the limit");
}

TEST(KeyRecord, LimitsAreNamed) {
  const Bytes head = "PKR\1";
  for (const std::uint64_t count : {std::uint64_t{limits::kMaxKeyFields} + 1, ~std::uint64_t{0}}) {
    expect_corrupt(head + u64(count) + Bytes(4096, '\0'),
                   std::to_string(count) + " fields, more than the limit of 64");
  }
  for (const std::uint64_t count : {std::uint64_t{limits::kMaxKeyItems} + 1, ~std::uint64_t{0}}) {
    expect_corrupt(head + u64(1) + framed("f") + u64(count),
                   std::to_string(count) + " items, more than the limit");
  }
  // Within the limit, but the bytes cannot hold them: nothing is allocated for them.
  expect_corrupt(head + u64(1) + framed("f") + u64(limits::kMaxKeyItems), "can hold");
  const Bytes long_name(limits::kMaxKeyNameBytes + 1, 'n');
  expect_corrupt(head + u64(1) + framed(long_name) + u64(0), "a field's name has 4097 bytes");
  expect_corrupt(head + u64(1) + framed("f") + u64(1) + framed(long_name) + framed(""),
                 "an item's name has 4097 bytes");

  std::vector<KeyField> fields;
  for (std::uint32_t i = 0; i < limits::kMaxKeyFields; ++i) {
    fields.push_back({std::to_string(i), {}});
  }
  EXPECT_TRUE(KeyRecord::decode(KeyRecord(fields).encode()));
  fields.push_back({"one more", {}});
  EXPECT_FALSE(KeyRecord::decode(KeyRecord(fields).encode()));
}

}  // namespace
}  // namespace precast
