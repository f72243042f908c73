// Settings: what the environment says to the wrapper, which has no other way to be told anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "precast/cache.h"

namespace precast::interpose {

struct Settings {
  std::string plugin;  // PRECAST_PJRT_PLUGIN: a short name or an absolute path; may be empty
  std::optional<LogLevel> log = LogLevel::warn;  // PRECAST_LOG; nothing: say nothing
  bool disabled = false;                         // PRECAST_DISABLE
  bool summary = false;                          // PRECAST_SUMMARY
  std::string label;                             // PRECAST_LABEL
  Policy policy = Policy::read_write;            // PRECAST_POLICY
  double min_compile_ms = 0;                     // PRECAST_MIN_COMPILE_MS
  double wait_limit_s = 0;                       // PRECAST_WAIT_LIMIT_S; 0: the cache's own
  // One sentence about each variable with a value that means nothing: it counts as not set.
  std::vector<std::string> complaints;
};

// `variable` gives the value of a variable, or null.
Settings read_settings(const std::function<const char*(const char*)>& variable);

}  // namespace precast::interpose
