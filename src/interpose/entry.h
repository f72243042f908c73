// Entry: what GetPjrtApi of the wrapper does.
#pragma once

#include <string>

#include "interpose/settings.h"
#include "pjrt/c_abi.h"

namespace precast::interpose {

// The table that the host gets: that of the wrapper, of the real plugin itself when the cache is
// disabled, or a refusal (refusal.h). `wrapper_path` is the wrapper's own file. Never null.
const PJRT_Api* open_wrapped(const Settings& settings, const std::string& wrapper_path);

}  // namespace precast::interpose
