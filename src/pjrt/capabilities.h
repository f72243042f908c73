// What a plugin can do, read from its function table and its chain of extensions.
#pragma once

#include "pjrt/call.h"
#include "precast/plugin.h"

namespace precast::pjrt {

// Calls nothing. The chain is walked no further than its first repetition, and never further than
// kMaxExtensions.
PluginCapabilities capabilities_of(const Api& api);

// More links than this are no chain of extensions: PJRT has 25 kinds.
inline constexpr int kMaxExtensions = 256;

// Executable_DeserializeAndLoad takes other compile options since this version.
inline constexpr ApiVersion kOverridesOptionsSince{0, 71};

}  // namespace precast::pjrt
