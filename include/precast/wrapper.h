// Wrapper: libprecast_pjrt.so, the plugin that a client opens in place of another one so that its
// compiles go through the cache (docs/any-client.md).
//
//   PRECAST_ASSIGN(FoundPlugin plugin, find_wrapped_plugin("/usr/lib/libprecast_pjrt.so"));
//
// Nothing here opens a plugin.
#pragma once

#include <string>
#include <string_view>

#include "precast/export.h"
#include "precast/plugin.h"
#include "precast/result.h"

namespace precast {

// How the file names of the wrapper and of its copies begin; no search for a plugin finds them.
inline constexpr std::string_view kWrapperName = "libprecast_pjrt";

// The plugin that the wrapper at `wrapper_path`, libprecast_pjrt.so or a copy of it, would open in
// a process with this environment: the one that PRECAST_PJRT_PLUGIN means, else the one that the
// wrapper's file name is for. Its path is absolute and leads over no symbolic link. A short name is
// looked for as Plugin::open does. Errors: invalid_argument when nothing is named, when there is no
// such plugin, when the path is relative or leads to a wrapper; permission_denied when somebody
// else may write the plugin or a folder above it.
PRECAST_EXPORT Result<FoundPlugin> find_wrapped_plugin(const std::string& wrapper_path);

}  // namespace precast
