// Fixed-width integers in persisted bytes, little-endian whatever the host is.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "precast/bytes.h"

namespace precast::base {

template <std::unsigned_integral T>
void append_little_endian(Bytes& bytes, T value) {
  std::array<char, sizeof(T)> little{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    little[i] = static_cast<char>(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  bytes.append(little.data(), little.size());
}

// Requires offset + sizeof(T) <= bytes.size().
template <std::unsigned_integral T>
T read_little_endian(BytesView bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(value << 8) | static_cast<std::uint8_t>(bytes[offset + i]);
  }
  return value;
}

}  // namespace precast::base
