#include "program/text_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "precast/limits.h"

namespace precast::program {
namespace {

using testing::HasSubstr;
using Targets = std::set<std::string, std::less<>>;

std::string digest_of(const std::string& text) {
  const Result<StructuralDigest> digest = digest_text(text);
  return digest ? digest->sha256.hex() : digest.error().to_string();
}

const std::string kPlain = R"MLIR(module @m {
  func.func public @main(%arg0: tensor<4x?xf32> {jax.x = "loc(a)"
}, %arg1: f32) -> tensor<4x?xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4x?xf32>
    %1:2 = "stablehlo.while"(%0, %1#0) ({
    ^bb0(%a: f32):
      func.return
    }) {x = -1.0e+2, loc = 3} : () -> ()
    return %0 : tensor<4x?xf32>
  }
}
)MLIR";

const std::string kLocated = R"MLIR(#loc = loc(unknown)
#loc1 = loc("f(x.py":1:2 to :3) // a comment with loc( and "
module @m {
  func.func public @main(%arg0: tensor<4x?xf32> {jax.x = "loc(a)"
} loc("x"(#loc)), %arg1: f32
      loc(fused<"m">[#loc1, "y"(callsite(#loc at #loc1))])) -> tensor<4x?xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4x?xf32> loc(#loc1)
    %1:2 = "stablehlo.while"(%0, %1#0) ({
    ^bb0(%a: f32 loc("a")):
      func.return loc(#loc)
    }) {x = -1.0e+2, loc = 3} : () -> () loc(#loc)
    return %0 : tensor<4x?xf32> loc (unknown)
  } loc(#loc1)
} loc(#loc)
#loc2 = loc("end"(#loc))
)MLIR";

TEST(TextDigest, LocationsCommentsAndSpaceDoNotCount) {
  EXPECT_EQ(digest_of(kPlain), digest_of(kLocated));
  std::string spaced;
  for (const char c : kPlain) {
    spaced += c;
    if (c == '{' || c == ',') spaced += " \t\r\n // comment\n";
  }
  EXPECT_EQ(digest_of(kPlain), digest_of(spaced));
}

TEST(TextDigest, EverythingElseCounts) {
  std::map<std::string, std::string> seen;
  const auto expect_new = [&seen](const std::string& text) {
    const auto [at, added] = seen.emplace(digest_of(text), text);
    EXPECT_TRUE(added) << text << "\nis\n" << at->second;
  };
  expect_new(kPlain);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"@m", "@n"},
      {"4x?xf32> {", "5x?xf32> {"},
      {"stablehlo.add", "stablehlo.sub"},
      {"%arg0, %arg0", "%arg0, %arg1"},
      {"-1.0e+2", "-1.0e+3"},
      {"-1.0e+2", "1.0e+2"},
      {"-1.0e+2", "-1.0e +2"},
      {"loc(a)", "loc(b)"},
      {"loc(a)", "loc(a) "},
      {"%1#0", "%1#1"},
      {"^bb0", "^bb1"},
      {"public", "private"},
      {"loc = 3", "loc = loc(unknown)"},
      {"loc = 3", "loc = [loc(\"a\")]"},
      {"loc = 3", "loc = [loc(\"b\")]"},
      {"loc = 3", "loc = 4"},
      {"jax.x", "jax .x"},
  };
  for (const auto& [from, to] : changes) {
    std::string text = kPlain;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    expect_new(text.replace(at, from.size(), to));
  }
}

TEST(TextDigest, StringsAreKeptAsTheyAre) {
  EXPECT_NE(digest_of(R"("a b")"), digest_of(R"("a  b")"));
  EXPECT_NE(digest_of(R"("// no comment")"), digest_of(R"("")"));
  EXPECT_NE(digest_of(R"MLIR("a\"" loc("x"))MLIR"), digest_of(R"MLIR("a\" loc(" x)MLIR"));
  EXPECT_EQ(digest_of(R"MLIR("a\\" loc("x"))MLIR"), digest_of(R"("a\\")"));
  EXPECT_NE(digest_of(R"(@"a" "b")"), digest_of(R"(@a "b")"));
}

TEST(TextDigest, ALocationIsOnlyDroppedWhereItEndsSomething) {
  // Behind a separator or an opening bracket, and alone at the start, it is a value.
  for (const char* before : {"", "x =", "[", "(", "a,", "<", "x :", "->"}) {
    const std::string open = before;
    const std::string rest = open == "[" ? "]" : open == "(" ? ")" : "";
    EXPECT_NE(digest_of(open + " loc(\"a\")" + rest), digest_of(open + " loc(\"b\")" + rest))
        << before;
  }
  for (const char* before : {"()", "{}", "[]", "i32", "a>", "%0", "^bb1", "\"s\"", "@f", "!t.t"}) {
    const std::string head = before;
    EXPECT_EQ(digest_of(head + " loc(\"a\")"), digest_of(head)) << before;
  }
  EXPECT_NE(digest_of("x loc"), digest_of("x"));
  EXPECT_NE(digest_of("x block(\"a\")"), digest_of("x block(\"b\")"));
}

TEST(TextDigest, ALocationThatIsUsedUnderANameIsNotDecoded) {
  EXPECT_THAT(digest_of("x {a = #loc1}\n#loc1 = loc(\"f\")"),
              HasSubstr("unsupported: the location '#loc1' is used as a value"));
  EXPECT_THAT(digest_of("#here = loc(\"f\") x {a = [#here]}"), HasSubstr("'#here' is used"));
  // An alias of something else is an ordinary part.
  EXPECT_NE(digest_of("#map = affine_map<() -> ()> x {a = #map}"),
            digest_of("#map = affine_map<(d0) -> ()> x {a = #map}"));
}

TEST(TextDigest, TokensAreNotGluedTogether) {
  EXPECT_NE(digest_of("a b"), digest_of("ab"));
  EXPECT_NE(digest_of("- >"), digest_of("->"));
  EXPECT_NE(digest_of("1.0e +2"), digest_of("1.0e+2"));
  EXPECT_NE(digest_of(". . ."), digest_of("..."));
  EXPECT_NE(digest_of("%a -b"), digest_of("%a-b"));
  EXPECT_EQ(digest_of("f(a,b)"), digest_of("f ( a , b )"));
  EXPECT_EQ(digest_of("%0#1"), digest_of("%0 #1"));
}

TEST(TextDigest, DamageIsAnError) {
  EXPECT_THAT(digest_of("\"abc"), HasSubstr("a string without its closing quote at byte 0"));
  EXPECT_THAT(digest_of("@\"abc"), HasSubstr("a string without its closing quote"));
  EXPECT_THAT(digest_of("\"a\nb\""), HasSubstr("goes over the line"));
  EXPECT_THAT(digest_of("x loc(\"a\""), HasSubstr("a location is not closed"));
  EXPECT_THAT(digest_of("x loc(\"a"), HasSubstr("a string without"));
  EXPECT_THAT(digest_of("(]"), HasSubstr("a bracket does not match"));
  EXPECT_THAT(digest_of("}"), HasSubstr("a bracket does not match"));
  EXPECT_THAT(digest_of("{ ("), HasSubstr("a bracket is not closed"));
  EXPECT_THAT(digest_of(std::string("a\0b", 3)), HasSubstr("a character that MLIR"));
  EXPECT_THAT(digest_of("caf\xc3\xa9"), HasSubstr("a character that MLIR"));
  EXPECT_THAT(digest_of(std::string(limits::kMaxTextNesting + 1, '(')),
              HasSubstr("brackets nest too deep"));
  EXPECT_THAT(digest_of("x loc(" + std::string(100'000, '(')), HasSubstr("not closed"));
}

TEST(TextDigest, CustomCallsAreFound) {
  const auto scan = [](const std::string& text) {
    const Result<StructuralDigest> digest = digest_text(text);
    EXPECT_TRUE(digest);
    return digest ? digest->custom_calls : CustomCallScan();
  };
  EXPECT_EQ(scan("%0 = stablehlo.custom_call @mine(%arg0) : () -> ()").plain, Targets{"mine"});
  EXPECT_EQ(scan("\"stablehlo.custom_call\"() <{call_target_name = \"mine\"}>").plain,
            Targets{"mine"});
  EXPECT_EQ(scan("func.call @mine() \"other\""), CustomCallScan());
  EXPECT_EQ(scan("stablehlo.custom_call @xla_ffi_python_cpu_callback()").index_bound,
            Targets{"xla_ffi_python_cpu_callback"});
  EXPECT_EQ(scan("call_target_name = \"my_xla_ffi_python_cpu_callback\"").index_bound, Targets{});
  // However it is spelled and wherever it stands.
  EXPECT_EQ(scan("x = \"CustomSPMD\\50artitioning\"").process_bound,
            Targets{"CustomSPMDPartitioning"});
  EXPECT_EQ(scan("@\"InspectSharding\"").process_bound, Targets{"InspectSharding"});
}

// MLIR ends a comment at either character, so what follows a lone CR is program.
TEST(TextDigest, ALoneCarriageReturnEndsAComment) {
  const auto digest = [](const std::string& op) {
    const auto result = digest_text("module @m { // first\r  " + op + "\n}\n");
    EXPECT_TRUE(result) << result.error().to_string();
    return result->sha256;
  };
  EXPECT_NE(digest("a.sine"), digest("a.tanh"));
  const auto hidden =
      digest_text("module @m { // c\r x = a.custom_call @CustomSPMDPartitioning\n}\n");
  ASSERT_TRUE(hidden);
  EXPECT_FALSE(hidden->custom_calls.process_bound.empty());
}

}  // namespace
}  // namespace precast::program
