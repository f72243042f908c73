// The plugin of Precast, libprecast_pjrt.so, which wraps the one that compiles.
#pragma once

#include <string>

#include "precast/plugin.h"
#include "precast/result.h"

namespace precast::cli {

// Where the wrapper is: `given`, or beside the library that this command runs with. Absolute and
// without symbolic links. invalid_argument when there is none.
Result<std::string> find_wrapper(const std::string& given);

// The plugin that `name_or_path` means, without opening it: a path, or a short name; empty: the
// first that is found. The path is absolute. invalid_argument when there is none.
Result<FoundPlugin> choose_plugin(const std::string& name_or_path);

}  // namespace precast::cli
