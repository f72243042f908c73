#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "artifact/layout.h"
#include "artifact/test_artifacts.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/artifact.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

SigningKey key_number(std::uint8_t number) {
  SigningKey key{};
  key.fill(number);
  return key;
}

VerifyKey public_key_number(std::uint8_t number) {
  return verify_key_of(key_number(number)).value();
}

Bytes unsigned_artifact() { return encode_artifact(full_contents()).value(); }

Bytes signed_by(std::initializer_list<std::uint8_t> numbers) {
  Bytes bytes = unsigned_artifact();
  for (const std::uint8_t number : numbers) {
    bytes = sign_artifact(bytes, key_number(number)).value();
  }
  return bytes;
}

SignaturePolicy requiring(std::initializer_list<std::uint8_t> numbers) {
  SignaturePolicy policy{true, {}};
  for (const std::uint8_t number : numbers) policy.trusted.push_back(public_key_number(number));
  return policy;
}

std::size_t block_offset(const Bytes& bytes) {
  return base::read_little_endian<std::uint32_t>(bytes, kHeaderBytesOffset) + kRootBytes;
}

void expect_refused(const Bytes& bytes, const SignaturePolicy& policy, ErrorCode code,
                    const std::string& words) {
  const auto result = VerifiedArtifact::decode(bytes, policy);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), code) << result.error().to_string();
  EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().to_string();
}

// The first test vector of RFC 8032, section 7.1.
TEST(Keys, PublicKeyIsThatOfTheStandard) {
  const Bytes seed =
      base::from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").value();
  SigningKey key{};
  std::copy(seed.begin(), seed.end(), key.begin());
  const VerifyKey derived = verify_key_of(key).value();
  EXPECT_EQ(base::to_hex({reinterpret_cast<const char*>(derived.data()), derived.size()}),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

TEST(Signing, AddsASignatureAndLeavesTheContent) {
  const auto plain = VerifiedArtifact::decode(unsigned_artifact());
  const auto artifact = VerifiedArtifact::decode(signed_by({1, 2}));
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  EXPECT_EQ(artifact->root(), plain->root());
  EXPECT_TRUE(same_contents(contents_of(*artifact), full_contents()));
  EXPECT_EQ(artifact->file_bytes(), plain->file_bytes() + 2 * kSignatureEntryBytes);
  ASSERT_EQ(artifact->signatures().size(), 2u);
  EXPECT_EQ(artifact->signatures()[0].key, public_key_number(1));
  EXPECT_EQ(artifact->signatures()[1].key, public_key_number(2));
}

TEST(Signing, TwiceByOneKeyIsOnce) {
  EXPECT_EQ(signed_by({1, 1}), signed_by({1}));
  EXPECT_EQ(signed_by({1, 2, 1}), signed_by({1, 2}));
}

TEST(Signing, RefusesWhatDoesNotVerify) {
  Bytes bytes = unsigned_artifact();
  bytes.back() ^= 1;
  const auto result = sign_artifact(bytes, key_number(1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
}

TEST(Signing, HasALimit) {
  Bytes bytes = unsigned_artifact();
  for (std::uint32_t i = 0; i < limits::kMaxSignatures; ++i) {
    bytes = sign_artifact(bytes, key_number(static_cast<std::uint8_t>(i))).value();
  }
  ASSERT_TRUE(VerifiedArtifact::decode(bytes));
  const auto one_more = sign_artifact(bytes, key_number(99));
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(sign_artifact(bytes, key_number(3)).value(), bytes) << "that one is there already";
}

TEST(Policy, WithoutRequirementSignaturesDecideNothing) {
  EXPECT_TRUE(VerifiedArtifact::decode(unsigned_artifact(), {false, {}}));
  EXPECT_TRUE(VerifiedArtifact::decode(signed_by({1}), {false, {}}));
  EXPECT_TRUE(VerifiedArtifact::decode(signed_by({1}), {false, {public_key_number(2)}}));
}

TEST(Policy, OneTrustedSignatureIsEnough) {
  EXPECT_TRUE(VerifiedArtifact::decode(signed_by({1}), requiring({1})));
  EXPECT_TRUE(VerifiedArtifact::decode(signed_by({1}), requiring({3, 2, 1})));
  EXPECT_TRUE(VerifiedArtifact::decode(signed_by({4, 5, 1}), requiring({1})));
}

TEST(Policy, WithoutOneItIsUntrusted) {
  expect_refused(unsigned_artifact(), requiring({1}), ErrorCode::untrusted, "it has none");
  expect_refused(unsigned_artifact(), requiring({}), ErrorCode::untrusted, "no key is trusted");
  expect_refused(signed_by({1}), requiring({}), ErrorCode::untrusted, "no key is trusted");
  expect_refused(signed_by({1, 2}), requiring({3}), ErrorCode::untrusted, "(not trusted)");
}

TEST(Policy, ABrokenSignatureIsNeverPassedOver) {
  const Bytes good = signed_by({1, 2});
  const std::size_t first = block_offset(good) + kSignatureCountBytes;
  Bytes second_broken = good;
  second_broken[first + kSignatureEntryBytes + kPublicKeyBytes] ^= 1;
  // The file is damaged, whatever is asked of it; only a missing trusted signature is worse.
  expect_refused(second_broken, {false, {}}, ErrorCode::corrupt, "is wrong");
  expect_refused(second_broken, requiring({1}), ErrorCode::corrupt, "is wrong");
  expect_refused(second_broken, requiring({2}), ErrorCode::untrusted, "(wrong)");
  Bytes first_broken = good;
  first_broken[first + kPublicKeyBytes] ^= 1;
  expect_refused(first_broken, requiring({2}), ErrorCode::corrupt, "is wrong");
}

TEST(Policy, AKeyMayNotStandTwice) {
  Bytes bytes = signed_by({1});
  const std::size_t block = block_offset(bytes);
  bytes.insert(block + kSignatureCountBytes,
               bytes.substr(block + kSignatureCountBytes, kSignatureEntryBytes));
  set_u32(bytes, block, 2);
  expect_refused(bytes, {false, {}}, ErrorCode::corrupt, "signs twice");
}

TEST(Policy, ASignatureIsOfOneRootOnly) {
  // The block of one artifact in front of another's sections.
  ArtifactContents other_contents = full_contents();
  other_contents.executable += "!";
  const Bytes signed_bytes = signed_by({1});
  const Bytes other = encode_artifact(other_contents).value();
  const std::size_t block = block_offset(other);
  Bytes forged = other.substr(0, block);
  forged += signed_bytes.substr(block, kSignatureCountBytes + kSignatureEntryBytes);
  forged += other.substr(block + kSignatureCountBytes);
  expect_refused(forged, requiring({1}), ErrorCode::untrusted, "(wrong)");
  expect_refused(forged, {false, {}}, ErrorCode::corrupt, "is wrong");
}

Bytes raw_signature(BytesView message, const SigningKey& key) {
  EVP_PKEY* handle =
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size());
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Bytes signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  EXPECT_EQ(EVP_DigestSignInit(context, nullptr, nullptr, nullptr, handle), 1);
  EXPECT_EQ(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                           reinterpret_cast<const unsigned char*>(message.data()), message.size()),
            1);
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(handle);
  return signature;
}

TEST(Policy, TheContextSeparatesDomains) {
  const Bytes bytes = signed_by({1});
  const auto artifact = VerifiedArtifact::decode(bytes);
  ASSERT_TRUE(artifact);
  const std::size_t at = block_offset(bytes) + kSignatureCountBytes + kPublicKeyBytes;
  const Bytes root(artifact->root().view());
  // What docs/format.md says is signed.
  EXPECT_EQ(bytes.substr(at, kSignatureBytes),
            raw_signature(Bytes("precast artifact root 1\0", 24) + root, key_number(1)));
  // A signature over the bare digest, as another tool might make one, is none of ours.
  Bytes bare = bytes;
  bare.replace(at, kSignatureBytes, raw_signature(root, key_number(1)));
  expect_refused(bare, {false, {}}, ErrorCode::corrupt, "is wrong");
}

TEST(Signing, LeavesNoOpenSslErrorsBehind) {
  Bytes broken = signed_by({1});
  broken[block_offset(broken) + kSignatureCountBytes] ^= 1;
  EXPECT_FALSE(VerifiedArtifact::decode(broken));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

}  // namespace
}  // namespace precast::artifact
