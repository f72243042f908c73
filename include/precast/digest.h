// Digest: a SHA-256 value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/export.h"

namespace precast {

struct PRECAST_EXPORT Digest {
  std::array<std::uint8_t, 32> bytes{};

  // The SHA-256 of `bytes`.
  static Digest of(BytesView bytes);

  // 64 lower-case hexadecimal digits.
  std::string hex() const;
  // The digest that hex() gives as `digits`; nothing for any other text.
  static std::optional<Digest> from_hex(std::string_view digits);
  BytesView view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

  auto operator<=>(const Digest&) const = default;
};

}  // namespace precast
