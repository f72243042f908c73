// XLA's flags where nobody knows under which environment the plugin's first client was made.
#pragma once

#include <vector>

#include "precast/client.h"
#include "precast/result.h"
#include "proto/canonical_options.h"
#include "proto/flags_parse.h"

namespace precast::cache {

// What is in force, from the debug options of a trivial compile, which the plugin puts into what it
// serializes: items "effective.<option>", and those of `flags` that no option shows. Compiles at
// most once for a plugin. unsupported when the plugin's executables do not show their options, or
// when a file that they name cannot be read.
Result<std::vector<proto::OptionItem>> flags_read_back(const Client& client,
                                                       const proto::FlagsText& flags);

}  // namespace precast::cache
