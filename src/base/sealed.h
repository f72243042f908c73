// Sealed: small files of Precast's own, of which one sees whether they are whole: magic (8 bytes),
// version (u32), SHA-256 of the rest (32 bytes), the rest.
#pragma once

#include <cstdint>
#include <string_view>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::base {

// `magic` has 8 bytes.
Bytes seal(std::string_view magic, std::uint32_t version, BytesView content);

// The content, within `bytes`. corrupt for anything but what seal() makes; incompatible for a
// version above `version`. Versions count from 1.
Result<BytesView> unseal(std::string_view magic, std::uint32_t version, BytesView bytes);

}  // namespace precast::base
