// The traps of XLA_FLAGS. What is expected here was read back from a real plugin; tests/flags asks
// the plugin again.
#include "proto/flags_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace precast::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Flags = std::vector<Flag>;

Flags effective(BytesView text) {
  const FlagsText flags = parse_flags_text(text);
  EXPECT_THAT(flags.fatal, IsEmpty()) << text;
  EXPECT_THAT(flags.unknown, IsEmpty()) << text;
  EXPECT_EQ(flags.flags_file, std::nullopt) << text;
  return flags.effective;
}

const Flags kFastMath = {{"xla_cpu_enable_fast_math", "true"}};

TEST(FlagsText, OneValueHasOneText) {
  for (const std::string value :
       {"", "=true", "=True", "=TRUE", "=tRuE", "=1", "=\"true\"", "='1'"}) {
    EXPECT_EQ(effective("--xla_cpu_enable_fast_math" + value), kFastMath) << value;
  }
  for (const std::string value : {"=128", "=+128", "=0128", "=\" 128 \"", "=\" \v128\f\""}) {
    EXPECT_EQ(effective("--xla_cpu_prefer_vector_width" + value),
              (Flags{{"xla_cpu_prefer_vector_width", "128"}}))
        << value;
  }
  for (const std::string value : {"=0.5", "=.5", "=5e-1", "=+0.50", "=\" 0.5\""}) {
    EXPECT_EQ(effective("--xla_gpu_autotune_gemm_rtol" + value),
              (Flags{{"xla_gpu_autotune_gemm_rtol", "0.5"}}))
        << value;
  }
  EXPECT_EQ(effective("--xla_cpu_max_isa=avx2"), effective("--xla_cpu_max_isa=AVX2"));
  EXPECT_EQ(effective("--xla_gpu_pipeline_all_gather=On"),
            effective("--xla_gpu_pipeline_all_gather=on"));
}

TEST(FlagsText, OtherValuesHaveOtherTexts) {
  EXPECT_NE(effective("--xla_cpu_ftz=false"), effective("--xla_cpu_ftz"));
  EXPECT_NE(effective("--xla_dump_to=a"), effective("--xla_dump_to=A"));
  EXPECT_NE(effective("--xla_dump_to=1"), effective("--xla_dump_to=01"));
  EXPECT_NE(effective("--xla_dump_to="), Flags());
  EXPECT_NE(effective("--xla_gpu_autotune_gemm_rtol=0"),
            effective("--xla_gpu_autotune_gemm_rtol=-0"));
  EXPECT_NE(effective("--xla_gpu_autotune_gemm_rtol=1e-60"),
            effective("--xla_gpu_autotune_gemm_rtol=1e-61"));
  EXPECT_NE(effective("--xla_gpu_shape_checks=RUNTIME"),
            effective("--xla_gpu_shape_checks=IGNORE"));
}

TEST(FlagsText, WhiteSpaceSeparates) {
  const Flags both = {{"xla_cpu_enable_fast_math", "true"}, {"xla_cpu_ftz", "false"}};
  EXPECT_EQ(effective("--xla_cpu_enable_fast_math --xla_cpu_ftz=0"), both);
  EXPECT_EQ(effective("\n--xla_cpu_enable_fast_math\r\n\t--xla_cpu_ftz=0  "), both);
  EXPECT_EQ(effective("--xla_cpu_ftz=0 --xla_cpu_enable_fast_math"), both);
  EXPECT_EQ(effective(""), Flags());
}

TEST(FlagsText, QuotesWorkBehindTheEqualsSignOnly) {
  const auto text = [](const std::string& written) {
    const Flags flags = effective("--xla_dump_to=" + written);
    return flags.size() == 1 ? flags.front().value : "not one flag";
  };
  EXPECT_EQ(text("\"a b\""), "a b");
  EXPECT_EQ(text("'a b'"), "a b");
  EXPECT_EQ(text("\"a\\\"b\""), "a\"b");
  EXPECT_EQ(text("\"a\\\\b\""), "a\\b");
  EXPECT_EQ(text("\"a\\nb\""), "anb");
  EXPECT_EQ(text("'a\\"), "a\\");
  EXPECT_EQ(text("\"abc"), "abc");
  EXPECT_EQ(text("\"abc\\"), "abc\\");
  EXPECT_EQ(text("a\"b"), "a\"b");
  EXPECT_EQ(text("=x"), "=x");
  EXPECT_EQ(text("\xc3\xa9"), "\xc3\xa9");
  // Behind the closing quote the next word begins, with or without white space.
  EXPECT_THAT(effective("--xla_dump_to=\"a\"--xla_cpu_ftz"),
              ElementsAre(Flag{"xla_cpu_ftz", "true"}, Flag{"xla_dump_to", "a"}));
}

TEST(FlagsText, StopsAtTheFirstWordWithoutADash) {
  const auto ignored = [](BytesView text) { return parse_flags_text(text).ignored_tokens; };
  const FlagsText flags = parse_flags_text("--xla_cpu_enable_fast_math foo --xla_cpu_ftz=0 bar");
  EXPECT_EQ(flags.effective, kFastMath);
  EXPECT_THAT(flags.ignored_tokens, ElementsAre("foo", "--xla_cpu_ftz=0", "bar"));
  EXPECT_EQ(effective("--xla_cpu_enable_fast_math false"), kFastMath);
  EXPECT_THAT(ignored("--xla_cpu_enable_fast_math false"), ElementsAre("false"));
  EXPECT_THAT(ignored("--xla_cpu_enable_fast_math #x --xla_cpu_ftz"),
              ElementsAre("#x", "--xla_cpu_ftz"));
  EXPECT_THAT(ignored("--xla_dump_to=\"a\"b --xla_cpu_ftz"), ElementsAre("b", "--xla_cpu_ftz"));
  EXPECT_THAT(ignored("--xla_dump_to=a\\ b"), ElementsAre("b"));
  EXPECT_THAT(ignored("--xla_cpu_enable_fast_math"), IsEmpty());
  // What is not a flag any more cannot be fatal.
  EXPECT_THAT(parse_flags_text("--xla_cpu_ftz x -y --xla_cpu_ftz=maybe").fatal, IsEmpty());
}

TEST(FlagsText, SaysWhatEndsTheProcess) {
  const char* const fatal[] = {
      "-xla_cpu_ftz",
      "-",
      "--",
      "--xla_cpu_ftz --",
      "--help",
      "---xla_cpu_ftz",  // unknown: "-xla_cpu_ftz" is no name
      "--xla_cpu_ftz=yes",
      "--xla_cpu_ftz=t",
      "--xla_cpu_ftz=01",
      "--xla_cpu_ftz=",
      "--xla_cpu_ftz=\" true\"",
      "--xla_cpu_prefer_vector_width",
      "--xla_cpu_prefer_vector_width=",
      "--xla_cpu_prefer_vector_width=0x80",
      "--xla_cpu_prefer_vector_width=- 1",
      "--xla_cpu_prefer_vector_width=+-1",
      "--xla_cpu_prefer_vector_width=128.0",
      "--xla_cpu_prefer_vector_width=2147483648",
      "--xla_reduce_window_rewrite_base_length=9223372036854775808",
      "--xla_gpu_autotune_gemm_rtol=1e",
      "--xla_gpu_autotune_gemm_rtol=",
      "--xla_gpu_autotune_gemm_rtol=+-1",
      "--xla_dump_to",
      "--xla_disable_hlo_passes",
      "--xla_gpu_enable_command_buffer=fusion,+cublas",
  };
  for (const char* text : fatal) {
    const FlagsText flags = parse_flags_text(text);
    EXPECT_TRUE(!flags.fatal.empty() || !flags.unknown.empty()) << text;
    for (const FatalFlag& flag : flags.fatal) EXPECT_FALSE(flag.why.empty()) << text;
  }
  const FlagsText several =
      parse_flags_text("--xla_cpu_ftz=maybe -x --xla_cpu_enable_fast_math --");
  EXPECT_THAT(
      several.fatal,
      ElementsAre(FatalFlag{"--xla_cpu_ftz=maybe", "is no boolean; XLA takes true, false, 1 and 0"},
                  FatalFlag{"-x", "begins with one dash; XLA's flags begin with two"},
                  FatalFlag{"--", "stands at or behind '--', where XLA knows no flags"}));
}

TEST(FlagsText, LimitsOfIntegers) {
  EXPECT_THAT(effective("--xla_cpu_prefer_vector_width=-2147483648"),
              ElementsAre(Flag{"xla_cpu_prefer_vector_width", "-2147483648"}));
  EXPECT_THAT(effective("--xla_reduce_window_rewrite_base_length=9223372036854775807"),
              ElementsAre(Flag{"xla_reduce_window_rewrite_base_length", "9223372036854775807"}));
  EXPECT_EQ(effective("--xla_cpu_prefer_vector_width=-0"),
            effective("--xla_cpu_prefer_vector_width=0"));
}

TEST(FlagsText, OfAScalarTheLastCounts) {
  EXPECT_THAT(effective("--xla_cpu_ftz --xla_cpu_prefer_vector_width=1 --xla_cpu_ftz=0"),
              ElementsAre(Flag{"xla_cpu_ftz", "false"}, Flag{"xla_cpu_prefer_vector_width", "1"}));
}

TEST(FlagsText, ListsGrow) {
  const Flags abc = {{"xla_disable_hlo_passes", "a"},
                     {"xla_disable_hlo_passes", "b"},
                     {"xla_disable_hlo_passes", "c"}};
  EXPECT_EQ(effective("--xla_disable_hlo_passes=a,b --xla_disable_hlo_passes=c"), abc);
  EXPECT_EQ(
      effective("--xla_disable_hlo_passes=a --xla_cpu_ftz --xla_disable_hlo_passes=b,c").size(),
      4U);
  EXPECT_NE(effective("--xla_disable_hlo_passes=c,a,b"), abc);
  EXPECT_THAT(effective("--xla_disable_hlo_passes="),
              ElementsAre(Flag{"xla_disable_hlo_passes", ""}));
  EXPECT_EQ(effective("--xla_disable_hlo_passes=a,,b").size(), 3U);
  // Files are taken whole, words are cut at white space.
  EXPECT_THAT(effective("--xla_gpu_ptx_file=a,b --xla_gpu_ptx_file=c"),
              ElementsAre(Flag{"xla_gpu_ptx_file", "a,b"}, Flag{"xla_gpu_ptx_file", "c"}));
  EXPECT_THAT(effective("--xla_gpu_ptx_compiler_extra_flags=' a  b,c '"),
              ElementsAre(Flag{"xla_gpu_ptx_compiler_extra_flags", "a"},
                          Flag{"xla_gpu_ptx_compiler_extra_flags", "b,c"}));
}

TEST(FlagsText, OfAMapKeyTheLastCounts) {
  const std::string name = "xla_backend_extra_options";
  EXPECT_THAT(effective("--" + name + "=b=1,a --" + name + "=b=2=3"),
              ElementsAre(Flag{name, "a="}, Flag{name, "b=2=3"}));
  EXPECT_EQ(effective("--" + name + "=a"), effective("--" + name + "=a="));
  EXPECT_THAT(effective("--" + name + "=,=d"), ElementsAre(Flag{name, "=d"}));
}

TEST(FlagsText, APlainListReplacesAndChangesAddUp) {
  const std::string flag = "--xla_gpu_enable_command_buffer=";
  const auto values = [&](const std::string& text) {
    std::vector<Bytes> result;
    for (const Flag& each : effective(text)) result.push_back(each.value);
    return result;
  };
  EXPECT_THAT(values(flag + "fusion " + flag + "cublas"), ElementsAre("CUBLAS"));
  EXPECT_THAT(values(flag + "fusion " + flag), ElementsAre(""));
  EXPECT_THAT(values(flag + "+cudnn " + flag + "fusion " + flag + "-cublas"),
              ElementsAre("FUSION", "-CUBLAS"));
  EXPECT_THAT(values(flag + "+cudnn " + flag + "-cublas"), ElementsAre("+CUDNN", "-CUBLAS"));
  // Nothing but commas changes nothing.
  EXPECT_THAT(values(flag + "+cudnn " + flag + ","), ElementsAre("+CUDNN", ","));
}

// Two flags for one field: the last of both counts, so their order must not get lost. Measured for
// the scheduler, where either order gives its own value.
TEST(FlagsText, OrderCountsForFlagsOfOneField) {
  const std::string older = "--xla_cpu_enable_concurrency_optimized_scheduler";
  const std::string newer = "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED";
  EXPECT_NE(effective(older + " " + newer), effective(newer + " " + older));
  EXPECT_EQ(effective(older + "=0 " + newer + " " + older), effective(newer + " " + older));
  EXPECT_EQ(effective(newer + " --xla_cpu_ftz " + older),
            effective("--xla_cpu_ftz " + newer + " " + older));
  const std::string one_shot = "--xla_gpu_unsupported_use_all_reduce_one_shot_kernel";
  const std::string kernels = "--xla_gpu_experimental_use_collective_kernels=all_gather";
  EXPECT_NE(effective(one_shot + " " + kernels), effective(kernels + " " + one_shot));
  EXPECT_EQ(effective(one_shot + " " + kernels).size(), 2U);
}

TEST(FlagsText, UnknownFlagsKeepEverythingInPlace) {
  const FlagsText flags = parse_flags_text(
      "--xla_new=1 --xla_cpu_ftz --xla_cpu_ftz=0 --xla_new --xla_cpu_enable_fast_math --xla_new=");
  EXPECT_THAT(flags.unknown, ElementsAre("xla_new", "xla_new", "xla_new"));
  EXPECT_THAT(flags.effective,
              ElementsAre(Flag{"xla_new", "=1"}, Flag{"xla_cpu_ftz", "true"},
                          Flag{"xla_cpu_ftz", "false"}, Flag{"xla_new", ""},
                          Flag{"xla_cpu_enable_fast_math", "true"}, Flag{"xla_new", "="}));
  EXPECT_THAT(parse_flags_text("--noxla_cpu_ftz").unknown, ElementsAre("noxla_cpu_ftz"));
  EXPECT_THAT(parse_flags_text("--XLA_CPU_FTZ").unknown, ElementsAre("XLA_CPU_FTZ"));
  EXPECT_THAT(parse_flags_text("--xla_cpu_ftz\v--xla_cpu_ftz").unknown.size(), 1U);
}

TEST(FlagsText, ATextWithoutADashIsAPath) {
  EXPECT_EQ(parse_flags_text("some/flags").flags_file, "some/flags");
  EXPECT_EQ(parse_flags_text(" ").flags_file, " ");
  EXPECT_EQ(parse_flags_text(" flags ").flags_file, " flags ");
  EXPECT_EQ(parse_flags_text("\v--xla_cpu_ftz").flags_file, "\v--xla_cpu_ftz");
  EXPECT_EQ(parse_flags_text("# --xla_cpu_ftz").flags_file, "# --xla_cpu_ftz");
  EXPECT_THAT(parse_flags_text("some/flags --xla_cpu_ftz=maybe").fatal, IsEmpty());
  EXPECT_EQ(flags_file_path(""), std::nullopt);
  EXPECT_EQ(flags_file_path(" -"), std::nullopt);
  EXPECT_EQ(flags_file_path(BytesView("\0x", 2)), std::nullopt);
}

TEST(FlagsFile, HoldsFlagsAndNoPath) {
  const FlagsText flags =
      parse_flags_file("f", "--xla_cpu_enable_fast_math\n# a remark\n--xla_cpu_ftz=0\n");
  EXPECT_EQ(flags.flags_file, "f");
  EXPECT_EQ(flags.effective, kFastMath);
  EXPECT_THAT(flags.ignored_tokens, ElementsAre("#", "a", "remark", "--xla_cpu_ftz=0"));
  EXPECT_THAT(parse_flags_file("f", "other/flags").effective, IsEmpty());
  EXPECT_THAT(parse_flags_file("f", "").effective, IsEmpty());
  EXPECT_THAT(parse_flags_file("f", "\xef\xbb\xbf--xla_cpu_ftz").effective, IsEmpty());
}

TEST(FlagsFile, NulsDoWhatTheyDoInXla) {
  const auto in_file = [](BytesView content) { return parse_flags_file("f", content).effective; };
  using namespace std::string_view_literals;
  EXPECT_THAT(in_file("--xla_dump_to=a\0b --xla_cpu_ftz"sv),
              ElementsAre(Flag{"xla_cpu_ftz", "true"}, Flag{"xla_dump_to", "a"}));
  EXPECT_THAT(in_file("--xla_cpu_ftz\0xx=\"1\" --xla_dump_to=a"sv),
              ElementsAre(Flag{"xla_cpu_ftz", "true"}, Flag{"xla_dump_to", "a"}));
  EXPECT_THAT(in_file("--xla_dump_to=\0a b\0--xla_cpu_ftz"sv),
              ElementsAre(Flag{"xla_cpu_ftz", "true"}, Flag{"xla_dump_to", "a b"}));
  EXPECT_THAT(in_file("--xla_cpu_ftz \0 --xla_dump_to=a"sv),
              ElementsAre(Flag{"xla_cpu_ftz", "true"}));
}

TEST(FlagsText, SaysWhenXlaReadsTheEnvironmentAgain) {
  EXPECT_TRUE(parse_flags_text("--xla_flags_reset").reads_environment_again);
  EXPECT_TRUE(parse_flags_text("--xla_flags_reset=0 --xla_flags_reset=1").reads_environment_again);
  EXPECT_FALSE(parse_flags_text("--xla_flags_reset --xla_flags_reset=0").reads_environment_again);
  EXPECT_FALSE(parse_flags_text("--xla_cpu_ftz").reads_environment_again);
}

}  // namespace
}  // namespace precast::proto
