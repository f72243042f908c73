// What 'precast doctor --pjrt' looks at: what a client that knows nothing of Precast would open
// here.
#pragma once

#include "cli/json.h"
#include "cli/output.h"

namespace precast::cli {

// {"wrapper": path or null,
//  "clients": [{"variable", "name", "library", "is_wrapper"}]: what variables tell clients to open,
//  "plugin": {"name", "path", "origin"} that the wrapper would open, or null,
//  "refusal": why it would open none, or null,
//  "api_version", "platform": what a client sees through it, or null}.
// What would not work is appended to `problems` ({"what", "next_step"}), what is only worth knowing
// to `notes`. The wrapper is opened in a child process.
Json look_at_unchanged_clients(int timeout_s, Json& problems, Json& notes);

void print_unchanged_clients(const Json& seen, Output& out);

}  // namespace precast::cli
