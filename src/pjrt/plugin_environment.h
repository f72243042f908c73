// Environment variables as a plugin sees them.
#pragma once

#include <optional>
#include <string>

namespace precast::pjrt {

// Read with getenv, not secure_getenv: these variables are not used to decide anything for Precast,
// they mirror what the plugin, which uses getenv, takes into the code that it makes. In a
// privileged process secure_getenv would hide a value that is in effect.
std::optional<std::string> plugin_variable(const char* name);

// The number of CPUs that XLA partitions for in this process: those that the process may run on,
// lowered by NPROC and PJRT_NPROC when they are positive integers. At least 1.
int effective_cpu_count();

}  // namespace precast::pjrt
