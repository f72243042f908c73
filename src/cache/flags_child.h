// A process of its own for what may end a process.
#pragma once

#include <string>
#include <string_view>

namespace precast::cache {

// The last words of a process that lived.
inline constexpr std::string_view kAlive = "precast: the plugin lives with these flags\n";

struct FlagsChild {
  bool started = false;
  bool in_time = false;
  std::string output;    // what it printed, the first of it
  bool alive = false;    // its last words were kAlive
  bool stopped = false;  // somebody ended it from outside
  std::string how;       // how it did not start or end: "signal 6 (Aborted)", "exit code 1"
};

// Runs `command check-flags --plugin PLUGIN` with this process's environment, at most `timeout_s`
// seconds, and waits for it.
FlagsChild run_flags_child(const std::string& command, const std::string& plugin, int timeout_s);

}  // namespace precast::cache
