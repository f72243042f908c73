// NamedValue to and from the ABI's PJRT_NamedValue.
#pragma once

#include <cstddef>
#include <vector>

#include "pjrt/c_abi.h"
#include "precast/named_value.h"

namespace precast::pjrt {

// Points into `values`, which must outlive the result unchanged. Elements of an array: struct_size
// is exact.
std::vector<PJRT_NamedValue> to_abi(const std::vector<NamedValue>& values);

// Copies. A type that this version does not know gives the text "type<n>" as value, so that the
// name is not lost.
std::vector<NamedValue> from_abi(const PJRT_NamedValue* values, std::size_t count);

}  // namespace precast::pjrt
