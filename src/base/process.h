// Which process of which machine something is of, and whether that process is no more.
#pragma once

#include <cstdint>
#include <string>

namespace precast::base {

// What is not known is empty or 0.
struct ProcessId {
  std::string boot_id;              // the kernel's, of this start of the machine
  std::uint64_t pid_namespace = 0;  // its number, which holds with boot_id
  std::int64_t pid = 0;             // in that namespace
  std::uint64_t start_ticks = 0;    // when it started: pids are used again

  bool operator==(const ProcessId&) const = default;
};

ProcessId this_process_id();

// When this process started, by the clock of the files, to a hundredth of a second; 0 when that
// cannot be found out.
std::int64_t started_unix_ns();

// Whether it is a process of this start of this machine and of this PID namespace, and there is
// none such any more, it is a zombie, or its pid belongs to another one now. False whenever that
// cannot be seen from here: it then may be alive.
bool has_certainly_ended(const ProcessId& process);

}  // namespace precast::base
