#include "base/sealed.h"

#include <gtest/gtest.h>

namespace precast::base {
namespace {

constexpr std::string_view kMagic = "PRECTEST";

TEST(Sealed, ComesBackAsItWas) {
  for (const Bytes& content : {Bytes(), Bytes("text"), Bytes(1000, '\0')}) {
    const Bytes bytes = seal(kMagic, 3, content);
    const auto back = unseal(kMagic, 3, bytes);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, content);
  }
}

TEST(Sealed, EveryChangedOrMissingByteIsSeen) {
  const Bytes bytes = seal(kMagic, 1, "content");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(unseal(kMagic, 1, changed)) << i;
    EXPECT_FALSE(unseal(kMagic, 1, BytesView(bytes).substr(0, i))) << i;
  }
}

TEST(Sealed, VersionsUpToTheOneAskedForAreRead) {
  EXPECT_TRUE(unseal(kMagic, 2, seal(kMagic, 1, "x")));
  const auto later = unseal(kMagic, 2, seal(kMagic, 3, "x"));
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code(), ErrorCode::incompatible);
  const auto never = unseal(kMagic, 2, seal(kMagic, 0, "x"));
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace precast::base
