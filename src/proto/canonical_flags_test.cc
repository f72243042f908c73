#include <gtest/gtest.h>

#include <set>

#include "precast/limits.h"
#include "proto/canonical_options.h"
#include "proto/flag_rules.h"
#include "proto/xla_options.h"

namespace precast::proto {
namespace {

using Items = std::vector<std::pair<std::string, Bytes>>;

Items items_of(std::string_view text, std::string_view platform = "cuda",
               const ContentTexts& contents = {}) {
  Items items;
  for (OptionItem& item : canonical_flags(parse_flags_text(text), text, platform, contents)) {
    items.emplace_back(std::move(item.name), std::move(item.value));
  }
  return items;
}

TEST(CanonicalFlags, ByTheirEffect) {
  const Items one = {{"--xla_cpu_enable_fast_math", "true"},
                     {"--xla_cpu_prefer_vector_width", "256"}};
  EXPECT_EQ(items_of("--xla_cpu_enable_fast_math --xla_cpu_prefer_vector_width=256"), one);
  EXPECT_EQ(items_of("--xla_cpu_prefer_vector_width=512 --xla_cpu_prefer_vector_width=+0256\n"
                     "--xla_cpu_enable_fast_math=TRUE stop --xla_cpu_ftz"),
            one);
  EXPECT_EQ(items_of(""), Items{});
}

TEST(CanonicalFlags, WhatIsLeftOut) {
  EXPECT_EQ(items_of("--xla_dump_to=/tmp/a --xla_force_host_platform_device_count=8"), Items{});
  EXPECT_EQ(items_of("--xla_gpu_cuda_data_dir=/a --xla_gpu_ptx_file=/b", "cpu"), Items{});
  EXPECT_EQ(items_of("--xla_gpu_cuda_data_dir=/a --xla_gpu_ptx_file=/b").size(), 2u);
  EXPECT_EQ(items_of("--xla_dump_to_=/tmp/a").size(), 1u);
}

// One flag of every option: it counts with its value unless it is neutral.
TEST(CanonicalFlags, EveryOptionCountsUnlessItIsNeutral) {
  const auto value = [](FlagKind kind, bool other) -> std::string {
    switch (kind) {
      case FlagKind::boolean: return other ? "=1" : "=0";
      case FlagKind::int32:
      case FlagKind::int64:
      case FlagKind::float32: return other ? "=5" : "=4";
      case FlagKind::text_map: return other ? "=k=b" : "=k=a";
      case FlagKind::modified_list: return other ? "=+b" : "=b";
      default: return other ? "=b" : "=a";
    }
  };
  std::set<Items> seen;
  std::size_t counted = 0;
  for (const XlaOption& option : all_options()) {
    const auto rule = find_flag_rule(option.name);
    ASSERT_TRUE(rule) << option.name;
    for (const bool other : {false, true}) {
      const Items items = items_of("--" + std::string(option.name) + value(rule->kind, other));
      EXPECT_EQ(items.empty(), is_neutral_option(option.name)) << option.name;
      if (items.empty()) continue;
      ++counted;
      EXPECT_EQ(items[0].first, "--" + std::string(option.name));
      EXPECT_TRUE(seen.insert(items).second) << option.name;
    }
  }
  EXPECT_EQ(counted, 2 * (all_options().size() - 38));
}

TEST(CanonicalFlags, ContentsStandForPaths) {
  const FlagsText flags =
      parse_flags_text("--xla_gpu_ptx_file=a --xla_gpu_ptx_file=b --xla_candidate_configs_file=c");
  const auto files = file_references(flags, CompileOptions(), "cuda").value();
  const auto reader = [](const std::string& path) -> Result<FileContent> {
    return FileContent{false, {{"", path == "a" ? "one" : "two"}}};
  };
  const auto contents = read_contents(files.references, reader).value();
  const ContentTexts texts(files.references, contents);
  const auto items = canonical_flags(flags, "", "cuda", texts);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_TRUE(items[0].value.ends_with(", 3 bytes, a")) << items[0].value;
  EXPECT_TRUE(items[1].value.ends_with(", 3 bytes, b")) << items[1].value;
  EXPECT_TRUE(items[2].value.starts_with("=sha256:")) << items[2].value;  // an unknown flag
  EXPECT_NE(items[0].value.substr(0, 71), items[1].value.substr(0, 71));
}

// A process that lives with them takes them in another way than Precast does.
TEST(CanonicalFlags, WhatShouldHaveEndedTheProcessCountsAsItStands) {
  for (const std::string text : {"--xla_cpu_ftz=yes", "-x", "--xla_cpu_ftz --"}) {
    EXPECT_EQ(items_of(text), (Items{{"XLA_FLAGS", text}}));
  }
  const std::string longest(limits::kMaxKeyNameBytes - 2, 'a');
  EXPECT_EQ(items_of("--" + longest), (Items{{"--" + longest, ""}}));
  EXPECT_EQ(items_of("--a" + longest), (Items{{"XLA_FLAGS", "--a" + longest}}));
}

TEST(CanonicalFlags, LookAlikesDoNotCollide) {
  std::set<Items> seen;
  for (const std::string text :
       {"--XLA_FLAGS=-x", "-x", "--xla_unknown==x", "--xla_unknown=x", "--xla_unknown",
        "--xla_unknown=", "--xla_unknown=x --xla_cpu_ftz", "--xla_cpu_ftz --xla_unknown=x",
        "--xla_cpu_max_isa=a,b", "--xla_cpu_max_isa='a b'", "--xla_disable_hlo_passes=a,b",
        "--xla_disable_hlo_passes=b,a", "--xla_disable_hlo_passes='a b'",
        "--xla_disable_hlo_passes=a,", "--xla_gpu_ptx_file=a,b"}) {
    EXPECT_TRUE(seen.insert(items_of(text)).second) << text;
  }
}

}  // namespace
}  // namespace precast::proto
