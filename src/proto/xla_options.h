// XLA's options (the fields of xla.DebugOptions): names, numbers, types, and what is known about
// their effect.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace precast::proto {

// The version of the lists behind is_neutral_option(). In the key: a change of the lists raises it.
inline constexpr int kNeutralOptionsVersion = 1;

enum class OptionType : std::uint8_t {
  boolean,
  int32,
  int64,
  float32,
  text,
  enumeration,
  text_list,
  enumeration_list,
  message_list,
  text_map,
};
std::string_view to_string(OptionType type);

struct XlaOption {
  std::string_view name;
  std::uint32_t number;
  OptionType type;
};

// Null when Precast does not know the option.
const XlaOption* find_option(std::string_view name);
const XlaOption* find_option(std::uint32_t number);
// Every known option, sorted by name.
std::span<const XlaOption> all_options();

// Options that only write dump files or log lines. Loading an executable with them set writes
// again.
bool is_dump_option(std::string_view name);

// Options that change neither code nor configuration: the dump options, and those that only matter
// when a client is created.
bool is_neutral_option(std::string_view name);

}  // namespace precast::proto
