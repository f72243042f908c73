// What 'precast doctor' looks at besides plugins: the cache folder and the environment.
#pragma once

#include <string>

#include "cli/json.h"

namespace precast::cli {

// {"directory", "origin", "usable", "writable", "entries", "bytes", "free_bytes"} of the cache
// folder (`directory` empty: the default one). What would not work is appended to `problems`
// ({"what", "next_step"}), what is only worth knowing to `notes`.
Json look_at_cache(const std::string& directory, Json& problems, Json& notes);

// The variables that Precast, XLA or a plugin read and that are set, by name.
Json look_at_environment(Json& problems, Json& notes);

}  // namespace precast::cli
