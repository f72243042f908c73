// What bytes are that are no program, for error messages.
#pragma once

#include <string>

#include "precast/bytes.h"

namespace precast::program {

// "is a Precast artifact; ...": what the bytes look like and what to do about it, to follow the
// name of the file. Empty when they look like nothing known.
std::string look_alike(BytesView bytes);

}  // namespace precast::program
