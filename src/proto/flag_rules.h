// What XLA makes of each flag in XLA_FLAGS. Internal to flags_parse.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace precast::proto {

enum class FlagKind : std::uint8_t {
  // Of these the last occurrence counts.
  boolean,
  int32,
  int64,
  float32,
  text,
  lower_text,  // read without regard to case
  upper_text,
  // Each occurrence adds values.
  comma_list,
  word_list,   // cut at white space
  whole_list,  // one value, commas and all
  text_map,    // comma list of key=value; of a key the last counts
  // A plain comma list replaces what was there; "+A,-B" adds to it and takes from it.
  modified_list,
};

struct FlagRule {
  FlagKind kind;
  // Flags of one group write one field of XLA's options, so their order counts. Most flags are
  // alone in theirs: the group is the flag's own name.
  std::string_view group;
};

// Nothing for a flag that Precast does not know; the plugin may.
std::optional<FlagRule> find_flag_rule(std::string_view name);

}  // namespace precast::proto
