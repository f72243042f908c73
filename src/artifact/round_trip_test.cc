// What is encoded comes back, whatever is left out, and flips, cuts and additions never do.
#include <gtest/gtest.h>

#include <random>

#include "artifact/test_artifacts.h"
#include "base/file.h"
#include "precast/artifact.h"

namespace precast::artifact {
namespace {

Result<VerifiedArtifact> decode(Bytes bytes) { return VerifiedArtifact::decode(std::move(bytes)); }

Bytes encoded(const ArtifactContents& contents, Codec codec = Codec::zstd) {
  auto bytes = encode_artifact(contents, {codec, 3});
  EXPECT_TRUE(bytes) << bytes.error().to_string();
  return std::move(bytes).value();
}

Bytes signed_small() {
  SigningKey key{};
  key[0] = 7;
  return sign_artifact(encoded(small_contents()), key).value();
}

TEST(RoundTrip, EveryCombinationOfOptionalSections) {
  for (unsigned mask = 0; mask < 128; ++mask) {
    ArtifactContents contents = full_contents();
    if ((mask & 1) != 0) contents.signature.reset();
    if ((mask & 2) != 0) contents.memory_stats.reset();
    if ((mask & 4) != 0) contents.cost_analysis.clear();
    if ((mask & 8) != 0) {
      contents.program.reset();
      contents.program_format = ProgramFormat::mlir_bytecode;
    }
    if ((mask & 16) != 0) contents.front_end.clear();
    if ((mask & 32) != 0) contents.provenance = {};
    if ((mask & 64) != 0) contents.outline.clear();
    for (const Codec codec : {Codec::none, Codec::zstd}) {
      const Bytes bytes = encoded(contents, codec);
      const auto artifact = decode(bytes);
      ASSERT_TRUE(artifact) << "mask " << mask << ": " << artifact.error().to_string();
      EXPECT_TRUE(same_contents(contents_of(*artifact), contents)) << "mask " << mask;
      EXPECT_EQ(artifact->file_bytes(), bytes.size());
      EXPECT_EQ(artifact->format_version(), 1u);
      EXPECT_EQ(artifact->signature().has_value(), (mask & 1) == 0);
      EXPECT_EQ(artifact->program().has_value(), (mask & 8) == 0);
    }
  }
}

TEST(RoundTrip, EmptyMetadataIsNotAbsent) {
  ArtifactContents contents = small_contents();
  contents.signature = ProgramSignature{};
  contents.memory_stats = MemoryStats{};
  contents.program = Bytes();
  const auto artifact = decode(encoded(contents));
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(same_contents(contents_of(*artifact), contents));
}

TEST(RoundTrip, SameContentsSameBytes) {
  EXPECT_EQ(encoded(full_contents()), encoded(full_contents()));
  EXPECT_EQ(encoded(full_contents(), Codec::none), encoded(full_contents(), Codec::none));
}

TEST(RoundTrip, RootNamesTheContents) {
  const auto root = [](const ArtifactContents& contents) {
    return decode(encoded(contents))->root();
  };
  ArtifactContents changed = full_contents();
  EXPECT_EQ(root(changed), root(full_contents()));
  changed.front_end.back() ^= 1;
  EXPECT_NE(root(changed), root(full_contents()));
}

TEST(RoundTrip, UncompressedPartsAreViewsOfTheOneBuffer) {
  Bytes bytes = encoded(full_contents(), Codec::none);
  const char* begin = bytes.data();
  const char* end = begin + bytes.size();
  const auto artifact = decode(std::move(bytes));
  ASSERT_TRUE(artifact);
  const VerifiedArtifact copy = *artifact;
  for (const BytesView view :
       {artifact->key_record(), artifact->executable(), artifact->compile_options(),
        *artifact->program(), artifact->front_end(), artifact->outline(), copy.executable()}) {
    EXPECT_TRUE(begin <= view.data() && view.data() + view.size() <= end);
  }
}

TEST(RoundTrip, SectionsAreCompressedWhereThatHelps) {
  ArtifactContents contents = small_contents();
  contents.executable.assign(10000, 'x');
  std::mt19937_64 random(1);
  contents.compile_options.clear();
  for (int i = 0; i < 5000; ++i) contents.compile_options += static_cast<char>(random());
  const Bytes bytes = encoded(contents);
  const auto artifact = decode(bytes);
  ASSERT_TRUE(artifact);
  ASSERT_EQ(artifact->sections().size(), 4u);
  const SectionInfo& executable = artifact->sections()[1];
  EXPECT_EQ(executable.kind, SectionKind::executable);
  EXPECT_EQ(executable.codec, Codec::zstd);
  EXPECT_EQ(executable.true_bytes, 10000u);
  EXPECT_LT(executable.stored_bytes, 100u);
  EXPECT_EQ(artifact->sections()[0].codec, Codec::none) << "three bytes are not worth it";
  EXPECT_EQ(artifact->sections()[2].codec, Codec::none) << "noise does not get smaller";
  EXPECT_EQ(artifact->sections()[2].offset, executable.offset + executable.stored_bytes);
  EXPECT_EQ(artifact->sections()[3].offset + artifact->sections()[3].stored_bytes, bytes.size());
}

TEST(RoundTrip, FromFileNamesTheFile) {
  const std::string path = testing::TempDir() + "/round_trip_test.precast";
  ASSERT_TRUE(base::write_file_atomic(path, encoded(full_contents())));
  const auto artifact = VerifiedArtifact::from_file(path);
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  EXPECT_TRUE(same_contents(contents_of(*artifact), full_contents()));

  ASSERT_TRUE(base::write_file_atomic(path, encoded(full_contents()).substr(0, 1000)));
  const auto cut = VerifiedArtifact::from_file(path);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code(), ErrorCode::corrupt);
  EXPECT_NE(cut.error().to_string().find("while reading '" + path + "'"), std::string::npos);

  const auto missing = VerifiedArtifact::from_file(path + ".not");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::invalid_argument);
}

TEST(Encode, RefusesWhatCouldNotBeRead) {
  const auto refusal = [](const ArtifactContents& contents, const EncodeOptions& options = {}) {
    const auto bytes = encode_artifact(contents, options);
    EXPECT_FALSE(bytes);
    if (bytes) return std::string();
    EXPECT_EQ(bytes.error().code(), ErrorCode::invalid_argument);
    return bytes.error().message();
  };
  ArtifactContents contents = full_contents();
  contents.key_record.clear();
  EXPECT_NE(refusal(contents).find("key record is empty"), std::string::npos);
  contents = full_contents();
  contents.executable.clear();
  EXPECT_NE(refusal(contents).find("executable is empty"), std::string::npos);
  contents = full_contents();
  contents.compile_options.clear();
  EXPECT_NE(refusal(contents).find("compile options are empty"), std::string::npos);
  contents = full_contents();
  contents.signature->parameters[1].minor_to_major = {0, 0, 1};
  EXPECT_NE(refusal(contents).find("parameter 1 has a layout"), std::string::npos);
  contents = full_contents();
  contents.cost_analysis.resize((1 << 16) + 1);
  EXPECT_NE(refusal(contents).find("cost items"), std::string::npos);
  EXPECT_NE(refusal(full_contents(), {Codec::zstd, 23}).find("no level 23"), std::string::npos);
  EXPECT_NE(refusal(full_contents(), {static_cast<Codec>(2), 3}).find("no codec 2"),
            std::string::npos);
  contents = full_contents();
  contents.program_format = static_cast<ProgramFormat>(9);
  EXPECT_NE(refusal(contents).find("program format 9"), std::string::npos);
}

void expect_every_bit_counts(const Bytes& good) {
  ASSERT_TRUE(decode(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      ASSERT_FALSE(decode(bad)) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(Damage, EveryBitOfASmallArtifactCounts) { expect_every_bit_counts(encoded(small_contents())); }

TEST(Damage, EveryBitOfASignedArtifactCounts) { expect_every_bit_counts(signed_small()); }

TEST(Damage, FiveHundredSeededFlips) {
  const Bytes good = encoded(full_contents());
  std::mt19937_64 random(20260801);
  for (int round = 0; round < 500; ++round) {
    const std::size_t at = random() % good.size();
    const auto flip = static_cast<char>(1 + random() % 255);
    Bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ flip);
    const auto result = decode(std::move(bad));
    ASSERT_FALSE(result) << "byte " << at << ", xor " << static_cast<int>(flip);
    // In the version field a flip looks like another version.
    const bool other_version = at >= 8 && at < 12 && !(at == 8 && flip == 1);
    EXPECT_EQ(result.error().code(), other_version ? ErrorCode::incompatible : ErrorCode::corrupt)
        << "byte " << at;
  }
}

TEST(Damage, EveryTruncationIsCorrupt) {
  for (const Bytes& good : {encoded(small_contents()), signed_small(), encoded(full_contents())}) {
    for (std::size_t size = 0; size < good.size(); ++size) {
      const auto result = decode(good.substr(0, size));
      ASSERT_FALSE(result) << size;
      EXPECT_EQ(result.error().code(), ErrorCode::corrupt) << size;
    }
  }
}

TEST(Damage, NothingMayFollow) {
  for (const Bytes& more : {Bytes(1, '\0'), Bytes(4096, '\0'), encoded(small_contents())}) {
    const auto result = decode(encoded(full_contents()) + more);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find(std::to_string(more.size()) + " bytes follow"),
              std::string::npos);
  }
}

// Inserted, removed, swapped and repeated stretches: what storage and transfers do to files.
TEST(Damage, SeededEditsOfStretches) {
  const Bytes good = encoded(full_contents());
  std::mt19937_64 random(77);
  for (int round = 0; round < 500; ++round) {
    const std::size_t at = random() % good.size();
    const std::size_t size = 1 + random() % std::min<std::size_t>(64, good.size() - at);
    Bytes bad = good;
    switch (random() % 4) {
      case 0: bad.erase(at, size); break;
      case 1: bad.insert(at, good.substr(random() % good.size(), size)); break;
      case 2: bad.replace(at, size, size, '\0'); break;
      default: bad.replace(at, size, good, random() % (good.size() - size), size); break;
    }
    if (bad == good) continue;
    ASSERT_FALSE(decode(std::move(bad))) << "round " << round;
  }
}

}  // namespace
}  // namespace precast::artifact
