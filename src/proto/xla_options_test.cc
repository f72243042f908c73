#include "proto/xla_options.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace precast::proto {
namespace {

TEST(XlaOptions, AreFoundByNameAndByNumber) {
  ASSERT_EQ(all_options().size(), 326u);
  for (const XlaOption& option : all_options()) {
    EXPECT_EQ(find_option(option.name)->number, option.number);
    EXPECT_EQ(find_option(option.number)->name, option.name);
    EXPECT_TRUE(option.name.starts_with("xla_")) << option.name;
  }
  EXPECT_EQ(find_option("xla_cpu_max_isa")->number, 333u);
  EXPECT_EQ(find_option(std::uint32_t{109})->name, "xla_dump_to");
  EXPECT_EQ(find_option("xla_cpu_max_is"), nullptr);
  EXPECT_EQ(find_option(""), nullptr);
  EXPECT_EQ(find_option("zzz"), nullptr);
  EXPECT_EQ(find_option(std::uint32_t{1}), nullptr);
  EXPECT_EQ(find_option(~std::uint32_t{0}), nullptr);
}

TEST(XlaOptions, TypesOfOneOfEach) {
  const auto type = [](const char* name) { return find_option(name)->type; };
  EXPECT_EQ(type("xla_cpu_enable_fast_math"), OptionType::boolean);
  EXPECT_EQ(type("xla_cpu_prefer_vector_width"), OptionType::int32);
  EXPECT_EQ(type("xla_gpu_redzone_padding_bytes"), OptionType::int64);
  EXPECT_EQ(type("xla_gpu_autotune_gemm_rtol"), OptionType::float32);
  EXPECT_EQ(type("xla_cpu_max_isa"), OptionType::text);
  EXPECT_EQ(type("xla_cpu_scheduler_type"), OptionType::enumeration);
  EXPECT_EQ(type("xla_disable_hlo_passes"), OptionType::text_list);
  EXPECT_EQ(type("xla_gpu_enable_command_buffer"), OptionType::enumeration_list);
  EXPECT_EQ(type("xla_enable_nccl_symmetric_buffers_for_collectives"), OptionType::message_list);
  EXPECT_EQ(type("xla_backend_extra_options"), OptionType::text_map);
}

TEST(XlaOptions, EveryListedNameIsAnOption) {
  std::set<std::string> dumps;
  std::set<std::string> neutral;
  for (const XlaOption& option : all_options()) {
    if (is_dump_option(option.name)) dumps.emplace(option.name);
    if (is_neutral_option(option.name)) neutral.emplace(option.name);
  }
  // The counts of the lists: a misspelt name would be missing here. A change needs another
  // kNeutralOptionsVersion.
  EXPECT_EQ(dumps.size(), 37u);
  EXPECT_EQ(neutral.size(), 38u);
  EXPECT_EQ(kNeutralOptionsVersion, 1);
}

TEST(XlaOptions, WhatChangesTheExecutableIsNotNeutral) {
  for (const char* name :
       {"xla_embed_ir_in_executable", "xla_hlo_profile", "xla_cpu_enable_fast_math",
        "xla_gpu_autotune_level", "xla_gpu_generate_line_info", "xla_gpu_cuda_data_dir",
        "xla_gpu_executable_embed_debug_info", "xla_backend_optimization_level",
        "xla_gpu_load_autotune_results_from", "xla_cpu_parallel_codegen_split_count"}) {
    ASSERT_NE(find_option(name), nullptr) << name;
    EXPECT_FALSE(is_neutral_option(name)) << name;
  }
}

TEST(XlaOptions, NamesAreExactNotPrefixes) {
  for (const char* name : {"xla_dump", "xla_dump_", "xla_dump_to_", "xla_dump_x", "dump_to", ""}) {
    EXPECT_FALSE(is_neutral_option(name)) << name;
  }
}

TEST(XlaOptions, TypesHaveNames) {
  std::set<std::string_view> names;
  for (int type = 0; type <= static_cast<int>(OptionType::text_map); ++type) {
    names.insert(to_string(static_cast<OptionType>(type)));
  }
  EXPECT_EQ(names.size(), 10u);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace precast::proto
