// A process of its own for what may end a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precast::cache {

// How a child was, and what it said.
struct ChildEnd {
  bool started = false;
  bool in_time = false;
  bool stopped = false;  // somebody ended it from outside
  bool crashed = false;  // it ended by a signal, not from outside
  std::string output;    // what it printed on standard output and error: the first 8 KiB
  std::string tail;      // and the last 8 KiB
  std::string how;       // how it did not start or end: "signal 6 (Aborted)", "exit code 1"
};

// Runs `command ARGUMENTS...` with this process's environment, at most `timeout_s` seconds, and
// waits for it. Its standard input is a pipe that ends when this process does, in which nothing is
// ever written: a child that watches it does not outlive its parent. Uses posix_spawn, so the
// caller may have threads.
ChildEnd run_child(const std::string& command, const std::vector<std::string>& arguments,
                   int timeout_s);

}  // namespace precast::cache
