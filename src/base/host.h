// This machine and its clock, as they are written down for people.
#pragma once

#include <cstdint>
#include <string>

namespace precast::base {

// The name that the machine gives itself; empty when it has none. Not unique, and proves nothing.
std::string host_name();

// Seconds since 1970, of a clock that may be set.
std::int64_t unix_seconds();

}  // namespace precast::base
