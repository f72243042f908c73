#include "proto/option_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "base/wire.h"
#include "proto/field_numbers.h"
#include "proto/xla_options.h"

namespace precast::proto {
namespace {

namespace fields = option_override;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Bytes text_value(std::string_view text) {
  Bytes value;
  base::append_bytes(value, fields::kText, text);
  return value;
}

Bytes bool_value(bool flag) {
  Bytes value;
  base::append_varint(value, fields::kBool, flag ? 1 : 0);
  return value;
}

Bytes int_value(std::int64_t number) {
  Bytes value;
  base::append_varint(value, fields::kInt, static_cast<std::uint64_t>(number));
  return value;
}

// XLA takes a double only when it is at least the smallest normal float; it parses the rest from
// text.
Bytes float_value(float number, std::string_view text) {
  if (!(number >= std::numeric_limits<float>::min()) || !std::isfinite(number)) {
    return text_value(text);
  }
  Bytes value;
  base::append_double(value, fields::kDouble, static_cast<double>(number));
  return value;
}

// An option that Precast does not know: the type that the text looks like.
Bytes value_by_look(std::string_view text) {
  if (const auto number = parse_integer(text)) return int_value(*number);
  if (const auto flag = parse_boolean(text)) return bool_value(*flag);
  if (const auto number = parse_float(text); number && std::isfinite(*number)) {
    return float_value(*number, text);
  }
  return text_value(text);
}

Error misfit(const XlaOption& option, std::string_view text, const std::string& hint) {
  return {ErrorCode::invalid_argument, "option '" + std::string(option.name) + "' takes a " +
                                           std::string(to_string(option.type)) + ", not '" +
                                           std::string(text) + "'" + hint};
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

std::optional<float> parse_float(std::string_view text) { return parse_number<float>(text); }

std::optional<bool> parse_boolean(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  return std::nullopt;
}

Result<Bytes> encode_option_value(std::string_view name, std::string_view text) {
  const XlaOption* option = find_option(name);
  if (option == nullptr) return value_by_look(text);
  switch (option->type) {
    case OptionType::boolean: {
      const auto flag = parse_boolean(text);
      if (!flag) return misfit(*option, text, "; use true or false");
      return bool_value(*flag);
    }
    case OptionType::int32:
    case OptionType::int64: {
      const auto number = parse_integer(text);
      const bool fits = number && (option->type == OptionType::int64 ||
                                   (*number >= std::numeric_limits<std::int32_t>::min() &&
                                    *number <= std::numeric_limits<std::int32_t>::max()));
      if (!fits) return misfit(*option, text, "");
      return int_value(*number);
    }
    case OptionType::float32: {
      const auto number = parse_float(text);
      if (!number) return misfit(*option, text, "");
      return float_value(*number, text);
    }
    case OptionType::enumeration: {
      if (text.empty()) return misfit(*option, text, "; use the name or the number of a value");
      const auto number = parse_integer(text);
      return number ? int_value(*number) : text_value(text);
    }
    case OptionType::message_list:
    case OptionType::text_map:
      // XLA reads these from its flags only; as an override it takes the empty text, which clears.
      if (!text.empty()) return misfit(*option, text, " for one compile; set it in XLA_FLAGS");
      return text_value(text);
    case OptionType::text:
    case OptionType::text_list:
    case OptionType::enumeration_list: return text_value(text);
  }
  return text_value(text);
}

}  // namespace precast::proto
