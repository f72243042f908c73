// The list of effective flags against a plain model of what XLA does, and its cost.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "proto/flags_parse.h"

namespace precast::proto {
namespace {

using Flags = std::vector<Flag>;

Flags effective(const std::string& text) {
  const FlagsText flags = parse_flags_text(text);
  EXPECT_TRUE(flags.fatal.empty() && flags.unknown.empty());
  return flags.effective;
}

// Every text of up to three flags out of a pool, in every order: two texts have one list exactly
// when this plain model of XLA's parsing gives both the same fields.
TEST(FlagsText, ListsAgreeExactlyWhenTheFieldsDo) {
  struct Pool {
    std::string text;
    std::string field;
    std::string value;
    bool adds = false;
  };
  const std::vector<Pool> pool = {
      {"--xla_cpu_ftz", "ftz", "1"},
      {"--xla_cpu_ftz=false", "ftz", "0"},
      {"--xla_cpu_prefer_vector_width=1", "width", "1"},
      {"--xla_cpu_prefer_vector_width=+01", "width", "1"},
      {"--xla_disable_hlo_passes=a", "passes", "a,", true},
      {"--xla_disable_hlo_passes=a,a", "passes", "a,a,", true},
      {"--xla_disable_hlo_passes=b", "passes", "b,", true},
      {"--xla_dump_to=1", "to", "1"},
      {"--xla_dump_to='1'", "to", "1"},
  };
  const std::size_t count = pool.size() + 1;  // and nothing
  std::map<std::map<std::string, std::string>, Flags> seen;
  std::map<std::string, std::map<std::string, std::string>> by_list;
  for (std::size_t i = 0; i < count * count * count; ++i) {
    std::string text;
    std::map<std::string, std::string> fields;
    for (const std::size_t at : {i % count, i / count % count, i / count / count}) {
      if (at == pool.size()) continue;
      text += pool[at].text + " ";
      std::string& field = fields[pool[at].field];
      field = pool[at].adds ? field + pool[at].value : pool[at].value;
    }
    if (text.empty()) continue;
    const Flags flags = effective(text);
    std::string list;
    for (const Flag& flag : flags) list += flag.name + "=" + flag.value + "\n";
    EXPECT_EQ(seen.try_emplace(fields, flags).first->second, flags) << text;
    EXPECT_EQ(by_list.try_emplace(list, fields).first->second, fields) << text;
  }
}

// A text that is long in any way is read in one pass.
TEST(FlagsText, LongTextsAreNoBurden) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "--xla_disable_hlo_passes=a,b --xla_cpu_ftz ";
  EXPECT_EQ(effective(many).size(), 40'001U);
  EXPECT_EQ(parse_flags_text("--xla_cpu_ftz " + std::string(1'000'000, 'x')).ignored_tokens.size(),
            1U);
  EXPECT_EQ(effective("--xla_dump_to=" + std::string(1'000'000, 'x')).size(), 1U);
  EXPECT_EQ(parse_flags_text(std::string(1'000'000, '-')).unknown.size(), 1U);
}

}  // namespace
}  // namespace precast::proto
