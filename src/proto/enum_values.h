// Names of the values of XLA's enumerations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace precast::proto {

// The number of the value `name` of the enumeration that `option` takes; nothing when Precast does
// not know it. Exact case, as protobuf has it.
std::optional<std::int32_t> enum_value(std::string_view option, std::string_view name);

}  // namespace precast::proto
