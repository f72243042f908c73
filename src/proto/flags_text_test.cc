#include <gtest/gtest.h>

#include "proto/canonical_options.h"

namespace precast::proto {
namespace {

using Names = std::vector<std::string>;

TEST(FileOptionsInFlags, FindsThoseThatAreSet) {
  EXPECT_EQ(file_options_in_flags(""), Names{});
  EXPECT_EQ(file_options_in_flags("--xla_cpu_max_isa=AVX2"), Names{});
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file=a.ptx"), Names{"xla_gpu_ptx_file"});
  EXPECT_EQ(file_options_in_flags("  --xla_gpu_ptx_file=b\t--a=1\n"
                                  "--xla_gpu_kernel_cache_file=c --xla_gpu_ptx_file=d"),
            (Names{"xla_gpu_kernel_cache_file", "xla_gpu_ptx_file"}));
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file='a b'"), Names{"xla_gpu_ptx_file"});
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file"), Names{"xla_gpu_ptx_file"});
}

TEST(FileOptionsInFlags, AnEmptyValueOrALongerNameIsNone) {
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file="), Names{});
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_files=a"), Names{});
  EXPECT_EQ(file_options_in_flags("--a=xla_gpu_ptx_file"), Names{});
  EXPECT_EQ(file_options_in_flags("- -- = '"), Names{});
}

TEST(FileOptionsInFlags, FindsThemEvenWhereXlaMightNot) {
  // Behind a word that stops XLA's parsing, and inside quotes: a bypass too many, never too few.
  EXPECT_EQ(file_options_in_flags("--a=1 stop --xla_gpu_ptx_file=a"), Names{"xla_gpu_ptx_file"});
  EXPECT_EQ(file_options_in_flags("\"--xla_gpu_ptx_file=a\""), Names{"xla_gpu_ptx_file"});
}

TEST(FileOptionsInFlags, OnCpuTheGpuCompilersFilesAreReadByNothing) {
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file=a.ptx", "cpu"), Names{});
  EXPECT_EQ(file_options_in_flags("--xla_gpu_ptx_file=a.ptx", "cuda"), Names{"xla_gpu_ptx_file"});
}

TEST(NamesFlagsFile, WhenTheFirstCharacterIsNoDash) {
  EXPECT_FALSE(names_flags_file(""));
  EXPECT_FALSE(names_flags_file("--xla_cpu_max_isa=AVX2"));
  EXPECT_FALSE(names_flags_file(" \t\r\n--xla_cpu_max_isa=AVX2"));
  EXPECT_FALSE(names_flags_file("-"));
  EXPECT_TRUE(names_flags_file("flags.txt"));
  EXPECT_TRUE(names_flags_file("/etc/xla_flags"));
  EXPECT_TRUE(names_flags_file(" "));  // XLA then looks for a file named " "
  EXPECT_TRUE(names_flags_file("\v--a=1"));
}

}  // namespace
}  // namespace precast::proto
