// Values of XLA options as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::proto {

// The whole text as a number; nothing when it is none or out of range.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<float> parse_float(std::string_view text);
// true, false, 1, 0 in any case.
std::optional<bool> parse_boolean(std::string_view text);

// The OptionOverrideProto that makes XLA set `name` to `text`, with the value type that XLA wants
// for the option's type. invalid_argument when the text does not fit.
Result<Bytes> encode_option_value(std::string_view name, std::string_view text);

}  // namespace precast::proto
