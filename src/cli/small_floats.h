// The two 16-bit floating types, which C++20 lacks.
#pragma once

#include <cstdint>

namespace precast::cli {

// To the nearest value, ties to even; beyond the range to infinity.
std::uint16_t f16_bits(float value);
std::uint16_t bf16_bits(float value);
float f16_value(std::uint16_t bits);
float bf16_value(std::uint16_t bits);

}  // namespace precast::cli
