// Bytes that are wrong, in every way that a reader must survive and name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "precast/limits.h"
#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/test_writer.h"

namespace precast::program::bytecode {
namespace {

using testing::HasSubstr;

std::string error_of(const Bytes& bytes) {
  const Result<StructuralDigest> digest = digest_bytecode(bytes);
  return digest ? "digested" : digest.error().to_string();
}

// The error of a module that one operation and `prepare` make.
std::string error_with(const std::function<void(TestFile&, TestOp&)>& prepare) {
  TestFile file;
  TestOp op{.name = file.op("stablehlo", "create_token")};
  prepare(file, op);
  file.body({op});
  return error_of(file.finish());
}

// The error of an attribute that the operation carries.
std::string error_of_attribute(const std::string& dialect, const Bytes& encoded) {
  return error_with([&](TestFile& f, TestOp& op) {
    op.dictionary = f.dictionary({{"x", f.attribute(dialect, encoded)}});
  });
}

TestFile sound_file() {
  TestFile file;
  file.body({{.name = file.op("stablehlo", "create_token"),
              .dictionary = file.dictionary({{"x", file.string_attribute("value")}}),
              .results = {file.type("stablehlo", number(0))}}});
  return file;
}

TEST(BytecodeHostile, WhatNoRuleDecodesIsNamed) {
  EXPECT_THAT(error_of_attribute("vhlo", number(31)),
              HasSubstr("unsupported: unknown attribute code 31 of dialect 'vhlo'"));
  EXPECT_THAT(error_of_attribute("vhlo", number(0)), HasSubstr("unknown attribute code 0"));
  EXPECT_THAT(error_of_attribute("llvm", number(0)),
              HasSubstr("no rule decodes attributes of dialect 'llvm'"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) { op.results = {f.type("sdy", number(3))}; }),
              HasSubstr("unknown type code 3 of dialect 'sdy'"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.name = f.op("vhlo", "constant_v99");
                op.properties = f.property_set(number(0));
              }),
              HasSubstr("no layout of its properties with 1 slots is known "
                        "(while reading an operation 'vhlo.constant_v99')"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.name = f.op("stablehlo", "constant", /*registered=*/false);
                op.properties = f.property_set(number(0));
              }),
              HasSubstr("was not registered"));
  EXPECT_THAT(error_of("ML\xefR" + number(7) + "x" + '\0'), HasSubstr("version 7 is newer"));
}

TEST(BytecodeHostile, ATargetCannotHide) {
  EXPECT_THAT(
      error_with([](TestFile& f, TestOp& op) {
        const auto type = f.type("builtin", number(1));
        op.name = f.op("stablehlo", "custom_call");
        op.dictionary = f.dictionary(
            {{"call_target_name",
              f.attribute("builtin",
                          number(3) + number(f.string("CustomSPMDPartitioning")) + number(type))}});
      }),
      HasSubstr("unsupported: the target of a custom call is not a plain string"));
}

TEST(BytecodeHostile, AnAttributeThatContainsItselfEnds) {
  // 0 is the location; the attribute will be 1, and 2 is the dictionary.
  EXPECT_THAT(error_of_attribute("builtin", number(0) + number(1) + number(1)),
              HasSubstr("attribute 1 contains itself"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                f.attribute("builtin", number(0) + number(1) + number(2));
                f.attribute("vhlo", number(1) + number(1) + number(1));
                op.dictionary = f.dictionary({{"x", 1}});
              }),
              HasSubstr("contains itself"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.results = {f.type("builtin", number(15) + number(1) + number(0))};
              }),
              HasSubstr("type 0 contains itself"));
}

TEST(BytecodeHostile, NestingIsBounded) {
  const auto nested = [](int depth) {
    return error_with([depth](TestFile& f, TestOp& op) {
      std::uint64_t inner = f.attribute("builtin", number(7));
      for (int i = 1; i < depth; ++i) inner = f.array({inner});
      op.dictionary = f.dictionary({{"x", inner}});
    });
  };
  EXPECT_EQ(nested(limits::kMaxBytecodeNesting), "digested");
  EXPECT_THAT(nested(limits::kMaxBytecodeNesting + 1), HasSubstr("nest deeper than"));
  const auto regions = [](int depth) {
    return error_with([depth](TestFile& f, TestOp& op) {
      const std::uint64_t name = f.op("stablehlo", "case");
      TestOp inner{.name = name};
      for (int i = 0; i < depth; ++i) {
        TestOp outer{.name = name};
        outer.regions.push_back({.blocks = {{.ops = {inner}}}});
        inner = outer;
      }
      op = inner;
    });
  };
  EXPECT_EQ(regions(limits::kMaxBytecodeNesting - 1), "digested");
  EXPECT_THAT(regions(limits::kMaxBytecodeNesting), HasSubstr("regions nest deeper than"));
}

// 64 arrays, each holding the one before twice: 2^64 attributes if it were unfolded.
TEST(BytecodeHostile, AGraphDoesNotUnfold) {
  EXPECT_EQ(error_with([](TestFile& f, TestOp& op) {
              std::uint64_t inner = f.attribute("builtin", number(7));
              for (int i = 0; i < 64; ++i) inner = f.array({inner, inner});
              op.dictionary = f.dictionary({{"x", inner}});
            }),
            "digested");
}

// A large dictionary, and very many operations that carry it.
TEST(BytecodeHostile, TheWorkIsBoundedByTheSize) {
  TestFile file;
  std::vector<std::pair<std::string, std::uint64_t>> items;
  const auto unit = file.attribute("builtin", number(7));
  for (int i = 0; i < 4000; ++i) items.emplace_back(std::to_string(10'000 + i), unit);
  const TestOp op{.name = file.op("stablehlo", "create_token"),
                  .dictionary = file.dictionary(items)};
  file.body(std::vector<TestOp>(4000, op));
  EXPECT_THAT(error_of(file.finish()), HasSubstr("resource_exhausted: the program expands"));
  // One long string, and very many attributes that hold it.
  EXPECT_THAT(error_with([](TestFile& f, TestOp& o) {
                const auto text = f.string(std::string(20'000, 'x'));
                std::vector<std::uint64_t> all;
                for (int i = 0; i < 2000; ++i) {
                  all.push_back(f.attribute("builtin", number(2) + number(text)));
                }
                o.dictionary = f.dictionary({{"x", f.array(all)}});
              }),
              HasSubstr("resource_exhausted: the program expands"));
}

TEST(BytecodeHostile, CountsAreCheckedAgainstTheBytesBehindThem) {
  const Bytes huge = long_number(~std::uint64_t{0});
  for (const std::string& layout : {std::string("array"), std::string("dictionary")}) {
    EXPECT_THAT(error_of_attribute("builtin", number(layout == "array" ? 0 : 1) + huge),
                HasSubstr("a count is larger than the bytes behind it"));
  }
  for (const int section : {0, 1, 3, 8}) {
    TestFile file = sound_file();
    file.replace_section(section, huge);
    EXPECT_THAT(error_of(file.finish()), HasSubstr("larger than the bytes behind it")) << section;
  }
  for (const Bytes& ir : {number(2) + number(0) + byte(0x02) + number(0) + huge,
                          number(2) + number(0) + byte(0x04) + number(0) + huge,
                          number(2) + number(0) + byte(0x08) + number(0) + huge,
                          number(2) + number(0) + byte(0x10) + number(0) + huge}) {
    TestFile file = sound_file();
    file.raw_ir(ir);
    EXPECT_THAT(error_of(file.finish()), HasSubstr("larger than the bytes behind it"));
  }
}

TEST(BytecodeHostile, IndicesAreChecked) {
  EXPECT_THAT(error_of_attribute("builtin", number(2) + number(99)),
              HasSubstr("outside its table"));
  EXPECT_THAT(error_of_attribute("builtin", number(0) + number(1) + number(99)),
              HasSubstr("attribute 99 lies outside its table"));
  EXPECT_THAT(error_of_attribute("builtin", number(6) + number(99)),
              HasSubstr("type 99 lies outside its table"));
  EXPECT_THAT(error_of_attribute("builtin", number(16) + number(0) + number(0)),
              HasSubstr("type 0 lies outside its table"));
  for (const TestOp& op : {TestOp{.name = 99}, TestOp{.location = 99}, TestOp{.properties = 99},
                           TestOp{.dictionary = 99}, TestOp{.results = {99}}}) {
    TestFile file = sound_file();
    file.body({op});
    EXPECT_THAT(error_of(file.finish()), HasSubstr("outside its table"));
  }
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                const auto type = f.type("builtin", number(1));
                op.dictionary = f.dictionary(
                    {{"x", f.attribute("builtin", number(16) + number(type) + number(0))}});
              }),
              HasSubstr("an index lies outside its table at byte"));
}

TEST(BytecodeHostile, DictionariesAscend) {
  const auto keys = [](const std::string& first, const std::string& second) {
    return error_with([&](TestFile& f, TestOp& op) {
      const auto unit = f.attribute("builtin", number(7));
      op.dictionary = f.dictionary({{first, unit}, {second, unit}});
    });
  };
  EXPECT_EQ(keys("a", "b"), "digested");
  EXPECT_THAT(keys("a", "a"), HasSubstr("do not ascend at 'a'"));
  EXPECT_THAT(keys("b", "a"), HasSubstr("do not ascend at 'a'"));
  // A nested one, and a key that is not a string.
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                const auto unit = f.attribute("builtin", number(7));
                op.dictionary = f.dictionary({{"x", f.dictionary({{"b", unit}, {"a", unit}})}});
              }),
              HasSubstr("do not ascend"));
  EXPECT_THAT(error_of_attribute("builtin", number(1) + number(1) + number(0) + number(0)),
              HasSubstr("the key of a dictionary is not a string"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                const auto unit = f.attribute("builtin", number(7));
                op.dictionary = f.dictionary({{std::string(2000, 'k'), unit}});
              }),
              HasSubstr("the key of a dictionary has 2000 bytes"));
}

TEST(BytecodeHostile, AnAttributeIsGivenOnce) {
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                const auto unit = f.attribute("builtin", number(7));
                op.name = f.op("stablehlo", "constant");
                op.properties = f.property_set(number(unit));
                op.dictionary = f.dictionary({{"value", unit}});
              }),
              HasSubstr("'value' is given twice"));
}

TEST(BytecodeHostile, BoolsAndFlagsAreZeroOrOne) {
  EXPECT_THAT(error_of_attribute("sdy", number(5) + number(0) + byte(2) + number(0)),
              HasSubstr("a bool is neither 0 nor 1"));
  EXPECT_THAT(error_of_attribute("vhlo", number(22) + number(0) + number(2)),
              HasSubstr("a flag is neither 0 nor 1"));
  EXPECT_THAT(error_of_attribute("vhlo", number(25) + number(0) + number(2)),
              HasSubstr("an absent attribute has a number"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.name = f.op("stablehlo", "tan");
                op.properties = f.property_set(number(2));
              }),
              HasSubstr("an absent property has a number"));
}

TEST(BytecodeHostile, NothingIsLeftOver) {
  EXPECT_THAT(error_of_attribute("builtin", number(7) + byte(0)),
              HasSubstr("bytes are left over at byte"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.dictionary = f.dictionary(
                    {{"x", f.attribute_text("builtin", std::string("unit\0more", 9))}});
              }),
              HasSubstr("bytes are left over"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.name = f.op("stablehlo", "constant");
                op.properties = f.property_set(number(0) + number(0));
              }),
              HasSubstr("with 2 slots"));
  for (const int id : {2, 3, 4, 5, 8}) {
    const std::vector<Bytes> contents = {
        "",
        "",
        number(15) + number(2) + byte(0),
        number(1) + number(0) + number(0) + number(1) + number(1 << 1 | 1) + byte(0),
        number(2) + number(0) + byte(0) + number(0) + byte(0),
        byte(0),
        "",
        "",
        number(0) + byte(0)};
    TestFile file;
    file.root({.name = file.op("builtin", "module")});
    file.replace_section(id, contents[static_cast<std::size_t>(id)]);
    EXPECT_NE(error_of(file.finish()), "digested") << id;
  }
}

TEST(BytecodeHostile, PartsOfOperations) {
  const auto with_mask = [](unsigned mask) {
    TestFile file = sound_file();
    file.raw_ir(number(2) + number(0) + byte(mask) + number(0) + number(0));
    return error_of(file.finish());
  };
  EXPECT_THAT(with_mask(0x80), HasSubstr("a part of no known kind"));
  EXPECT_THAT(with_mask(0x20), HasSubstr("a use-list order without values"));
  TestFile two = sound_file();
  two.raw_ir(number(4));
  EXPECT_THAT(error_of(two.finish()), HasSubstr("the program is not one operation"));
  EXPECT_THAT(error_with([](TestFile& f, TestOp& op) {
                op.results = {f.type("stablehlo", number(0))};
                op.use_lists = long_number(~std::uint64_t{0});
              }),
              HasSubstr("a use-list order is longer than the bytes behind it"));
}

TEST(BytecodeHostile, EveryPrefixIsAnError) {
  const Bytes whole = sound_file().finish();
  ASSERT_EQ(error_of(whole), "digested");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "digested") << size;
  }
}

TEST(BytecodeHostile, EveryChangedByteIsADigestOrAnError) {
  const Bytes whole = sound_file().finish();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes changed = whole;
      changed[at] = static_cast<char>(value);
      EXPECT_FALSE(error_of(changed).empty());
    }
  }
}

}  // namespace
}  // namespace precast::program::bytecode
