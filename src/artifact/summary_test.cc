#include "artifact/summary.h"

#include <gtest/gtest.h>

#include <string>

#include "artifact/layout.h"
#include "artifact/test_artifacts.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

// Reads from memory and counts what was read.
struct Source {
  Bytes file;
  std::uint64_t read = 0;

  Result<Summary> summarize() {
    return artifact::summarize(file.size(), [this](std::uint64_t offset, std::uint64_t size) {
      read += size;
      EXPECT_LE(offset + size, file.size());
      return Result<Bytes>(file.substr(offset, size));
    });
  }
};

ArtifactContents contents_of_size(std::size_t executable_bytes) {
  ArtifactContents contents;
  contents.key_record = "a record";
  contents.executable = Bytes(executable_bytes, 'x');
  contents.compile_options = "options";
  contents.provenance.label = "a label";
  contents.provenance.compile_ms = 12.5;
  return contents;
}

Source source_of(const ArtifactContents& contents, Codec codec) {
  auto file = encode_artifact(contents, {.codec = codec});
  EXPECT_TRUE(file);
  return {*std::move(file)};
}

TEST(Summary, TellsWhatTheArtifactSays) {
  for (const Codec codec : {Codec::none, Codec::zstd}) {
    Source source = source_of(contents_of_size(100'000), codec);
    const auto summary = source.summarize();
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->key_record, "a record");
    EXPECT_EQ(summary->executable_bytes, 100'000u);
    EXPECT_EQ(summary->provenance.label, "a label");
    EXPECT_EQ(summary->provenance.compile_ms, 12.5);
  }
}

TEST(Summary, ReadsNoExecutable) {
  Source source = source_of(contents_of_size(10'000'000), Codec::none);
  ASSERT_TRUE(source.summarize());
  EXPECT_LT(source.read, 100'000u);
}

TEST(Summary, NoticesDamageInWhatItReads) {
  const Bytes sound = source_of(contents_of_size(1000), Codec::none).file;
  int noticed = 0;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    Source source{sound};
    source.file[at] = static_cast<char>(source.file[at] ^ 1);
    const auto summary = source.summarize();
    if (!summary) {
      ++noticed;
      continue;
    }
    // Only what it does not look at may be another.
    EXPECT_EQ(summary->key_record, "a record") << at;
    EXPECT_EQ(summary->provenance.label, "a label") << at;
  }
  EXPECT_GT(noticed, 300);
}

TEST(Summary, RefusesEveryTruncation) {
  const Bytes sound = source_of(contents_of_size(1000), Codec::none).file;
  for (std::size_t size = 0; size < sound.size(); ++size) {
    Source source{sound.substr(0, size)};
    const auto summary = source.summarize();
    ASSERT_FALSE(summary) << size;
    EXPECT_EQ(summary.error().code(), ErrorCode::corrupt);
  }
}

TEST(Summary, PassesOnWhatReadingSays) {
  const auto summary = artifact::summarize(100'000, [](std::uint64_t, std::uint64_t) {
    return Result<Bytes>(Error(ErrorCode::io_error, "the disk is gone"));
  });
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message(), "the disk is gone");
}

}  // namespace
}  // namespace precast::artifact
