// Resources: what of them counts.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/test_writer.h"

namespace precast::program {
namespace {

using bytecode::number;
using bytecode::TestFile;
using bytecode::TestOp;

std::string digest_of(const Bytes& bytes) {
  const Result<StructuralDigest> digest = digest_bytecode(bytes);
  EXPECT_TRUE(digest) << digest.error().to_string();
  return digest ? digest->sha256.hex() : "";
}

// The digest of a module that one operation and `prepare` make.
std::string digest_with(const std::function<void(TestFile&, TestOp&)>& prepare) {
  TestFile file;
  TestOp op{.name = file.op("stablehlo", "create_token")};
  prepare(file, op);
  file.body({op});
  return digest_of(file.finish());
}

// A resource that an attribute uses.
void use_resource(TestFile& f, std::vector<std::pair<std::string, std::uint64_t>>& attributes,
                  const std::string& name, std::uint64_t handle) {
  const auto type = f.type("builtin", number(1));
  attributes.emplace_back(name, f.attribute("builtin", number(16) + number(type) + number(handle)));
}

TEST(BytecodeResources, TheKeyOfAUsedResourceDoesNotCount) {
  const auto with = [](const std::string& key, const std::string& content) {
    return digest_with([&](TestFile& f, TestOp& op) {
      std::vector<std::pair<std::string, std::uint64_t>> attributes;
      use_resource(f, attributes, "x", f.resource("builtin", key, content));
      op.dictionary = f.dictionary(attributes);
    });
  };
  EXPECT_EQ(with("weights", "12345678"), with("weights_1", "12345678"));
  EXPECT_NE(with("weights", "12345678"), with("weights", "12345679"));
}

TEST(BytecodeResources, TheOrderOfResourcesDoesNotCount) {
  const auto with = [](bool swapped, bool crossed) {
    return digest_with([&](TestFile& f, TestOp& op) {
      std::vector<std::uint64_t> handles(2);
      for (int i = 0; i < 2; ++i) {
        const bool second = (i == 1) != swapped;
        handles[second ? 1 : 0] = f.resource("builtin", second ? "b" : "a", second ? "BB" : "AA");
      }
      std::vector<std::pair<std::string, std::uint64_t>> attributes;
      use_resource(f, attributes, "x", handles[crossed ? 1 : 0]);
      use_resource(f, attributes, "y", handles[crossed ? 0 : 1]);
      op.dictionary = f.dictionary(attributes);
    });
  };
  EXPECT_EQ(with(false, false), with(true, false));
  EXPECT_NE(with(false, false), with(false, true));
}

TEST(BytecodeResources, AResourceThatNothingUsesCountsWithItsKey) {
  const auto unused = [](const std::string& key, const std::string& content) {
    return digest_with([&](TestFile& f, TestOp&) { f.resource("builtin", key, content); });
  };
  EXPECT_NE(unused("k", "12"), unused("l", "12"));
  EXPECT_NE(unused("k", "12"), unused("k", "13"));
  const auto external = [](const std::string& group, const std::string& value) {
    return digest_with([&](TestFile& f, TestOp&) {
      f.external_resource(group, "pipeline", value);
      f.string("one");
      f.string("two");
    });
  };
  EXPECT_NE(external("mlir_reproducer", "one"), external("mlir_reproducer", "two"));
  EXPECT_NE(external("mlir_reproducer", "one"), external("other", "one"));
}

}  // namespace
}  // namespace precast::program
