// Probe: opens a plugin in a child process and tells what it can do.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "precast/named_value.h"
#include "precast/result.h"

namespace precast::cli {

// The most that --timeout takes: a day.
inline constexpr int kLongestTimeout = 86'400;

struct ProbeRequest {
  std::string plugin;  // a path
  std::vector<NamedValue> client_options;
  // Compile a tiny program, store it, load it back and run it.
  bool self_test = false;
  int timeout_s = 60;
};

// What the plugin says, as an object:
//   "api_version", "struct_size", "attributes", "capabilities"  when it opened
//   "file"      {"path", "bytes", "sha256"} of what is mapped
//   "client"    {"platform", "platform_version", "cpu_count", "devices", "cpu"}
//   "self_test" {"ok", "compile", "load"}: outcomes
//   "problems"  [{"what", "next_step"}]: everything that failed, a crash among them
// It never fails: what goes wrong is a problem.
Json probe_plugin(const ProbeRequest& request);

}  // namespace precast::cli
