// Environment variables as a plugin sees them.
#pragma once

#include <optional>
#include <string>

#include "precast/bytes.h"

namespace precast::pjrt {

// Read with getenv, not secure_getenv: these variables are not used to decide anything for Precast,
// they mirror what the plugin, which uses getenv, takes into the code that it makes. In a
// privileged process secure_getenv would hide a value that is in effect.
std::optional<std::string> plugin_variable(const char* name);

// What is in the file at `path`, as XLA reads a file of flags: a folder counts as an empty file.
// Nothing when it cannot be read, is neither file nor folder, or is larger than
// limits::kMaxFlagsFileBytes.
std::optional<Bytes> flags_file_content(const std::string& path);

// The number of CPUs that XLA partitions for in this process: those that the process may run on,
// lowered by NPROC and PJRT_NPROC when they are positive integers. At least 1.
int effective_cpu_count();

}  // namespace precast::pjrt
