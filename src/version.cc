#include "precast/version.h"

namespace precast {

std::string_view version() { return PRECAST_VERSION; }

}  // namespace precast
