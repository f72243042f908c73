// Programs of real JAX have the digests that were promised for them.
//
// A change of one empties every cache: it needs a new version of the rules, a line in the
// changelog, and tests/digest/make_corpus.py --new-rules.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/entry_layouts.h"
#include "program/text_digest.h"

namespace precast::program {
namespace {

const std::string kFolder = PRECAST_TESTDATA "/programs/jax/";

Bytes read(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  EXPECT_TRUE(file) << "no file " << kFolder << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(GoldenPrograms, HaveTheirDigests) {
  const nlohmann::json manifest = nlohmann::json::parse(read("manifest.json"));
  ASSERT_GT(manifest.size(), 60U);
  std::map<std::string, std::string> seen;
  for (const auto& [group, expected] : manifest.items()) {
    const std::string promised = expected.at("sha256");
    // Each group is another program, or the same in another format.
    EXPECT_TRUE(seen.emplace(promised, group).second) << group << " and " << seen[promised];
    for (const std::string name : expected.at("files")) {
      const Bytes bytes = read(name);
      const auto digest =
          bytes.starts_with("ML\xefR") ? digest_bytecode(bytes) : digest_text(bytes);
      ASSERT_TRUE(digest) << name << ": " << digest.error().to_string();
      EXPECT_EQ(digest->sha256.hex(), promised) << name;
    }
  }
}

TEST(GoldenPrograms, TheirCustomCallsAreFound) {
  const auto calls_of = [](const std::string& name) {
    const auto digest = digest_bytecode(read(name));
    EXPECT_TRUE(digest) << name;
    return digest ? digest->custom_calls : CustomCallScan();
  };
  using Targets = std::set<std::string, std::less<>>;
  EXPECT_EQ(calls_of("callbacks.vhlo.mlirbc").index_bound, Targets{"xla_ffi_python_cpu_callback"});
  EXPECT_EQ(calls_of("ffi_call.raw.mlirbc").plain, Targets{"my_target"});
  EXPECT_EQ(calls_of("mlp_step.vhlo.mlirbc"), CustomCallScan());
}

// A change of the rules must not go unnoticed: the goldens above belong to these versions.
TEST(GoldenPrograms, BelongToTheseRules) {
  EXPECT_EQ(bytecode::kBytecodeRulesVersion, 1U);
  EXPECT_EQ(kTextRulesVersion, 2U);
  EXPECT_EQ(kCustomCallRulesVersion, 1U);
}

}  // namespace
}  // namespace precast::program
