// Which custom calls a program makes, and what they mean for caching.
//
// A compiled custom call holds the name and the configuration of its target, not the target. That
// is right for a target that every process registers alike; a target that stands for something of
// one process needs the front end's help, or must not be cached.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "precast/bytes.h"

namespace precast::program {

// The version of the table of targets. Raise it with every change.
inline constexpr std::uint32_t kCustomCallRulesVersion = 1;

// Append only: the numbers stand in key records.
enum class CustomCallClass : std::uint8_t {
  // The program says all there is to know. Every target that is not in the table.
  plain = 1,
  // The n-th callback of the front end: only a front end that binds its callbacks again, by index,
  // may use the executable in another process.
  index_bound = 2,
  // The configuration holds an address or a handle of one process.
  process_bound = 3,
};
std::string_view to_string(CustomCallClass c);

// Exact names: one that merely resembles a name of the table is plain.
CustomCallClass classify_custom_call(std::string_view target);

// Whether XLA, or the kernel behind the call, says how a call of this target is divided among
// partitions. For any other a host may have registered a rule of its own with the plugin, which is
// not in the program.
bool has_known_partitioning(std::string_view target);

struct CustomCallScan {
  std::set<std::string, std::less<>> plain;
  std::set<std::string, std::less<>> index_bound;
  std::set<std::string, std::less<>> process_bound;
  // More plain targets than limits::kMaxCustomCallTargets, or one with a very long name, or bytes
  // that could not be decoded: some are not listed. The other two sets are always complete.
  bool plain_truncated = false;

  void add(std::string_view target);
  bool operator==(const CustomCallScan&) const = default;
};

// For bytes that could not be decoded: names every target of the table whose name occurs anywhere,
// even as the end of a longer one. Finds no plain targets.
CustomCallScan scan_bytes_for_custom_calls(BytesView bytes);

}  // namespace precast::program
