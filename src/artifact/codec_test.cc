#include "artifact/codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "artifact/layout.h"
#include "artifact/test_allocation_probe.h"
#include "artifact/test_artifacts.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Bytes text(std::size_t size) {
  Bytes bytes;
  for (std::size_t i = 0; bytes.size() < size; ++i) bytes += "line " + std::to_string(i) + "\n";
  bytes.resize(size);
  return bytes;
}

Bytes compressed(BytesView content) { return compress_zstd(content, 3).value(); }

void expect_refused(BytesView stored, std::uint64_t true_bytes, const std::string& words) {
  const AllocationProbe probe;
  const auto result = decompress_zstd(stored, true_bytes);
  const std::size_t largest = probe.largest();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::corrupt) << result.error().to_string();
  EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().to_string();
  EXPECT_LT(largest, kMiB) << "memory was taken before the frame was checked";
}

// A frame by hand: descriptor, then what follows it.
Bytes frame(unsigned descriptor, const Bytes& rest) {
  Bytes bytes = "\x28\xB5\x2F\xFD";
  bytes += static_cast<char>(descriptor);
  return bytes + rest;
}

Bytes little(std::uint64_t value, int size) {
  Bytes bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A run of one byte: type 1, its length in the upper bits of a 24-bit header.
Bytes run_block(std::uint32_t length, bool last) {
  return little((last ? 1u : 0u) | 2u | length << 3, 3) + "z";
}

TEST(Zstd, RoundTrips) {
  for (const std::size_t size : {0u, 1u, 600u, 100000u, 300000u, 9'000'000u}) {
    const Bytes content = text(size);
    for (const int level : {-5, 1, 3, 19}) {
      if (level == 19 && size > kMiB) continue;  // takes seconds
      const auto stored = compress_zstd(content, level);
      ASSERT_TRUE(stored) << stored.error().to_string();
      const auto back = decompress_zstd(*stored, size);
      ASSERT_TRUE(back) << back.error().to_string();
      EXPECT_EQ(back->view(), content);
    }
  }
}

TEST(Zstd, RefusesLevelsThatDoNotExist) {
  for (const int level : {ZSTD_maxCLevel() + 1, ZSTD_minCLevel() - 1}) {
    const auto result = compress_zstd("x", level);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::invalid_argument);
  }
}

TEST(Zstd, TheSizeInTheTableMustBeTheFramesOwn) {
  const Bytes stored = compressed(text(1000));
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{999}, std::uint64_t{1001},
                                   limits::kMaxSectionBytes, ~std::uint64_t{0}}) {
    expect_refused(stored, size, "its content has 1000 bytes");
  }
}

TEST(Zstd, OneFrameAndNothingElse) {
  const Bytes one = compressed(text(1000));
  expect_refused(one + Bytes(1, '\0'), 1000, "1 bytes follow it");
  expect_refused(one + one, 1000, "bytes follow it");
  expect_refused(one + one, 2000, "its content has 1000 bytes");
  const Bytes skippable = "\x50\x2A\x4D\x18" + little(4, 4) + "skip";
  expect_refused(one + skippable, 1000, "12 bytes follow it");
  expect_refused(skippable + one, 1000, "does not begin like one");
  expect_refused(skippable, 0, "does not begin like one");
  expect_refused("", 0, "does not begin like one");
  expect_refused(Bytes("\x28\xB5\x2F\xFD", 4), 0, "does not begin like one");
}

TEST(Zstd, TheSizeMustBeStated) {
  // As a streaming compressor writes it: window descriptor, no content size.
  expect_refused(frame(0x00, Bytes("\x00", 1) + run_block(100, true)), 100, "does not state");
}

TEST(Zstd, WindowIsLimited) {
  // 0x80: a four-byte content size behind the window byte. Exponent 17 is 2^27, and a mantissa
  // goes beyond.
  const auto with_window = [](unsigned window) {
    return frame(0x80, Bytes(1, static_cast<char>(window)) + little(100, 4) + run_block(100, true));
  };
  EXPECT_EQ(decompress_zstd(with_window(17 << 3), 100).value().view(), Bytes(100, 'z'));
  expect_refused(with_window(17 << 3 | 1), 100, "window");
  expect_refused(with_window(21 << 3 | 7), 100, "window");  // zstd itself goes no further
  // A single segment's window is its content.
  const std::uint64_t large = (std::uint64_t{1} << limits::kMaxZstdWindowLog) + 1;
  expect_refused(frame(0xA0, little(large, 4) + run_block(100, true)), large, "window");
}

TEST(Zstd, BombsAreRefusedBeforeMemoryIsTaken) {
  // Twenty bytes that agree with the table on 4 GiB: no frame of that length can hold them.
  const std::uint64_t huge = limits::kMaxSectionBytes;
  const Bytes window(1, static_cast<char>(17 << 3));
  expect_refused(frame(0xC0, window + little(huge, 8) + run_block(100, true)), huge, "cannot hold");
  // Nearly plausible.
  const std::uint64_t blocks = 40;
  Bytes body;
  for (std::uint64_t i = 0; i < blocks; ++i) body += run_block(128 << 10, i + 1 == blocks);
  const Bytes full = frame(0xC0, window + little(blocks * (128 << 10), 8) + body);
  EXPECT_EQ(decompress_zstd(full, blocks * (128 << 10)).value().view().size(),
            blocks * (128 << 10));
  const std::uint64_t beyond = 60 * (128 << 10);
  expect_refused(frame(0xC0, window + little(beyond, 8) + body), beyond, "cannot hold");
}

TEST(Zstd, NoMemoryIsAnError) {
  const Bytes content(8 * kMiB, 'x');
  const Bytes stored = compressed(content);
  const AllocationProbe probe(kMiB);
  const auto decompressed = decompress_zstd(stored, content.size());
  const auto compressed_again = compress_zstd(content, 3);
  ASSERT_FALSE(decompressed);
  EXPECT_EQ(decompressed.error().code(), ErrorCode::resource_exhausted);
  ASSERT_FALSE(compressed_again);
  EXPECT_EQ(compressed_again.error().code(), ErrorCode::resource_exhausted);
}

TEST(Zstd, AFrameThatGivesLessOrMoreThanItStates) {
  const Bytes window(1, '\x40');
  EXPECT_FALSE(decompress_zstd(frame(0x80, window + little(101, 4) + run_block(100, true)), 101));
  EXPECT_FALSE(decompress_zstd(frame(0x80, window + little(99, 4) + run_block(100, true)), 99));
  EXPECT_FALSE(decompress_zstd(frame(0x80, window + little(100, 4) + run_block(100, false)), 100));
}

TEST(Zstd, ADictionaryIsNotThere) {
  // Descriptor bit 0: a one-byte dictionary id.
  EXPECT_FALSE(decompress_zstd(
      frame(0x81, Bytes("\x40\x07", 2) + little(100, 4) + run_block(100, true)), 100));
}

TEST(Zstd, EveryTruncationAndSeededFlipsAreSafe) {
  const Bytes content = text(5000);
  const Bytes stored = compressed(content);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    EXPECT_FALSE(decompress_zstd(stored.substr(0, size), content.size())) << size;
  }
  // The section's digest is what finds a flip; here it must only do no harm.
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    Bytes bad = stored;
    bad[random() % bad.size()] = static_cast<char>(random());
    const auto result = decompress_zstd(bad, content.size());
    if (!result) {
      ++refused;
    } else {
      EXPECT_EQ(result->view().size(), content.size());
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Zstd, AWholeArtifactAsksForNoMoreThanItDeclares) {
  ArtifactContents contents = small_contents();
  contents.executable = text(300000);
  const Bytes good = encode_artifact(contents).value();
  const std::uint64_t sizes[] = {
      0, 299999, 300001, 64 * kMiB, limits::kMaxSectionBytes, 1 << 30, ~std::uint64_t{0}};
  for (const std::uint64_t size : sizes) {
    Bytes bytes = good;
    set_u64(bytes, entry_offset(1) + kEntryTrueBytesOffset, size);
    bytes = reseal(std::move(bytes));
    const AllocationProbe probe;
    const auto result = VerifiedArtifact::decode(std::move(bytes));
    const std::size_t largest = probe.largest();
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
    EXPECT_LT(largest, kMiB) << size;
  }
}

}  // namespace
}  // namespace precast::artifact
