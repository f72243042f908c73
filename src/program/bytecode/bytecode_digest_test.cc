// What counts and what does not, on small programs.
#include "program/bytecode/bytecode_digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "program/bytecode/test_writer.h"

namespace precast::program {
namespace {

using bytecode::blob;
using bytecode::byte;
using bytecode::long_number;
using bytecode::number;
using bytecode::TestFile;
using bytecode::TestOp;

std::string digest_of(const Bytes& bytes) {
  const Result<StructuralDigest> digest = digest_bytecode(bytes);
  EXPECT_TRUE(digest) << digest.error().to_string();
  return digest ? digest->sha256.hex() : "";
}

// A module with one function that has an argument, a constant, an addition and a return.
struct Sample {
  std::uint64_t version = 6;
  std::string module_name = "m";
  std::string function_name = "main";
  std::string constant = std::string("\0\0\x80\x3f", 4);
  std::string label = "label";
  std::vector<std::uint64_t> operands = {0, 1};
  bool shifted = false;            // other numbers for everything
  bool in_dictionary = false;      // inherent attributes that way, as before version 5
  std::uint64_t element_type = 5;  // f32
  std::uint64_t shape = 8;
  bool add_first_location = false;
  bool extra_block = false;
  std::string op_name = "add";

  TestFile file() const {
    TestFile f(version);
    if (shifted) {
      for (const char* text : {"unused", "later", "first"}) f.string_attribute(text);
      f.dialect("arith");
      f.op("arith", "unused");
      f.op("stablehlo", "return");
      f.type("builtin", number(1));
      f.property_set(number(99));
      f.producer = "StableHLO_v1.13.0";
      f.section_order = {8, 0, 4, 1, 2, 3, 5, 6};
    }
    const auto dense = [&](const Bytes& content, std::uint64_t type) {
      return f.attribute("builtin", number(18) + number(type) + blob(content));
    };
    const auto location = f.attribute(
        "builtin", number(11) + number(f.string_attribute("f.py")) + number(3) + number(4));
    const auto element = f.type("builtin", number(element_type));
    const auto tensor =
        f.type("builtin", number(13) + number(1) + number(shape << 1) + number(element));
    const auto function_type = f.attribute(
        "builtin", number(6) + number(f.type("builtin", number(2) + number(1) + number(tensor) +
                                                            number(1) + number(tensor))));
    const auto value = dense(constant, tensor);

    TestOp constant_op{.name = f.op("stablehlo", "constant"), .results = {tensor}};
    TestOp add{.name = f.op("stablehlo", op_name),
               .location = add_first_location ? location : 0,
               .dictionary = f.dictionary({{"label", f.string_attribute(label)}}),
               .results = {tensor},
               .operands = operands};
    TestOp give_back{.name = f.op("func", "return"), .operands = {2}};
    TestOp function{.name = f.op("func", "func"), .isolated = true};
    inherent(f, constant_op, {{"value", value}}, number(value));
    const auto name = f.string_attribute(function_name);
    inherent(f, function, {{"function_type", function_type}, {"sym_name", name}},
             number(0) + number(function_type) + number(0) + number(0) + number(name) + number(0));
    bytecode::TestBlock block{
        .arguments = {{.type = tensor,
                       .location = add_first_location || version < 4
                                       ? std::optional<std::uint64_t>(location)
                                       : std::nullopt}},
        .ops = {constant_op, add, give_back}};
    function.regions.push_back({.values = 3, .blocks = {block}});
    if (extra_block) function.regions[0].blocks.push_back({.ops = {give_back}});

    TestOp module{.name = f.op("builtin", "module"), .isolated = true};
    const auto module_id = f.string_attribute(module_name);
    inherent(f, module, {{"sym_name", module_id}}, number(module_id << 1 | 1) + number(0));
    module.regions.push_back({.values = 0, .blocks = {{.ops = {function}}}});
    f.root(module);
    return f;
  }

  Bytes bytes() const { return file().finish(); }

 private:
  void inherent(TestFile& f, TestOp& op,
                const std::vector<std::pair<std::string, std::uint64_t>>& attributes,
                const Bytes& properties) const {
    if (version >= 5 && !in_dictionary) {
      op.properties = f.property_set(properties);
    } else {
      op.dictionary = f.dictionary(attributes);
    }
  }
};

TEST(BytecodeDigest, NumberingProducerAndSectionOrderDoNotCount) {
  EXPECT_EQ(digest_of(Sample{}.bytes()), digest_of(Sample{.shifted = true}.bytes()));
}

TEST(BytecodeDigest, LocationsDoNotCount) {
  EXPECT_EQ(digest_of(Sample{}.bytes()), digest_of(Sample{.add_first_location = true}.bytes()));
}

TEST(BytecodeDigest, EveryVersionOfBytecodeGivesOneDigest) {
  const std::string expected = digest_of(Sample{}.bytes());
  for (std::uint64_t version = 0; version <= 6; ++version) {
    EXPECT_EQ(digest_of(Sample{.version = version}.bytes()), expected) << version;
  }
}

TEST(BytecodeDigest, InherentAttributesMayStandInTheDictionary) {
  EXPECT_EQ(digest_of(Sample{}.bytes()), digest_of(Sample{.in_dictionary = true}.bytes()));
}

TEST(BytecodeDigest, EverythingElseCounts) {
  const std::vector<Sample> samples = {
      {},
      {.module_name = "n"},
      {.function_name = "main2"},
      {.constant = std::string("\0\0\0\x40", 4)},
      {.label = "other"},
      {.operands = {1, 0}},
      {.operands = {0, 0}},
      {.operands = {0}},
      {.element_type = 6},
      {.shape = 9},
      {.extra_block = true},
      {.op_name = "subtract"},
  };
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [at, added] = seen.emplace(digest_of(samples[i].bytes()), i);
    EXPECT_TRUE(added) << "samples " << at->second << " and " << i;
  }
}

// The digest of a module that one operation and `prepare` make.
std::string digest_with(const std::function<void(TestFile&, TestOp&)>& prepare) {
  TestFile file;
  TestOp op{.name = file.op("stablehlo", "create_token")};
  prepare(file, op);
  file.body({op});
  return digest_of(file.finish());
}

TEST(BytecodeDigest, UseListOrdersDoNotCount) {
  const auto with_orders = [](const Bytes& orders, bool two) {
    return digest_with([&](TestFile& f, TestOp& op) {
      const auto token = f.type("stablehlo", number(0));
      op.results = std::vector<std::uint64_t>(two ? 2 : 1, token);
      op.use_lists = orders;
    });
  };
  const Bytes one_list = number(2 << 1) + number(1) + number(0);
  EXPECT_EQ(with_orders("", false), with_orders(one_list, false));
  EXPECT_EQ(with_orders("", true), with_orders(number(1) + number(1) + one_list, true));
  const auto argument_orders = [](const Bytes& orders) {
    return digest_with([&](TestFile& f, TestOp& op) {
      const auto token = f.type("stablehlo", number(0));
      op.regions.push_back(
          {.values = 1, .blocks = {{.arguments = {{.type = token}}, .use_lists = orders}}});
    });
  };
  EXPECT_EQ(argument_orders(""), argument_orders(one_list));
}

TEST(BytecodeDigest, ALocationThatIsAValueCounts) {
  const auto at_line = [](std::uint64_t line) {
    return digest_with([line](TestFile& f, TestOp& op) {
      const auto file_name = f.string_attribute("f.py");
      const auto where =
          f.attribute("builtin", number(11) + number(file_name) + number(line) + number(1));
      op.dictionary = f.dictionary({{"where", where}});
    });
  };
  EXPECT_EQ(at_line(1), at_line(1));
  EXPECT_NE(at_line(1), at_line(2));
}

TEST(BytecodeDigest, ADialectsVersionCounts) {
  const auto version = [](const Bytes& v) {
    return digest_with([&v](TestFile& f, TestOp&) { f.dialect_version("sdy", v); });
  };
  EXPECT_NE(version(number(1)), version(number(2)));
  EXPECT_NE(version(number(1)), digest_with([](TestFile& f, TestOp&) { f.dialect("sdy"); }));
}

TEST(BytecodeDigest, ALongNumberIsTheNumber) {
  const auto integer = [](const Bytes& width) {
    return digest_with(
        [&](TestFile& f, TestOp& op) { op.results = {f.type("builtin", number(0) + width)}; });
  };
  EXPECT_EQ(integer(number(32 << 2)), integer(long_number(32 << 2)));
  EXPECT_NE(integer(number(32 << 2)), integer(number(32 << 2 | 1)));
}

TEST(BytecodeDigest, ALargeConstantIsHashedToItsLastByte) {
  Bytes large(100'000, 'x');
  const auto with = [&] {
    return digest_with([&](TestFile& f, TestOp& op) {
      const auto type = f.type("builtin", number(1));
      op.dictionary = f.dictionary(
          {{"large", f.attribute("builtin", number(18) + number(type) + blob(large))}});
    });
  };
  const std::string before = with();
  large.back() = 'y';
  EXPECT_NE(before, with());
}

TEST(BytecodeDigest, TextIsAnotherFormOfAnAttribute) {
  const auto text = [](const std::string& content) {
    return digest_with([&](TestFile& f, TestOp& op) {
      op.dictionary = f.dictionary({{"x", f.attribute_text("builtin", content)}});
      op.results = {f.type_text("builtin", "i32")};
    });
  };
  EXPECT_EQ(text("affine_map<(d0) -> (d0)>"), text("affine_map<(d0) -> (d0)>"));
  EXPECT_NE(text("affine_map<(d0) -> (d0)>"), text("affine_map<(d0) -> (1)>"));
}

TEST(BytecodeDigest, OneAttributeIsNotTwoEqualDistinctOnes) {
  const auto with = [](bool shared) {
    return digest_with([&](TestFile& f, TestOp& op) {
      const auto unit = f.attribute("builtin", number(7));
      const auto first = f.attribute("builtin", number(21) + number(unit));
      const auto second = f.attribute("builtin", number(21) + number(unit));
      op.dictionary = f.dictionary({{"x", first}, {"y", shared ? first : second}});
    });
  };
  EXPECT_NE(with(true), with(false));
}

TEST(BytecodeDigest, CustomCallsAreFound) {
  TestFile file;
  std::vector<TestOp> ops;
  for (const char* target : {"mine", "xla_ffi_python_cpu_callback", "CustomSPMDPartitioning",
                             "not_xla_ffi_python_cpu_callback", "mine"}) {
    const auto name = file.string_attribute(target);
    ops.push_back(
        {.name = file.op("stablehlo", "custom_call"),
         .properties = file.property_set(number(0) + number(0) + number(name) + number(0) +
                                         number(0) + number(0) + number(0) + number(0))});
  }
  const auto vhlo_name = file.attribute("vhlo", number(14) + number(file.string("theirs")));
  ops.push_back({.name = file.op("vhlo", "custom_call_v1"),
                 .dictionary = file.dictionary({{"call_target_name", vhlo_name}})});
  file.body(ops);
  const Result<StructuralDigest> digest = digest_bytecode(file.finish());
  ASSERT_TRUE(digest) << digest.error().to_string();
  const CustomCallScan& scan = digest->custom_calls;
  EXPECT_EQ(scan.plain, (std::set<std::string, std::less<>>{
                            "mine", "not_xla_ffi_python_cpu_callback", "theirs"}));
  EXPECT_EQ(scan.index_bound, (std::set<std::string, std::less<>>{"xla_ffi_python_cpu_callback"}));
  EXPECT_EQ(scan.process_bound, (std::set<std::string, std::less<>>{"CustomSPMDPartitioning"}));
}

}  // namespace
}  // namespace precast::program
