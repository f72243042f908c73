#include "precast/named_value.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "pjrt/named_values.h"

namespace precast {
namespace {

using Value = NamedValue::Value;
using Integers = std::vector<std::int64_t>;

Value parsed(const std::string& text) {
  auto value = NamedValue::parse(text);
  EXPECT_TRUE(value.has_value()) << text << ": " << (value ? "" : value.error().to_string());
  return value ? value->value : Value(std::string("not parsed"));
}

TEST(NamedValueParse, GuessesTheType) {
  EXPECT_EQ(parsed("a=true"), Value(true));
  EXPECT_EQ(parsed("a=false"), Value(false));
  EXPECT_EQ(parsed("a=4"), Value(std::int64_t{4}));
  EXPECT_EQ(parsed("a=-9223372036854775808"), Value(INT64_MIN));
  EXPECT_EQ(parsed("a=0,1,-2"), Value(Integers{0, 1, -2}));
  EXPECT_EQ(parsed("a=0.5"), Value(0.5F));
  EXPECT_EQ(parsed("a=-1.5e3"), Value(-1500.0F));
}

TEST(NamedValueParse, KeepsTheRestAsText) {
  EXPECT_EQ(parsed("a="), Value(std::string()));
  EXPECT_EQ(parsed("a=bfc"), Value(std::string("bfc")));
  EXPECT_EQ(parsed("a=True"), Value(std::string("True")));
  EXPECT_EQ(parsed("a=1.2.3"), Value(std::string("1.2.3")));
  EXPECT_EQ(parsed("a=1,"), Value(std::string("1,")));
  EXPECT_EQ(parsed("a=1,x"), Value(std::string("1,x")));
  EXPECT_EQ(parsed("a=x=y"), Value(std::string("x=y")));
  EXPECT_EQ(parsed("a=4 "), Value(std::string("4 ")));
}

TEST(NamedValueParse, TakesAWantedType) {
  EXPECT_EQ(parsed("a:string=4"), Value(std::string("4")));
  EXPECT_EQ(parsed("a:string=99999999999999999999"), Value(std::string("99999999999999999999")));
  EXPECT_EQ(parsed("a:int=4"), Value(std::int64_t{4}));
  EXPECT_EQ(parsed("a:ints=4"), Value(Integers{4}));
  EXPECT_EQ(parsed("a:ints="), Value(Integers{}));
  EXPECT_EQ(parsed("a:float=1"), Value(1.0F));
  EXPECT_EQ(parsed("a:bool=true"), Value(true));
}

TEST(NamedValueParse, TakesTheNameApart) {
  const auto value = NamedValue::parse("x:y:int=4");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->name, "x:y");
}

struct Refused {
  const char* text;
  const char* why;
};

TEST(NamedValueParse, RefusesWhatDoesNotFit) {
  const std::vector<Refused> cases = {
      {"a", "no '='"},
      {"", "no '='"},
      {"=4", "no name"},
      {":int=4", "no name"},
      {"a:number=4", "string, int, ints, float or bool"},
      {"a:int=4.5", "64-bit integer"},
      {"a:int=", "64-bit integer"},
      {"a:ints=1,,2", "comma-separated"},
      {"a:ints=1,", "comma-separated"},
      {"a:float=big", "number"},
      {"a:bool=1", "true or false"},
      {"a=9223372036854775808", "name:string=value"},
  };
  for (const auto& [text, why] : cases) {
    const auto value = NamedValue::parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code(), ErrorCode::invalid_argument) << text;
    EXPECT_NE(value.error().message().find(why), std::string::npos) << value.error().message();
  }
}

TEST(NamedValueText, IsParsedToTheSameValue) {
  const std::vector<Value> values = {
      Value(true),
      Value(std::int64_t{-4}),
      Value(Integers{1, 13, 0}),
      Value(0.1F),
      Value(1.0F),
      Value(-2.0F),
      Value(1e30F),
      Value(1e-30F),
      Value(std::string("bfc")),
  };
  for (const Value& value : values) {
    const NamedValue named{"n", value};
    EXPECT_EQ(parsed("n=" + named.value_text()), value) << named.value_text();
  }
  EXPECT_EQ((NamedValue{"n", Integers{1, 13, 0}}.value_text()), "1,13,0");
}

TEST(NamedValueAbi, GoesThereAndBack) {
  const std::vector<NamedValue> values = {
      {"text", std::string("with\0nul", 8)},
      {"empty", std::string()},
      {"integer", std::int64_t{-7}},
      {"integers", Integers{1, 2, 3}},
      {"none", Integers{}},
      {"number", 0.5F},
      {"truth", true},
  };
  const std::vector<PJRT_NamedValue> abi = pjrt::to_abi(values);
  ASSERT_EQ(abi.size(), values.size());
  for (const PJRT_NamedValue& value : abi) EXPECT_EQ(value.struct_size, 56U);  // array stride
  EXPECT_EQ(abi[0].value_size, 8U);
  EXPECT_EQ(abi[2].value_size, 1U);
  EXPECT_EQ(pjrt::from_abi(abi.data(), abi.size()), values);
}

TEST(NamedValueAbi, KeepsTheNameOfAnUnknownType) {
  PJRT_NamedValue abi{};
  abi.name = "future";
  abi.name_size = 6;
  abi.type = static_cast<PJRT_NamedValue_Type>(9);
  const std::vector<NamedValue> expected = {{"future", std::string("type<9>")}};
  EXPECT_EQ(pjrt::from_abi(&abi, 1), expected);
  EXPECT_TRUE(pjrt::from_abi(nullptr, 3).empty());
}

}  // namespace
}  // namespace precast
