// Numbers and booleans as XLA reads them from text, in its flags and in the overrides of a compile,
// and the one text that stands for each value in a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "precast/bytes.h"

namespace precast::proto {

// Decimal, with white space around it, a sign and leading zeros allowed; nothing when XLA refuses
// the text or the number does not fit `bits` (32 or 64).
std::optional<std::int64_t> read_xla_integer(std::string_view text, int bits);

// true, false, 1, 0 in any case, as in flags; nothing else is a boolean to XLA.
std::optional<bool> read_xla_boolean(std::string_view text);

// The text that stands for a float: the shortest that gives it back; a NaN by its bits.
Bytes float_effect(float value);

// The same for a text that XLA would read as a float; nothing when XLA refuses it. What XLA reads
// but this function does not compute (hexadecimal floats, NaNs with a payload, numbers beyond the
// range) stands as itself behind "text:".
std::optional<Bytes> float_effect(std::string_view text);

// ASCII white space as XLA strips it.
std::string_view strip_white_space(std::string_view text);

}  // namespace precast::proto
