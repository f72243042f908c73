// The names of functions: which count in full, and where.
#include <gtest/gtest.h>

#include <string>

#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/test_writer.h"

namespace precast::program::bytecode {
namespace {

// A module whose public function calls a private one.
struct Module {
  std::string defined = "relu_1";  // the private function
  std::string called = "relu_1";   // what main calls
  std::string visibility = "private";
  std::string second_private = {};  // another private function, if it has a name
  std::string label = {};           // a string attribute of the call
  std::string referenced = {};      // a symbol reference in a discardable attribute of the call
  std::string text = {};            // a textual attribute of the call
  bool with_body = true;
  bool second_first = false;
  bool vhlo = false;
  bool mesh = false;

  std::string digest() const {
    TestFile f;
    std::vector<TestOp> ops = {function(f, "main", "public", {call(f)})};
    std::vector<TestOp> privates = {function(f, defined, visibility, {})};
    if (!second_private.empty()) privates.push_back(function(f, second_private, "private", {}));
    if (second_first) std::swap(privates.front(), privates.back());
    ops.insert(ops.end(), privates.begin(), privates.end());
    f.body(ops);
    const Result<StructuralDigest> result = digest_bytecode(f.finish());
    EXPECT_TRUE(result) << result.error().to_string();
    return result ? result->sha256.hex() : "";
  }

 private:
  std::uint64_t name_attribute(TestFile& f, const std::string& name) const {
    return vhlo ? f.attribute("vhlo", number(14) + number(f.string(name)))
                : f.string_attribute(name);
  }

  TestOp call(TestFile& f) const {
    std::vector<std::pair<std::string, std::uint64_t>> attributes;
    if (!label.empty()) attributes.emplace_back("label", name_attribute(f, label));
    if (!referenced.empty()) attributes.emplace_back("other", f.symbol_reference(referenced));
    if (!text.empty()) attributes.emplace_back("text", f.attribute_text("stablehlo", text));
    TestOp op;
    if (!attributes.empty()) op.dictionary = f.dictionary(attributes);
    if (vhlo) {
      op.name = f.op("vhlo", "call_v1");
      op.properties = f.property_set(number(name_attribute(f, called)));
    } else {
      op.name = f.op("func", "call");
      op.properties = f.property_set(number(f.symbol_reference(called)));
    }
    return op;
  }

  TestOp function(TestFile& f, const std::string& name, const std::string& visible,
                  const std::vector<TestOp>& body) const {
    const auto unit = f.attribute("builtin", number(7));
    TestOp op{.isolated = true};
    const auto name_index = number(name_attribute(f, name));
    const auto visible_index = name_attribute(f, visible);
    if (vhlo) {
      op.name = f.op("vhlo", "func_v1");
      op.properties = f.property_set(number(unit) + number(unit) + number(unit) + name_index +
                                     number(visible_index));
    } else {
      op.name = f.op("func", "func");
      op.properties = f.property_set(number(0) + number(unit) + number(0) + number(0) + name_index +
                                     number(visible_index << 1 | 1));
    }
    op.regions.push_back({});
    if (with_body) op.regions[0].blocks.push_back({.ops = body});
    return op;
  }
};

class Symbols : public testing::TestWithParam<bool> {};

TEST_P(Symbols, TheSuffixOfAPrivateFunctionDoesNotCount) {
  const bool vhlo = GetParam();
  const std::string one = Module{.vhlo = vhlo}.digest();
  EXPECT_EQ(one, (Module{.defined = "relu_23", .called = "relu_23", .vhlo = vhlo}.digest()));
  EXPECT_EQ(one, (Module{.defined = "relu", .called = "relu", .vhlo = vhlo}.digest()));
}

TEST_P(Symbols, ItsBaseNameCounts) {
  const bool vhlo = GetParam();
  EXPECT_NE((Module{.vhlo = vhlo}.digest()),
            (Module{.defined = "gelu_1", .called = "gelu_1", .vhlo = vhlo}.digest()));
}

TEST_P(Symbols, APublicNameCounts) {
  const bool vhlo = GetParam();
  EXPECT_NE((Module{.visibility = "public", .vhlo = vhlo}.digest()),
            (Module{.defined = "relu_2", .called = "relu_2", .visibility = "public", .vhlo = vhlo}
                 .digest()));
}

TEST_P(Symbols, TheNameOfAFunctionWithoutABodyCounts) {
  const bool vhlo = GetParam();
  EXPECT_NE(
      (Module{.with_body = false, .vhlo = vhlo}.digest()),
      (Module{.defined = "relu_2", .called = "relu_2", .with_body = false, .vhlo = vhlo}.digest()));
}

TEST_P(Symbols, WhichFunctionIsCalledCounts) {
  const bool vhlo = GetParam();
  const auto with = [vhlo](const std::string& called) {
    return Module{.defined = "relu_1", .called = called, .second_private = "relu_2", .vhlo = vhlo}
        .digest();
  };
  EXPECT_NE(with("relu_1"), with("relu_2"));
  // Nobody defines it.
  EXPECT_NE(with("relu_1"), with("relu_3"));
  EXPECT_NE(with("relu_3"), with("relu_4"));
}

TEST_P(Symbols, TheOrderOfDefinitionsCounts) {
  const bool vhlo = GetParam();
  EXPECT_NE((Module{.second_private = "gelu", .vhlo = vhlo}.digest()),
            (Module{.second_private = "gelu", .second_first = true, .vhlo = vhlo}.digest()));
}

TEST_P(Symbols, ANameThatIsDefinedTwiceCounts) {
  const bool vhlo = GetParam();
  EXPECT_NE(
      (Module{.second_private = "relu_1", .vhlo = vhlo}.digest()),
      (Module{.defined = "relu_2", .called = "relu_2", .second_private = "relu_2", .vhlo = vhlo}
           .digest()));
}

// An ordinary string that is equal to the name may mean the function or not: renaming the function
// alone makes another program.
TEST_P(Symbols, AStringIsNeverRenamed) {
  const bool vhlo = GetParam();
  EXPECT_NE((Module{.label = "relu_1", .vhlo = vhlo}.digest()),
            (Module{.label = "relu_2", .vhlo = vhlo}.digest()));
  EXPECT_NE(
      (Module{.label = "relu_1", .vhlo = vhlo}.digest()),
      (Module{.defined = "relu_2", .called = "relu_2", .label = "relu_1", .vhlo = vhlo}.digest()));
  EXPECT_NE((Module{.defined = "relu", .called = "relu", .label = "relu", .vhlo = vhlo}.digest()),
            (Module{.label = "relu", .vhlo = vhlo}.digest()));
}

TEST_P(Symbols, AReferenceOutsideTheSlotsIsNeverRenamed) {
  const bool vhlo = GetParam();
  EXPECT_NE((Module{.referenced = "relu_1", .vhlo = vhlo}.digest()),
            (Module{.defined = "relu_2", .called = "relu_2", .referenced = "relu_1", .vhlo = vhlo}
                 .digest()));
}

TEST_P(Symbols, TextThatCouldNameAFunctionDisclosesItsName) {
  const bool vhlo = GetParam();
  const auto with = [vhlo](const std::string& name, const std::string& text) {
    return Module{.defined = name, .called = name, .text = text, .vhlo = vhlo}.digest();
  };
  EXPECT_NE(with("relu_1", "#stablehlo.x<@relu_1>"), with("relu_2", "#stablehlo.x<@relu_1>"));
  EXPECT_EQ(with("relu_1", "#stablehlo.x<1>"), with("relu_2", "#stablehlo.x<1>"));
}

INSTANTIATE_TEST_SUITE_P(Dialects, Symbols, testing::Bool(), [](const auto& instance) {
  return instance.param ? std::string("vhlo") : std::string("func");
});

TEST(SymbolLists, AreRenamedInTheirSlotOnly) {
  const auto with = [](const std::string& name, const std::string& attribute) {
    TestFile f;
    const auto functions = f.array({f.symbol_reference(name)});
    const auto unit = f.attribute("builtin", number(7));
    const TestOp call{.name = f.op("stablehlo", "custom_call"),
                      .dictionary = f.dictionary({{attribute, functions}})};
    TestOp function{.name = f.op("func", "func"),
                    .properties = f.property_set(number(0) + number(unit) + number(0) + number(0) +
                                                 number(f.string_attribute(name)) +
                                                 number(f.string_attribute("private") << 1 | 1)),
                    .isolated = true};
    function.regions.push_back({.blocks = {{}}});
    f.body({call, function});
    const auto digest = digest_bytecode(f.finish());
    return digest ? digest->sha256.hex() : digest.error().to_string();
  };
  EXPECT_EQ(with("body_1", "called_computations"), with("body_2", "called_computations"));
  EXPECT_NE(with("body_1", "others"), with("body_2", "others"));
}

TEST(SymbolLists, ASuffixIsAnUnderscoreAndDigits) {
  EXPECT_EQ(without_numeric_suffix("relu_12"), "relu");
  EXPECT_EQ(without_numeric_suffix("relu_1_2"), "relu_1");
  for (const char* name : {"relu", "relu1", "relu_", "_1", "relu_1a", "12", ""}) {
    EXPECT_EQ(without_numeric_suffix(name), name);
  }
}

}  // namespace
}  // namespace precast::program::bytecode
