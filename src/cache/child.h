// A process of its own for what may end a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precast::cache {

// The number that an inherited descriptor has in a child.
inline constexpr int kInheritedFd = 3;

// How a child was, and what it said.
struct ChildEnd {
  bool started = false;
  bool in_time = false;
  bool stopped = false;  // somebody ended it from outside
  bool crashed = false;  // it ended by a signal, not from outside
  bool unseen = false;   // how it ended cannot be known, or it has not ended yet
  std::string output;    // what it printed on standard output and error: the first 8 KiB
  std::string tail;      // and the last 256 KiB
  std::string how;       // how it did not start or end: "signal 6 (Aborted)", "exit code 1"
};

// Runs `command ARGUMENTS...` with this process's environment, at most `timeout_s` seconds, and
// waits for it. Then it is killed; what does not end within 5 s, since the kernel holds it, is left
// alone, and stays among this process's children. With `inherited` 0 or more the child has that
// descriptor as kInheritedFd. Its standard input is a pipe that ends when this process does, in
// which nothing is ever written: a child that watches it does not outlive its parent. Uses
// posix_spawn, so the caller may have threads.
ChildEnd run_child(const std::string& command, const std::vector<std::string>& arguments,
                   int timeout_s, int inherited = -1);

}  // namespace precast::cache
