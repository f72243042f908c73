#include "precast/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "precast/limits.h"

namespace precast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = PRECAST_TESTDATA "/programs/jax/";

Program program_of(Bytes bytes) {
  Result<Program> program = Program::from_bytes(std::move(bytes), "test");
  EXPECT_TRUE(program) << program.error().to_string();
  return std::move(program).value();
}

Outline outline_of_file(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  EXPECT_TRUE(file) << kFolder << name;
  return outline_of(program_of({std::istreambuf_iterator<char>(file), {}}));
}

std::vector<std::string> told(const Outline& left, const Outline& right) {
  std::vector<std::string> lines;
  for (const OutlineDifference& difference : diff(left, right)) {
    lines.push_back(to_string(difference));
  }
  return lines;
}

// A program with a private function, whose name, constant and body may be chosen.
struct Text {
  std::string helper = "relu_3";
  std::string constant = "1.0";
  std::string extra_line = "";
  std::string operands = "%arg0, %c";

  Outline outline() const {
    return outline_of(
        program_of("module @m {\n"
                   "  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {\n" +
                   extra_line + "    %c = stablehlo.constant dense<" + constant +
                   "> : tensor<f32>\n"
                   "    %0 = stablehlo.add " +
                   operands +
                   " : tensor<f32>\n"
                   "    %1 = func.call @" +
                   helper +
                   "(%0) : (tensor<f32>) -> tensor<f32>\n"
                   "    return %1 : tensor<f32>\n"
                   "  }\n"
                   "  func.func private @" +
                   helper +
                   "(%arg0: tensor<f32>) -> tensor<f32> {\n"
                   "    %0 = stablehlo.abs %arg0 : tensor<f32>\n"
                   "    return %0 : tensor<f32>\n"
                   "  }\n"
                   "}\n"));
  }
};

TEST(TextOutline, HoldsFunctionsAndLines) {
  const Outline outline = Text().outline();
  ASSERT_EQ(outline.functions.size(), 3U);
  EXPECT_EQ(outline.functions[0].name, "");
  EXPECT_EQ(outline.functions[1].name, "main");
  EXPECT_EQ(outline.functions[2].name, "relu");
  std::vector<std::string> names;
  for (const OutlineOp& op : outline.functions[1].ops) names.push_back(outline.op_names[op.name]);
  EXPECT_THAT(names, ElementsAre("func.func", "stablehlo.constant", "stablehlo.add", "func.call",
                                 "line", "line"));
}

TEST(TextOutline, SaysWhichLineDiffers) {
  const Outline base = Text().outline();
  EXPECT_THAT(told(base, Text().outline()), IsEmpty());
  EXPECT_THAT(told(base, Text{.helper = "relu_17"}.outline()), IsEmpty());
  EXPECT_THAT(
      told(base, Text{.constant = "2.0"}.outline()),
      ElementsAre("function 'main', operation 1 (stablehlo.constant): its attributes differ"));
  EXPECT_THAT(told(base, Text{.operands = "%c, %arg0"}.outline()),
              ElementsAre("function 'main', operation 2 (stablehlo.add): its operands differ"));
  EXPECT_THAT(
      told(base, Text{.extra_line = "    %z = stablehlo.abs %arg0 : tensor<f32>\n"}.outline()),
      ElementsAre("function 'main', operation -/1: absent / stablehlo.abs"));
  EXPECT_THAT(
      told(Text{.extra_line = "    %z = stablehlo.abs %arg0 : tensor<f32>\n"}.outline(), base),
      ElementsAre("function 'main', operation 1/-: stablehlo.abs / absent"));
}

TEST(TextOutline, SaysThatAFunctionHasAnotherNameOrIsGone) {
  const Outline base = Text().outline();
  EXPECT_THAT(told(base, Text{.helper = "gelu"}.outline()),
              testing::Contains("function 'relu': named 'relu' / named 'gelu'"));
  Outline without = base;
  without.functions.pop_back();
  EXPECT_THAT(told(base, without), ElementsAre("function 'relu': 5 operations / absent"));
  EXPECT_THAT(told(without, base), ElementsAre("function 'relu': absent / 5 operations"));
}

TEST(BytecodeOutline, DoesNotSeeDebugInfoAndNumbering) {
  for (const std::string name : {"mlp_step", "cond", "convolution", "gather", "linear_algebra"}) {
    const Outline raw = outline_of_file(name + ".raw.mlirbc");
    ASSERT_EQ(raw.none_because, "") << name;
    ASSERT_FALSE(raw.functions.empty()) << name;
    EXPECT_EQ(raw, outline_of_file(name + ".stripped.mlirbc")) << name;
    EXPECT_THAT(
        told(outline_of_file(name + ".vhlo.mlirbc"), outline_of_file(name + ".moved.vhlo.mlirbc")),
        IsEmpty())
        << name;
  }
}

TEST(BytecodeOutline, NamesFunctionsAndOperations) {
  const Outline outline = outline_of_file("mlp_step.raw.mlirbc");
  const auto main = std::ranges::find(outline.functions, "main", &OutlineFunction::name);
  ASSERT_NE(main, outline.functions.end());
  EXPECT_EQ(outline.op_names[main->ops.front().name], "func.func");
  EXPECT_THAT(outline.op_names, testing::Contains("stablehlo.dot_general"));
  EXPECT_EQ(main->op_count, main->ops.size());
}

TEST(Outline, OfAnHloModuleSaysWhyThereIsNone) {
  std::ifstream file(PRECAST_TESTDATA "/programs/add.hlo.binpb", std::ios::binary);
  const Outline outline = outline_of(program_of({std::istreambuf_iterator<char>(file), {}}));
  EXPECT_THAT(outline.none_because, HasSubstr("HLO"));
  EXPECT_EQ(*Outline::decode(outline.encode()), outline);
}

TEST(Outline, StoredFormReadsBack) {
  const Outline outline = outline_of_file("mlp_step.vhlo.mlirbc");
  const Bytes bytes = outline.encode();
  const Result<Outline> decoded = Outline::decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(*decoded, outline);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<Outline> cut = Outline::decode(BytesView(bytes).substr(0, size));
    EXPECT_TRUE(!cut || *cut != outline) << size;
  }
}

TEST(Outline, ADamagedOneIsAnError) {
  Outline outline = Text().outline();
  outline.functions[1].ops[0].name = 99;
  EXPECT_THAT(Outline::decode(outline.encode()).error().to_string(),
              HasSubstr("an operation has no name"));
  EXPECT_THAT(Outline::decode(Bytes(limits::kMaxOutlineBytes + 1, 'x')).error().to_string(),
              HasSubstr("more than the limit"));
  EXPECT_EQ(Outline::decode("").error().code(), ErrorCode::incompatible);
}

TEST(Outline, ThatIsCutStaysBelowItsLimitAndSaysSo) {
  std::string body;
  for (int i = 0; i < 3000; ++i)
    body += "%x = stablehlo.abs %y : tensor<" + std::to_string(i) + "xf32>\n";
  const std::string text =
      "module {\nfunc.func @main() {\n" + body + "}\nfunc.func @other() {\n}\n}\n";
  const Program whole = program_of(text);
  const std::size_t limit = 8192;
  const Outline outline = outline_of(whole, limit);
  EXPECT_LE(outline.encode().size(), limit);
  EXPECT_GT(outline.left_out_ops(), 2000U);
  EXPECT_EQ(outline.left_out_functions, 0U);
  EXPECT_EQ(outline.functions.at(1).op_count, 3002U);
  // A difference behind the cut is still known to be in the function.
  std::string other = text;
  other.replace(other.find("2999xf32"), 8, "1x1xf32 ");
  EXPECT_THAT(told(outline, outline_of(program_of(other), limit)),
              ElementsAre(HasSubstr("function 'main': 3002 operations, of which")));
  const Outline tiny = outline_of(whole, 100);
  EXPECT_LE(tiny.encode().size(), 100U);
  EXPECT_GT(tiny.left_out_functions, 0U);
}

TEST(OutlineDiff, KeepsToItsLimit) {
  std::string body;
  for (int i = 0; i < 100; ++i)
    body += "%x = stablehlo.abs %y : tensor<" + std::to_string(i) + "xf32>\n";
  const Outline left = outline_of(program_of("module {\nfunc.func @main() {\n" + body + "}\n}\n"));
  std::ranges::replace(body, 'y', 'x');
  std::ranges::replace(body, 'f', 'i');
  const Outline right = outline_of(program_of("module {\nfunc.func @main() {\n" + body + "}\n}\n"));
  EXPECT_EQ(diff(left, right, 7).size(), 7U);
  EXPECT_EQ(diff(left, right, 1000).size(), 100U);
}

}  // namespace
}  // namespace precast
