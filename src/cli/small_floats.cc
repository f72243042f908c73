#include "cli/small_floats.h"

#include <bit>
#include <cmath>

namespace precast::cli {
namespace {

constexpr std::uint32_t kSign = 0x80000000;
constexpr std::uint32_t kInfinity = 0x7f800000;

}  // namespace

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // A NaN stays one, whatever rounding would do to its payload.
  if ((bits & ~kSign) > kInfinity) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  const std::uint32_t to_even = 0x7fff + (bits >> 16 & 1);
  return static_cast<std::uint16_t>((bits + to_even) >> 16);
}

float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t f16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits & kSign) >> 16);
  const std::uint32_t magnitude = bits & ~kSign;
  if (magnitude > kInfinity) return static_cast<std::uint16_t>(sign | 0x7e00);
  const float size = std::bit_cast<float>(magnitude);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (size < 0x1p-14F) {
    // Subnormal: a multiple of 2^-24. nearbyint rounds ties to even; 1024 carries into the
    // smallest normal number, which is right.
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24F)));
  }
  const std::uint32_t to_even = 0xfff + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | (((magnitude + to_even) >> 13) - (112U << 10)));
}

float f16_value(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace precast::cli
