#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace precast::base {
namespace {

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AStreamEqualsTheWholeHoweverItIsCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i));
  const Digest whole = sha256(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.update(BytesView(text).substr(0, cut)).update(BytesView(text).substr(cut));
    ASSERT_EQ(hash.finish(), whole) << cut;
  }
}

TEST(Sha256, PiecesOfEverySizeGiveTheDigestOfTheWhole) {
  // Around the size below which pieces are gathered.
  std::string text;
  for (int i = 0; i < 4000; ++i) text.push_back(static_cast<char>(i * 7));
  const Digest whole = sha256(text);
  for (std::size_t piece = 1; piece <= 1100; ++piece) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hash.update(BytesView(text).substr(at, piece)).update("");
    }
    ASSERT_EQ(hash.finish(), whole) << piece;
  }
}

TEST(Sha256, FramingTellsPartsApart) {
  EXPECT_EQ(Sha256().update_u64(0x0102).finish(), sha256(std::string("\x02\x01\0\0\0\0\0\0", 8)));
  EXPECT_NE(Sha256().update_framed("ab").update_framed("c").finish(),
            Sha256().update_framed("a").update_framed("bc").finish());
  EXPECT_NE(Sha256().update_framed("").update_framed("a").finish(),
            Sha256().update_framed("a").update_framed("").finish());
}

TEST(Digest, OrdersAndViewsItsBytes) {
  const Digest a = sha256("a");
  const Digest b = sha256("b");
  EXPECT_EQ(a, Digest(a));
  EXPECT_NE(a, b);
  EXPECT_NE(a < b, b < a);
  EXPECT_EQ(to_hex(a.view()), a.hex());
  EXPECT_EQ(Digest{}.hex(), std::string(64, '0'));
}

TEST(Hex, GoesThereAndBackForEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  const std::string text = to_hex(all);
  EXPECT_EQ(text.substr(0, 8), "00010203");
  EXPECT_EQ(text.substr(510), "ff");
  EXPECT_EQ(from_hex(text).value(), all);
  EXPECT_EQ(from_hex("FfAb").value(), "\xff\xab");
  EXPECT_EQ(from_hex("").value(), "");
}

TEST(Hex, RefusesWhatIsNotHexadecimal) {
  EXPECT_EQ(from_hex("abc").error().code(), ErrorCode::invalid_argument);
  const auto bad = from_hex("00g0");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message().find("'g0' at offset 2"), std::string::npos);
  EXPECT_FALSE(from_hex("0x12"));
  EXPECT_FALSE(from_hex(" 1"));
}

}  // namespace
}  // namespace precast::base
