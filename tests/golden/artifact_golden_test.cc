// Every artifact that a released Precast could have written still decodes to what it held, and
// today's encoder still writes the same bytes.
//
// A new golden: add it to golden_artifacts.cc, run this test once with PRECAST_UPDATE_GOLDENS=1,
// which writes the files that do not exist and nothing else, and enter the digest that it prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "artifact/layout.h"
#include "artifact/test_artifacts.h"
#include "base/file.h"
#include "base/hash.h"
#include "tests/golden/golden_artifacts.h"

namespace precast::golden {

void PrintTo(const GoldenArtifact& golden, std::ostream* out) { *out << golden.file; }

namespace {

const std::filesystem::path kFolder = PRECAST_TESTDATA "/artifacts";

bool updating() {
  const char* value = std::getenv("PRECAST_UPDATE_GOLDENS");
  return value != nullptr && std::string(value) == "1";
}

class ArtifactGolden : public testing::TestWithParam<GoldenArtifact> {
 protected:
  std::string path() const { return (kFolder / GetParam().file).string(); }

  void SetUp() override {
    if (updating() && !std::filesystem::exists(path())) {
      ASSERT_TRUE(base::write_file_atomic(path(), make(GetParam())));
    }
    auto bytes = base::read_file(path(), std::uint64_t{1} << 20);
    ASSERT_TRUE(bytes) << bytes.error().to_string();
    bytes_ = std::move(bytes).value();
  }

  Bytes bytes_;
};

TEST_P(ArtifactGolden, IsUntouched) {
  EXPECT_EQ(base::sha256(bytes_).hex(), GetParam().sha256) << GetParam().file;
}

TEST_P(ArtifactGolden, Decodes) {
  SignaturePolicy policy;
  for (const SigningKey& signer : GetParam().signers) {
    policy.required = true;
    policy.trusted = {verify_key_of(signer).value()};  // each on its own is enough
    ASSERT_TRUE(VerifiedArtifact::decode(bytes_, policy));
  }
  const auto artifact = VerifiedArtifact::from_file(path(), policy);
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  EXPECT_EQ(artifact->format_version(), 1u);
  EXPECT_EQ(artifact->signatures().size(), GetParam().signers.size());
  const ArtifactContents& expected = GetParam().contents;
  EXPECT_EQ(artifact->key_record(), expected.key_record);
  EXPECT_EQ(artifact->executable(), expected.executable);
  EXPECT_EQ(artifact->compile_options(), expected.compile_options);
  EXPECT_EQ(artifact->signature(), expected.signature);
  EXPECT_EQ(artifact->memory_stats(), expected.memory_stats);
  EXPECT_EQ(artifact->cost_analysis(), expected.cost_analysis);
  EXPECT_EQ(artifact->provenance(), expected.provenance);
  EXPECT_EQ(artifact->program(), expected.program);
  EXPECT_EQ(artifact->program_format(), expected.program_format);
  EXPECT_EQ(artifact->front_end(), expected.front_end);
  const bool ignorable =
      std::any_of(artifact->sections().begin(), artifact->sections().end(),
                  [](const SectionInfo& section) { return artifact::is_ignorable(section.kind); });
  EXPECT_EQ(ignorable, GetParam().has_ignorable_section);
}

TEST_P(ArtifactGolden, EncodesTheSame) {
  if (GetParam().encodes_equal) {
    EXPECT_EQ(make(GetParam()), bytes_);
  } else {
    // Another zstd may compress otherwise; what it writes must still be the same content.
    const auto again = VerifiedArtifact::decode(make(GetParam()));
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_TRUE(artifact::same_contents(artifact::contents_of(*again), GetParam().contents));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ArtifactGolden, testing::ValuesIn(golden_artifacts()),
                         [](const auto& golden) {
                           std::string name = golden.param.file;
                           std::erase_if(name, [](char c) { return c == '/' || c == '.'; });
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ArtifactGoldens, FolderAndTableAgree) {
  std::vector<std::string> in_folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.is_regular_file()) {
      in_folder.push_back(std::filesystem::relative(entry.path(), kFolder).string());
    }
  }
  std::vector<std::string> in_table;
  for (const GoldenArtifact& golden : golden_artifacts()) in_table.push_back(golden.file);
  std::sort(in_folder.begin(), in_folder.end());
  std::sort(in_table.begin(), in_table.end());
  EXPECT_EQ(in_folder, in_table);
}

TEST(ArtifactGoldens, CompressionIsInUse) {
  const auto artifact = VerifiedArtifact::from_file((kFolder / "v1/zstd.precast").string());
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(std::any_of(artifact->sections().begin(), artifact->sections().end(),
                          [](const SectionInfo& section) { return section.codec == Codec::zstd; }));
}

}  // namespace
}  // namespace precast::golden
