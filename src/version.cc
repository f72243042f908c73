#include "precast/version.h"

#include "precast/precast_c.h"

namespace precast {

std::string_view version() { return PRECAST_VERSION; }

}  // namespace precast

const char* precast_library_version(void) { return PRECAST_VERSION; }
