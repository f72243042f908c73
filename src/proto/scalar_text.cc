#include "proto/scalar_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace precast::proto {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, lower);
}

// Removes one plus sign, which std::from_chars does not take. A second sign makes the text no
// number.
bool strip_plus(std::string_view& text) {
  if (!text.starts_with('+')) return true;
  text.remove_prefix(1);
  return !text.starts_with('+') && !text.starts_with('-');
}

bool has_digit(std::string_view text, std::string_view digits) {
  return text.find_first_of(digits) != std::string_view::npos;
}

}  // namespace

std::string_view strip_white_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::optional<std::int64_t> read_xla_integer(std::string_view text, int bits) {
  text = strip_white_space(text);
  if (!strip_plus(text)) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  const bool fits = bits == 64 || (value >= std::numeric_limits<std::int32_t>::min() &&
                                   value <= std::numeric_limits<std::int32_t>::max());
  return fits ? std::optional(value) : std::nullopt;
}

std::optional<bool> read_xla_boolean(std::string_view text) {
  if (text == "1" || equals_ignoring_case(text, "true")) return true;
  if (text == "0" || equals_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

Bytes float_effect(float value) {
  if (std::isnan(value)) return fmt::format("nan:{:#010x}", std::bit_cast<std::uint32_t>(value));
  return fmt::format("{}", value);
}

std::optional<Bytes> float_effect(std::string_view text) {
  text = strip_white_space(text);
  Bytes as_it_is = "text:" + Bytes(text);
  if (!strip_plus(text)) return std::nullopt;
  std::string_view magnitude = text;
  if (magnitude.starts_with('-')) magnitude.remove_prefix(1);
  if (magnitude.starts_with("0x") || magnitude.starts_with("0X") || magnitude.ends_with(')')) {
    return as_it_is;
  }
  float value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return as_it_is;
  if (error != std::errc() || stop != end) return std::nullopt;
  // Libraries differ in whether they report what is too large or too small, or round it.
  const std::string_view mantissa = magnitude.substr(0, magnitude.find_first_of("eE"));
  const bool rounded_away = (std::isinf(value) && has_digit(magnitude, "0123456789")) ||
                            (value == 0 && has_digit(mantissa, "123456789"));
  return rounded_away ? as_it_is : float_effect(value);
}

}  // namespace precast::proto
