// docs/format.md is right: its worked example decodes to what the page says, and its tables name
// the numbers that the code has.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "artifact/layout.h"
#include "base/file.h"
#include "base/hash.h"
#include "precast/artifact.h"
#include "precast/key.h"
#include "precast/limits.h"

namespace precast::golden {
namespace {

std::string page() {
  auto text = base::read_file(PRECAST_DOCS "/format.md", std::uint64_t{1} << 20);
  EXPECT_TRUE(text);
  return text ? std::move(text).value() : "";
}

// The lines between ```hex and ```: an offset, bytes, and what they are.
Bytes worked_example() {
  std::istringstream lines(page());
  std::string line;
  bool inside = false;
  Bytes bytes;
  const std::regex form("([0-9a-f]{4})  ([0-9a-f]{2}(?: [0-9a-f]{2})*)(?: +[^ ].*)?");
  while (std::getline(lines, line)) {
    if (line == "```hex") {
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      std::smatch match;
      EXPECT_TRUE(std::regex_match(line, match, form)) << line;
      EXPECT_EQ(std::stoul(match[1], nullptr, 16), bytes.size()) << line;
      std::string digits = match[2];
      std::erase(digits, ' ');
      bytes += base::from_hex(digits).value();
    }
  }
  return bytes;
}

TEST(FormatDoc, WorkedExampleDecodes) {
  const auto artifact = VerifiedArtifact::decode(worked_example());
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  EXPECT_EQ(artifact->format_version(), artifact::kFormatVersion);
  EXPECT_TRUE(artifact->signatures().empty());
  EXPECT_EQ(artifact->executable(), "not code");
  EXPECT_EQ(artifact->compile_options(), Bytes("\x1A\x04\x20\x01\x28\x01", 6));
  Provenance provenance;
  provenance.created_unix_s = 1790000000;
  provenance.label = "example";
  EXPECT_EQ(artifact->provenance(), provenance);
  EXPECT_FALSE(artifact->program());
  EXPECT_FALSE(artifact->signature());
  const auto record = KeyRecord::decode(artifact->key_record());
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(*record, KeyRecord(std::vector<KeyField>{{"extra", {{"salt", "42"}}}}));
  EXPECT_NE(page().find("The key is `" + record->digest().hex() + "`"), std::string::npos);
}

TEST(FormatDoc, WorkedExampleIsWhatTheEncoderWrites) {
  ArtifactContents contents;
  contents.key_record = KeyRecord(std::vector<KeyField>{{"extra", {{"salt", "42"}}}}).encode();
  contents.executable = "not code";
  contents.compile_options = Bytes("\x1A\x04\x20\x01\x28\x01", 6);
  contents.provenance.created_unix_s = 1790000000;
  contents.provenance.label = "example";
  EXPECT_EQ(encode_artifact(contents).value(), worked_example());
}

// The rows "| number | `name` | ..." between a heading and the next.
std::map<std::uint32_t, std::string> numbered_names(const std::string& heading) {
  const std::string text = page();
  const std::size_t from = text.find("\n### " + heading + "\n");
  EXPECT_NE(from, std::string::npos) << heading;
  const std::string part = text.substr(from + 1, text.find("\n##", from + 1) - from);
  std::map<std::uint32_t, std::string> names;
  const std::regex row("\\| ([0-9]+) \\| `([a-z_]+)` \\|");
  for (std::sregex_iterator match(part.begin(), part.end(), row), end; match != end; ++match) {
    names[static_cast<std::uint32_t>(std::stoul((*match)[1]))] = (*match)[2];
  }
  return names;
}

TEST(FormatDoc, KindsAndCodecsAreAllThere) {
  const auto kinds = numbered_names("Kinds");
  for (std::uint32_t number = 0; number < 100; ++number) {
    const auto kind = static_cast<SectionKind>(number);
    EXPECT_EQ(kinds.contains(number), artifact::is_known(kind)) << number;
    if (kinds.contains(number)) {
      EXPECT_EQ(kinds.at(number), to_string(kind));
    }
  }
  const auto ignorable = numbered_names("Kinds that may be passed over");
  for (std::uint32_t number = 0; number < 100; ++number) {
    const auto kind = static_cast<SectionKind>(artifact::kIgnorableKindBit | number);
    EXPECT_EQ(ignorable.contains(number), artifact::is_known(kind)) << number;
    if (ignorable.contains(number)) {
      EXPECT_EQ(ignorable.at(number), to_string(kind));
    }
  }
  const std::map<std::uint32_t, std::string> codecs = {{0, to_string(Codec::none)},
                                                       {1, to_string(Codec::zstd)}};
  EXPECT_EQ(numbered_names("Codecs"), codecs);
}

TEST(FormatDoc, LimitsAreTheCodes) {
  const std::map<std::string, std::uint64_t> limits = {
      {"kMaxArtifactBytes", limits::kMaxArtifactBytes},
      {"kMaxHeaderBytes", limits::kMaxHeaderBytes},
      {"kMaxSections", limits::kMaxSections},
      {"kMaxSectionBytes", limits::kMaxSectionBytes},
      {"kMaxMetadataBytes", limits::kMaxMetadataBytes},
      {"kMaxProgramBytes", limits::kMaxProgramBytes},
      {"kMaxSignatures", limits::kMaxSignatures},
      {"kMaxParameters", limits::kMaxParameters},
      {"kMaxDimensions", limits::kMaxDimensions},
      {"kMaxCostItems", limits::kMaxCostItems},
      {"kMaxZstdWindowLog", limits::kMaxZstdWindowLog},
      {"kMaxKeyFields", limits::kMaxKeyFields},
      {"kMaxKeyItems", limits::kMaxKeyItems},
      {"kMaxKeyNameBytes", limits::kMaxKeyNameBytes},
      {"kMaxKeyValueBytes", limits::kMaxKeyValueBytes},
  };
  std::map<std::string, std::uint64_t> documented;
  const std::string text = page();
  const std::regex row("\\| ([0-9]+) \\| `(kMax[A-Za-z]+)` \\|");
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
    documented[(*match)[2]] = std::stoull((*match)[1]);
  }
  EXPECT_EQ(documented, limits);
}

// The tables of the fixed part and of a table entry, against the offsets that the code uses.
TEST(FormatDoc, OffsetsAreTheCodes) {
  const std::string text = page();
  const auto row = [&](std::size_t offset, std::size_t size, const std::string& field) {
    return text.find("| " + std::to_string(offset) + " | " + std::to_string(size) + " | " + field +
                     " |") != std::string::npos;
  };
  using namespace artifact;
  EXPECT_TRUE(row(0, kMagic.size(), "magic"));
  EXPECT_TRUE(row(kVersionOffset, 4, "format version"));
  EXPECT_TRUE(row(kHeaderBytesOffset, 4, "header size"));
  EXPECT_TRUE(row(kSectionCountOffset, 4, "section count"));
  EXPECT_TRUE(row(kFlagsOffset, kFixedHeaderBytes - kFlagsOffset, "flags"));
  EXPECT_TRUE(row(kEntryKindOffset, 4, "kind"));
  EXPECT_TRUE(row(kEntryCodecOffset, 4, "codec"));
  EXPECT_TRUE(row(kEntryStoredBytesOffset, 8, "stored size"));
  EXPECT_TRUE(row(kEntryTrueBytesOffset, 8, "true size"));
  EXPECT_TRUE(row(kEntryDigestOffset, kEntryBytes - kEntryDigestOffset, "digest"));
  EXPECT_TRUE(row(0, kPublicKeyBytes, "Ed25519 public key"));
  EXPECT_NE(text.find("24 + 56 \u00d7 sections"), std::string::npos);
  EXPECT_EQ(kFixedHeaderBytes, 24u);
  EXPECT_EQ(kEntryBytes, 56u);
}

}  // namespace
}  // namespace precast::golden
