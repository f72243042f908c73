// Values of options by effect. Which values XLA takes, and what it makes of them, was measured on a
// real plugin; tests/flags asks it again.
#include "proto/option_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "proto/test_messages.h"

namespace precast::proto {
namespace {

using testing::number;
using testing::packed;
using testing::real;
using testing::real32;
using testing::text;

// The values of xla.OptionOverrideProto.
Bytes as_text(BytesView value) { return text(1, value); }
Bytes as_bool(std::int64_t value) { return number(2, value); }
Bytes as_int(std::int64_t value) { return number(3, value); }
Bytes as_double(double value) { return real(4, value); }

const char* const kBool = "xla_cpu_enable_fast_math";
const char* const kInt32 = "xla_cpu_prefer_vector_width";
const char* const kInt64 = "xla_reduce_window_rewrite_base_length";
const char* const kFloat = "xla_gpu_autotune_gemm_rtol";
const char* const kText = "xla_cpu_max_isa";
const char* const kEnum = "xla_gpu_shape_checks";
const char* const kTexts = "xla_disable_hlo_passes";
const char* const kEnums = "xla_gpu_disable_async_collectives";
const char* const kMap = "xla_gpu_analytical_latency_estimator_options";
const char* const kMessages = "xla_enable_nccl_symmetric_buffers_for_collectives";

Bytes effect(std::string_view name, const Bytes& value) {
  return override_effect(find_option(name), value).value_or("nothing");
}

bool refused(std::string_view name, const Bytes& value) {
  return effect(name, value).starts_with("refused:0x");
}

TEST(OverrideEffect, OneEffectHasOneText) {
  struct Case {
    const char* option;
    const char* effect;
    std::vector<Bytes> values;
  };
  const Case cases[] = {
      {kBool, "true", {as_bool(1), as_bool(5), as_text("True")}},
      {kBool, "false", {as_bool(0), as_text("False")}},
      {kInt32, "128", {as_int(128), as_text("128"), as_text(" +0128 ")}},
      {kInt32, "-1", {as_int(-1), as_text("-1")}},
      {kInt64,
       "9223372036854775807",
       {as_int(std::numeric_limits<std::int64_t>::max()), as_text("9223372036854775807")}},
      {kFloat, "0.5", {as_double(0.5), as_text("0.5"), as_text("5e-1"), as_text(" +.5 ")}},
      {kFloat, "0.1", {as_double(0.1), as_double(static_cast<double>(0.1F)), as_text("0.1")}},
      {kFloat, "inf", {as_text("inf"), as_text("INFINITY")}},
      {kEnum,
       "2",
       {as_int(2), as_text("2"), as_text(" 2 "), as_text("COMPILE_TIME"),
        as_int((std::int64_t{1} << 32) + 2)}},
      {kEnums,
       "1,3",
       {as_text("ALLREDUCE,REDUCESCATTER"), as_text("1,3"), as_text("ALLREDUCE,+3")}},
      {kEnums, "1", {as_text("ALLREDUCE"), as_int(1)}},
      {kTexts, "a,b", {as_text("a,b")}},
      {kText, "avx2", {as_text("avx2")}},
  };
  for (const Case& each : cases) {
    for (const Bytes& value : each.values) {
      EXPECT_EQ(effect(each.option, value), each.effect) << base::to_hex(value);
    }
  }
}

TEST(OverrideEffect, WhatXlaRefusesIsNoValue) {
  for (const Bytes& value : {as_text("true"), as_text("1"), as_text(""), as_int(1), as_double(1)}) {
    EXPECT_TRUE(refused(kBool, value)) << base::to_hex(value);
  }
  for (const Bytes& value : {as_int(std::int64_t{1} << 32), as_text("4294967296"), as_double(128),
                             as_bool(1), as_text("")}) {
    EXPECT_TRUE(refused(kInt32, value)) << base::to_hex(value);
  }
  for (const Bytes& value : {as_double(0), as_double(-1), as_double(1e39), as_double(1e-40),
                             as_int(1), as_text("1e"), as_text("")}) {
    EXPECT_TRUE(refused(kFloat, value)) << base::to_hex(value);
  }
  for (const Bytes& value : {as_text(""), as_text("not a name"), as_bool(1), as_double(1)}) {
    EXPECT_TRUE(refused(kEnum, value)) << base::to_hex(value);
  }
  for (const Bytes& value : {as_text("+ALLREDUCE"), as_text("ALLREDUCE,"), as_bool(1)}) {
    EXPECT_TRUE(refused(kEnums, value)) << base::to_hex(value);
  }
  EXPECT_TRUE(refused(kText, as_int(1)));
  EXPECT_TRUE(refused(kTexts, as_int(1)));
  EXPECT_TRUE(refused(kMap, as_text("a=b")));
  EXPECT_TRUE(refused(kMessages, as_text("allreduce")));
  EXPECT_TRUE(refused(kInt32, ""));  // a value that is not set
}

TEST(OverrideEffect, TheEmptyTextClearsWhatIsRepeated) {
  for (const char* name : {kTexts, kEnums, kMap, kMessages})
    EXPECT_EQ(effect(name, as_text("")), "");
  EXPECT_EQ(effect(kText, as_text("")), "");
}

TEST(OverrideEffect, UnknownNamesOfEnumerationValuesStand) {
  EXPECT_EQ(effect(kEnum, as_text("NEW_CHECKS")), "NEW_CHECKS");
  EXPECT_EQ(effect(kEnum, as_text("runtime")), "runtime");
  EXPECT_EQ(effect(kEnums, as_text("NEW_OP,ALLREDUCE")), "NEW_OP,1");
  // Its numbers changed from one XLA to another, so name and number are not known to be one.
  EXPECT_NE(effect("xla_gpu_enable_command_buffer", as_text("CUBLASLT")),
            effect("xla_gpu_enable_command_buffer", as_text("8")));
}

TEST(OverrideEffect, AnUnknownOptionCountsByTypeAndValue) {
  const Bytes values[] = {as_text("1"), as_int(1), as_bool(1), as_double(1), as_text("true")};
  std::vector<Bytes> effects;
  for (const Bytes& value : values) effects.push_back(*override_effect(nullptr, value));
  EXPECT_THAT(effects, ::testing::ElementsAre("text:1", "int:1", "bool:true",
                                              "double:0x3ff0000000000000", "text:true"));
}

TEST(OverrideEffect, OfSeveralValuesTheLastCounts) {
  EXPECT_EQ(effect(kInt32, as_int(1) + as_text("2")), "2");
  EXPECT_EQ(effect(kInt32, as_text("2") + as_int(1)), "1");
}

TEST(OverrideEffect, UnknownAndDamagedMessagesCountRaw) {
  EXPECT_EQ(override_effect(find_option(std::string_view(kInt32)), number(9, 1)), std::nullopt);
  EXPECT_EQ(override_effect(find_option(std::string_view(kInt32)), number(1, 1)), std::nullopt);
  EXPECT_EQ(override_effect(find_option(std::string_view(kInt32)), "\x0a\xff"), std::nullopt);
}

// No text can be mistaken for what stands in place of a refused value.
TEST(OverrideEffect, TextsCannotForgeARefusal) {
  const Bytes refusal = effect(kText, as_int(1));
  EXPECT_NE(effect(kText, as_text(refusal)), refusal);
  EXPECT_NE(effect(kText, as_text("text:" + refusal)), effect(kText, as_text(refusal)));
  EXPECT_NE(effect(kText, as_text("text:a")), effect(kText, as_text("a")));
}

// All pairs of small values, for an option of each type: one text exactly when a plain model of XLA
// makes one value of both, or when both are the same bytes.
TEST(OverrideEffect, AllPairsOfSmallValues) {
  std::vector<Bytes> values = {"", as_text("refused:0x"), as_text("text:")};
  for (const char* each :
       {"",      "0",    "1",       "01",     "+1",        "-1",  "-0", " 1", "1.0", "1e0", "True",
        "False", "true", "RUNTIME", "IGNORE", "ALLREDUCE", "1,0", "1,", ",",  "a",   "a,b"}) {
    values.push_back(as_text(each));
  }
  for (const int each : {0, 1, 2, -1}) {
    values.push_back(as_int(each));
    values.push_back(as_bool(each));
    values.push_back(as_double(each));
  }
  // What XLA makes of it; by the way a test would say it, not by the code's own rules.
  using Model = std::optional<std::string>;
  const auto integer = [](const std::string& t) -> Model {
    const std::map<std::string, std::string> known = {
        {"0", "0"}, {"1", "1"}, {"01", "1"}, {"+1", "1"}, {"-1", "-1"}, {"-0", "0"}, {" 1", "1"}};
    const auto found = known.find(t);
    return found == known.end() ? Model() : Model(found->second);
  };
  const auto model = [&](const char* option, const Bytes& value) -> Model {
    if (value.empty()) return std::nullopt;
    const char kind = value[0];
    const std::string t = kind == '\x0a' ? value.substr(2) : "";
    base::FieldReader reader(value);
    if (!reader.next()) return std::nullopt;
    const std::int64_t varint = static_cast<std::int64_t>(reader.field().value);
    const double real_value = std::bit_cast<double>(reader.field().value);
    const bool is_text = kind == '\x0a', is_bool = kind == '\x10', is_int = kind == '\x18';
    if (option == kBool) {
      if (is_text && (t == "True" || t == "False")) return t == "True" ? "1" : "0";
      return is_bool ? Model(varint != 0 ? "1" : "0") : Model();
    }
    if (option == kInt32 || option == kInt64) {
      return is_text ? integer(t) : is_int ? Model(std::to_string(varint)) : Model();
    }
    if (option == kFloat) {
      if (is_text && (t == "1.0" || t == "1e0")) return "1";
      if (is_text && t == "-0") return "-0";
      if (is_text) return integer(t);
      const bool is_double = !is_bool && !is_int;
      return is_double && real_value > 0 ? Model(std::to_string(static_cast<int>(real_value)))
                                         : Model();
    }
    const auto enum_number = [&](const std::string& name) -> Model {
      if (option == kEnum && name == "IGNORE") return "0";
      if (option == kEnum && name == "RUNTIME") return "1";
      if (option == kEnums && name == "ALLREDUCE") return "1";
      if (const Model found = integer(name)) return found;
      const bool is_name = !name.empty() && name.find_first_of(" .,:+-") == std::string::npos;
      return is_name ? Model("name " + name) : Model();
    };
    if (option == kEnum) {
      return is_text ? enum_number(t) : is_int ? Model(std::to_string(varint)) : Model();
    }
    if (option == kEnums) {
      if (is_text && t.empty()) return "none";
      if (is_text && t == "1,0") return "1 and 0";
      return is_text ? enum_number(t) : is_int ? Model(std::to_string(varint)) : Model();
    }
    if (option == kText || option == kTexts) return is_text ? Model("as it is: " + t) : Model();
    return is_text && t.empty() ? Model("none") : Model();
  };
  for (const char* option :
       {kBool, kInt32, kInt64, kFloat, kText, kEnum, kTexts, kEnums, kMap, kMessages}) {
    for (const Bytes& a : values) {
      for (const Bytes& b : values) {
        const Model model_a = model(option, a);
        const Model model_b = model(option, b);
        const bool same = model_a && model_b ? *model_a == *model_b : a == b;
        EXPECT_EQ(effect(option, a) == effect(option, b), same)
            << option << ": " << base::to_hex(a) << " " << effect(option, a) << " and "
            << base::to_hex(b) << " " << effect(option, b);
      }
    }
  }
}

std::vector<base::WireField> fields_of(const Bytes& message) {
  std::vector<base::WireField> fields;
  base::FieldReader reader(message);
  while (reader.next()) fields.push_back(reader.field());
  return fields;
}

Bytes field_effect(std::string_view name, const Bytes& message) {
  return debug_option_effect(*find_option(name), fields_of(message)).value_or("nothing");
}

TEST(DebugOptionEffect, SpeaksAsOverridesDo) {
  const Bytes message = number(99, 1);
  EXPECT_EQ(field_effect(kBool, message), effect(kBool, as_bool(1)));
  const Bytes width = number(308, -1);
  EXPECT_EQ(field_effect(kInt32, width), effect(kInt32, as_text("-1")));
  const Bytes length = number(293, -5);
  EXPECT_EQ(field_effect(kInt64, length), effect(kInt64, as_int(-5)));
  const Bytes rtol = real32(316, 0.1F);
  EXPECT_EQ(field_effect(kFloat, rtol), effect(kFloat, as_text("0.1")));
  const Bytes isa = text(333, "text:AVX2");
  EXPECT_EQ(field_effect(kText, isa), effect(kText, as_text("text:AVX2")));
  const Bytes checks = number(170, 1);
  EXPECT_EQ(field_effect(kEnum, checks), effect(kEnum, as_text("RUNTIME")));
  const Bytes ops = packed(289, {1, 3});
  EXPECT_EQ(field_effect(kEnums, ops), effect(kEnums, as_text("ALLREDUCE,REDUCESCATTER")));
}

TEST(DebugOptionEffect, ScalarsTakeTheLastAndListsAddUp) {
  const Bytes twice = number(99, 1) + number(99, 0);
  EXPECT_EQ(field_effect(kBool, twice), "false");
  const Bytes list = packed(289, {1, 3}) + number(289, 2) + packed(289, {});
  EXPECT_EQ(field_effect(kEnums, list), "1,3,2");
}

TEST(DebugOptionEffect, WrongTypesCountRaw) {
  const Bytes as_bytes = text(99, "x");
  EXPECT_EQ(field_effect(kBool, as_bytes), "nothing");
  const Bytes mixed = number(99, 1) + text(99, "x");
  EXPECT_EQ(field_effect(kBool, mixed), "nothing");
  const Bytes damaged = text(289, "\xff");
  EXPECT_EQ(field_effect(kEnums, damaged), "nothing");
  const Bytes passes = text(30, "a");
  EXPECT_EQ(field_effect(kTexts, passes), "nothing");
}

}  // namespace
}  // namespace precast::proto
