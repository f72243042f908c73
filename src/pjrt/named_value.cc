#include "precast/named_value.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace precast {
namespace {

constexpr std::string_view kTypes = "string, int, ints, float or bool";

enum class IntegerText { no, yes, out_of_range };

IntegerText parse_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return IntegerText::no;
  if (error == std::errc::result_out_of_range) return IntegerText::out_of_range;
  return error == std::errc{} ? IntegerText::yes : IntegerText::no;
}

std::optional<float> parse_float(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

// A list of integers; empty text is the empty list.
std::optional<std::vector<std::int64_t>> parse_integers(std::string_view text) {
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::int64_t value = 0;
    if (parse_integer(text.substr(0, comma), value) != IntegerText::yes) return std::nullopt;
    values.push_back(value);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;  // "1,"
  }
  return values;
}

Error does_not_fit(const std::string& text, std::string_view type) {
  return {ErrorCode::invalid_argument, "the value of '" + text + "' is no " + std::string(type)};
}

// The two below write into `value` rather than return it: g++ 12 warns of the moves of a variant.

Result<void> read_typed(const std::string& text, std::string_view type, std::string_view from,
                        NamedValue::Value& value) {
  if (type == "string") {
    value = std::string(from);
  } else if (type == "int") {
    std::int64_t integer = 0;
    if (parse_integer(from, integer) != IntegerText::yes) {
      return does_not_fit(text, "64-bit integer");
    }
    value = integer;
  } else if (type == "ints") {
    auto integers = parse_integers(from);
    if (!integers) return does_not_fit(text, "comma-separated list of 64-bit integers");
    value = std::move(*integers);
  } else if (type == "float") {
    const auto number = parse_float(from);
    if (!number) return does_not_fit(text, "number");
    value = *number;
  } else if (type == "bool") {
    const auto truth = parse_bool(from);
    if (!truth) return does_not_fit(text, "bool: it must be true or false");
    value = *truth;
  } else {
    return Error(ErrorCode::invalid_argument, "'" + text + "' asks for the type '" +
                                                  std::string(type) + "'; it must be " +
                                                  std::string(kTypes));
  }
  return {};
}

Result<void> read_guessed(const std::string& text, std::string_view from,
                          NamedValue::Value& value) {
  value = std::string(from);
  std::int64_t integer = 0;
  const IntegerText is_integer = parse_integer(from, integer);
  if (is_integer == IntegerText::out_of_range) {
    return Error(ErrorCode::invalid_argument,
                 "the value of '" + text +
                     "' does not fit a 64-bit integer; for a text write name:string=value");
  }
  if (is_integer == IntegerText::yes) {
    value = integer;
  } else if (const auto truth = parse_bool(from)) {
    value = *truth;
  } else if (from.find(',') != std::string_view::npos) {
    if (auto integers = parse_integers(from)) value = std::move(*integers);
  } else if (from.find('.') != std::string_view::npos) {
    if (const auto number = parse_float(from)) value = *number;
  }
  return {};
}

std::string text_of(float value) {
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, error == std::errc{} ? end : digits);
  // With a point, so that it is a float again when the text is parsed.
  if (text.find_first_not_of("-+0123456789e") == std::string::npos) {
    text.insert(std::min(text.find('e'), text.size()), ".0");
  }
  return text;
}

}  // namespace

std::string NamedValue::value_text() const {
  struct Text {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(const std::vector<std::int64_t>& integers) const {
      std::string text;
      for (const std::int64_t integer : integers) {
        if (!text.empty()) text += ',';
        text += std::to_string(integer);
      }
      return text;
    }
    std::string operator()(float number) const { return text_of(number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  };
  return std::visit(Text{}, value);
}

Result<NamedValue> NamedValue::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return Error(ErrorCode::invalid_argument, "'" + text + "' has no '='; it must be name=value");
  }
  const std::string_view value = std::string_view(text).substr(equals + 1);
  std::string_view name = std::string_view(text).substr(0, equals);
  std::optional<std::string_view> type;
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    type = name.substr(colon + 1);
    name = name.substr(0, colon);
  }
  if (name.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "'" + text + "' has no name before the '='; it must be name=value");
  }
  NamedValue parsed;
  parsed.name = name;
  PRECAST_TRY(type ? read_typed(text, *type, value, parsed.value)
                   : read_guessed(text, value, parsed.value));
  return parsed;
}

}  // namespace precast
