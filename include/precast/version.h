// The version of Precast. Formats have versions of their own (docs/format.md, docs/key.md).
#pragma once

#include <string_view>

#include "precast/export.h"

#define PRECAST_VERSION_MAJOR 0
#define PRECAST_VERSION_MINOR 1
#define PRECAST_VERSION_PATCH 0
#define PRECAST_VERSION "0.1.0"

namespace precast {

// The version of the library that is loaded; PRECAST_VERSION is that of the headers.
PRECAST_EXPORT std::string_view version();

}  // namespace precast
