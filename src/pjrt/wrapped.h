// Wrapped: which plugin Precast's own plugin wraps, and whether it may.
#pragma once

#include <string>
#include <string_view>

#include "pjrt/find.h"
#include "precast/plugin.h"
#include "precast/result.h"

namespace precast::pjrt {

// The short name that a copy of the wrapper is for: "cpu" of "/a/libprecast_pjrt_cpu.so"; empty
// when the file's name says nothing.
std::string name_in(std::string_view wrapper_path);

// The plugin that `wanted` (PRECAST_PJRT_PLUGIN) means, or, when that is empty, the file name of
// the wrapper. The result's path is real: no link is followed later. Errors: invalid_argument when
// nothing is named, when there is none, when the path is relative or leads to a wrapper;
// permission_denied when somebody else may write the file or a folder above it: neither root, nor
// the user of this process, nor whoever owns the wrapper itself.
Result<FoundPlugin> find_wrapped(const std::string& wanted, const std::string& wrapper_path,
                                 const SearchEnvironment& environment);

}  // namespace precast::pjrt
