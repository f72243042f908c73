// What a plugin prints on standard error, kept back until somebody needs it.
//
// XLA logs to file descriptor 2, many lines for each load on some machines, and has no other way to
// speak. keep_back_chatter() points that descriptor at memory. What was kept back is shown when the
// command fails, and when the process ends in any way that code can notice: exit() or
// _exit() in the plugin, a fatal signal, SIGTERM. Nothing can show it after SIGKILL; --verbose
// keeps nothing back.
//
// The state is the process's: descriptor 2 is, too. Call these from the main thread.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace precast::cli {

// How much of the end of the chatter is kept, in bytes: some 200 lines.
inline constexpr std::size_t kMaxChatterBytes = 16 << 10;

// From now on descriptor 2 is kept back. Calls after the first do nothing. When the system cannot
// do it, everything goes to standard error as before.
void keep_back_chatter();

// Where the command itself writes its errors and warnings: standard error, also while descriptor 2
// is kept back.
std::FILE* own_stderr();

// Forgets all but the end of a chatter that has become long. For loops.
void trim_chatter();

// The end of what was kept back, at most kMaxChatterBytes of it after a line that says how much is
// left out; empty when there was nothing. Afterwards nothing is shown at the end of the process any
// more, and what is still printed is dropped.
std::string take_chatter();

}  // namespace precast::cli
