// Byte strings.
//
// std::string owns bytes and std::string_view looks at them, because that is what both neighbours
// of Precast take: PJRT (char pointers and sizes) and protozero. They hold arbitrary bytes, NULs
// included.
#pragma once

#include <string>
#include <string_view>

namespace precast {

using Bytes = std::string;           // owned
using BytesView = std::string_view;  // looked at

}  // namespace precast
