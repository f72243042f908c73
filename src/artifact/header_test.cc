// Headers that lie, with every digest right: what an attacker can write.
#include <gtest/gtest.h>

#include <random>

#include "artifact/layout.h"
#include "artifact/test_artifacts.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/artifact.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

Bytes good() { return encode_artifact(full_contents(), {Codec::none, 0}).value(); }

// The error of decoding the bytes after their digests were made right.
Error refusal(Bytes bytes) {
  auto result = VerifiedArtifact::decode(reseal(std::move(bytes)));
  EXPECT_FALSE(result) << "it was accepted";
  return result ? Error(ErrorCode::internal, "accepted") : result.error();
}

void expect_refused(Bytes bytes, ErrorCode code, const std::string& words) {
  const Error error = refusal(std::move(bytes));
  EXPECT_EQ(error.code(), code) << error.to_string();
  EXPECT_NE(error.message().find(words), std::string::npos) << error.to_string();
}

std::size_t signature_count_offset(const Bytes& bytes) {
  return base::read_little_endian<std::uint32_t>(bytes, kHeaderBytesOffset) + kRootBytes;
}

TEST(Header, ResealingAnUntouchedArtifactChangesNothing) { EXPECT_EQ(reseal(good()), good()); }

TEST(Header, MagicOnlyOfThisFormat) {
  EXPECT_TRUE(looks_like_artifact(good()));
  EXPECT_FALSE(looks_like_artifact(good().substr(0, 7)));
  EXPECT_FALSE(looks_like_artifact(""));
  expect_refused("", ErrorCode::corrupt, "it is empty");
  expect_refused("\x9EPCA", ErrorCode::corrupt, "cut short");
  expect_refused("ML\xEFR and so on", ErrorCode::corrupt, "not a Precast artifact");
  Bytes text = good();
  text.erase(text.find("\r\n"), 1);
  expect_refused(text, ErrorCode::corrupt, "line ends were converted");
}

TEST(Header, AnotherVersionIsIncompatibleAndNamed) {
  for (const std::uint32_t version : {2u, 3u, 255u, 0x01000000u, 0xFFFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, kVersionOffset, version);
    // Only the number is another one: a flipped bit, not a later format.
    const auto flipped = VerifiedArtifact::decode(bytes);
    ASSERT_FALSE(flipped);
    EXPECT_EQ(flipped.error().code(), ErrorCode::corrupt);
    EXPECT_NE(flipped.error().message().find("does not fit the root"), std::string::npos);
    // Also when nothing else of the file is as this version would have it.
    for (const Bytes& candidate : {bytes, bytes.substr(0, kFixedHeaderBytes)}) {
      expect_refused(candidate, ErrorCode::incompatible,
                     "format version " + std::to_string(version));
      expect_refused(candidate, ErrorCode::incompatible, "reads version 1");
    }
  }
  Bytes bytes = good();
  set_u32(bytes, kVersionOffset, 0);
  expect_refused(bytes, ErrorCode::corrupt, "version 0");
}

TEST(Header, SizesOfTheHeader) {
  for (const std::uint32_t size : {0u, 1u, 23u, 24u, 25u, 65536u, 65537u, 0xFFFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, kHeaderBytesOffset, size);
    expect_refused(bytes, ErrorCode::corrupt, "header of " + std::to_string(size) + " bytes");
  }
  for (const std::uint32_t count : {0u, 65u, 0x10000000u, 0xFFFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, kSectionCountOffset, count);
    expect_refused(bytes, ErrorCode::corrupt, std::to_string(count) + " sections");
  }
  Bytes fewer = good();
  set_u32(fewer, kSectionCountOffset, 8);
  expect_refused(fewer, ErrorCode::corrupt, "does not hold 8 sections exactly");
  // Consistent with itself, but the sections that were its table are now the root and more.
  Bytes more = good();
  set_u32(more, kSectionCountOffset, 64);
  set_u32(more, kHeaderBytesOffset, kFixedHeaderBytes + 64 * kEntryBytes);
  EXPECT_EQ(refusal(more).code(), ErrorCode::incompatible) << "kinds made of other bytes";
}

TEST(Header, AFlagIsAFeatureOfAnotherVersion) {
  for (int bit = 0; bit < 32; ++bit) {
    Bytes bytes = good();
    set_u32(bytes, kFlagsOffset, std::uint32_t{1} << bit);
    expect_refused(bytes, ErrorCode::incompatible, "flags");
  }
}

TEST(Header, RootMustBeTheHeadersDigest) {
  Bytes bytes = good();
  bytes[entry_offset(3)] ^= 1;  // not resealed
  const auto result = VerifiedArtifact::decode(bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  EXPECT_NE(result.error().message().find("digest of the header"), std::string::npos);
}

TEST(Table, KindsRiseAndStandOnce) {
  const std::size_t first = entry_offset(0);
  Bytes twice = good();
  set_u32(twice, entry_offset(1), static_cast<std::uint32_t>(SectionKind::key_record));
  expect_refused(twice, ErrorCode::corrupt, "key_record does not belong behind key_record");

  Bytes swapped = good();
  const Bytes entry = swapped.substr(first, kEntryBytes);
  swapped.replace(first, kEntryBytes, swapped, first + kEntryBytes, kEntryBytes);
  swapped.replace(first + kEntryBytes, kEntryBytes, entry);
  expect_refused(swapped, ErrorCode::corrupt, "key_record does not belong behind executable");
}

TEST(Table, UnknownKindsAndCodecs) {
  const std::size_t last = entry_offset(8);
  for (const std::uint32_t kind : {10u, 11u, 0x7FFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, last, kind);
    expect_refused(bytes, ErrorCode::incompatible, "kind" + std::to_string(kind));
  }
  Bytes zero = good();
  set_u32(zero, entry_offset(0), 0);
  expect_refused(zero, ErrorCode::incompatible, "kind0");
  for (const std::uint32_t codec : {2u, 3u, 0xFFFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, last + kEntryCodecOffset, codec);
    expect_refused(bytes, ErrorCode::incompatible, "codec" + std::to_string(codec));
  }
}

TEST(Table, AnIgnorableKindIsListedButNotRead) {
  Bytes bytes = good();
  set_u32(bytes, entry_offset(9), kIgnorableKindBit | 5);
  const auto artifact = VerifiedArtifact::decode(reseal(bytes));
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  EXPECT_EQ(artifact->sections().size(), 10u);
  EXPECT_EQ(to_string(artifact->sections()[9].kind), "kind2147483653");
  EXPECT_TRUE(artifact->outline().empty());
  EXPECT_EQ(artifact->executable(), full_contents().executable);

  // It is covered by its digest like any other.
  Bytes damaged_bytes = reseal(bytes);
  damaged_bytes.back() ^= 1;
  EXPECT_FALSE(VerifiedArtifact::decode(damaged_bytes));
}

TEST(Table, RequiredSectionsMustBeThere) {
  // key_record, executable or compile_options turned into something that may be passed over would
  // have to stand last; leaving one out is the same for the reader.
  for (std::size_t index = 0; index < 3; ++index) {
    const Bytes whole = good();
    const auto parsed = VerifiedArtifact::decode(whole);
    ASSERT_TRUE(parsed);
    const SectionInfo section = parsed->sections()[index];
    Bytes without = whole;
    without.erase(section.offset, section.stored_bytes);
    without.erase(entry_offset(index), kEntryBytes);
    set_u32(without, kSectionCountOffset, 9);
    set_u32(without, kHeaderBytesOffset, kFixedHeaderBytes + 9 * kEntryBytes);
    expect_refused(without, ErrorCode::corrupt, "no section " + to_string(section.kind));

    Bytes empty = whole;
    empty.erase(section.offset, section.stored_bytes);
    set_u64(empty, entry_offset(index) + kEntryStoredBytesOffset, 0);
    set_u64(empty, entry_offset(index) + kEntryTrueBytesOffset, 0);
    expect_refused(empty, ErrorCode::corrupt, "or it is empty");
  }
}

TEST(Table, SizesThatLeadOutOfTheFile) {
  const std::uint64_t section_max = limits::kMaxSectionBytes;
  for (const std::uint64_t size :
       {std::uint64_t{6001}, section_max, section_max + 1, std::uint64_t{1} << 63,
        ~std::uint64_t{0} - 6000, ~std::uint64_t{0}}) {
    Bytes bytes = good();
    set_u64(bytes, entry_offset(1) + kEntryStoredBytesOffset, size);
    set_u64(bytes, entry_offset(1) + kEntryTrueBytesOffset, size);
    expect_refused(bytes, ErrorCode::corrupt, size > section_max ? "limit" : "cut short");
  }
  // Sizes whose sum is right modulo 2^64 only.
  Bytes wrapped = good();
  for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
    const std::uint64_t half = std::uint64_t{1} << 63;
    const std::size_t at = entry_offset(index) + kEntryStoredBytesOffset;
    const auto size = base::read_little_endian<std::uint64_t>(wrapped, at);
    set_u64(wrapped, at, size + half);
    set_u64(wrapped, at + 8, size + half);
  }
  expect_refused(wrapped, ErrorCode::corrupt, "limit");
}

// Offsets are not stored, so sections cannot overlap or leave a gap: moving a boundary moves what
// both sections hold, and then their digests are wrong, or the file does not end where it should.
TEST(Table, MovedBoundaries) {
  Bytes shorter = good();
  set_u64(shorter, entry_offset(1) + kEntryStoredBytesOffset, 5999);
  set_u64(shorter, entry_offset(1) + kEntryTrueBytesOffset, 5999);
  expect_refused(shorter, ErrorCode::corrupt, "1 bytes follow the last section");

  Bytes moved = good();
  set_u64(moved, entry_offset(1) + kEntryStoredBytesOffset, 5999);
  set_u64(moved, entry_offset(1) + kEntryTrueBytesOffset, 5999);
  set_u64(moved, entry_offset(2) + kEntryStoredBytesOffset, 701);
  set_u64(moved, entry_offset(2) + kEntryTrueBytesOffset, 701);
  const std::size_t header = signature_count_offset(moved) - kRootBytes;
  moved.replace(header, kRootBytes, base::sha256(BytesView(moved).substr(0, header)).view());
  const auto result = VerifiedArtifact::decode(moved);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("digest of the section executable"), std::string::npos);
}

TEST(Table, UncompressedSizesMustAgree) {
  Bytes bytes = good();
  set_u64(bytes, entry_offset(0) + kEntryTrueBytesOffset, 899);
  expect_refused(bytes, ErrorCode::corrupt, "two sizes differ");
}

TEST(Table, MetadataHasASmallerLimit) {
  Bytes bytes = good();
  const std::uint64_t size = limits::kMaxMetadataBytes + 1;
  set_u64(bytes, entry_offset(3) + kEntryStoredBytesOffset, size);
  set_u64(bytes, entry_offset(3) + kEntryTrueBytesOffset, size);
  expect_refused(bytes, ErrorCode::corrupt, "limit of " + std::to_string(size - 1));
}

TEST(SignatureBlock, CountsThatLie) {
  for (const std::uint32_t count : {1u, 16u}) {
    Bytes bytes = good();
    set_u32(bytes, signature_count_offset(bytes), count);
    expect_refused(bytes, ErrorCode::corrupt, "cut short");
  }
  for (const std::uint32_t count : {17u, 0x02AAAAABu, 0xFFFFFFFFu}) {
    Bytes bytes = good();
    set_u32(bytes, signature_count_offset(bytes), count);
    expect_refused(bytes, ErrorCode::corrupt, std::to_string(count) + " signatures");
  }
  // Room for one, filled with zeros.
  Bytes bytes = good();
  const std::size_t at = signature_count_offset(bytes);
  set_u32(bytes, at, 1);
  bytes.insert(at + kSignatureCountBytes, kSignatureEntryBytes, '\0');
  EXPECT_EQ(refusal(bytes).code(), ErrorCode::corrupt);
}

// Numbers anywhere in the header set to anything; the digests are right, so all of it is read.
TEST(Header, SeededHostileNumbersNeverCrash) {
  std::mt19937_64 random(4242);
  const std::uint64_t interesting[] = {0,
                                       1,
                                       2,
                                       23,
                                       24,
                                       56,
                                       64,
                                       255,
                                       65535,
                                       0x7FFFFFFF,
                                       0x80000000,
                                       0xFFFFFFFF,
                                       limits::kMaxSectionBytes,
                                       ~std::uint64_t{0}};
  const Bytes plain = good();
  const Bytes compressed = encode_artifact(full_contents()).value();
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    Bytes bytes = round % 2 == 0 ? plain : compressed;
    const std::size_t header = signature_count_offset(bytes) - kRootBytes;
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = kHeaderBytesOffset + random() % (header - kHeaderBytesOffset - 8);
      const std::uint64_t value = interesting[random() % std::size(interesting)];
      if (random() % 2 == 0) {
        set_u32(bytes, at, static_cast<std::uint32_t>(value));
      } else {
        set_u64(bytes, at, value);
      }
    }
    if (!VerifiedArtifact::decode(reseal(std::move(bytes)))) ++refused;
  }
  // What is accepted changed a digest only, which resealing made right again.
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace precast::artifact
