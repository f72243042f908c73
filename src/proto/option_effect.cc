#include "proto/option_effect.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "proto/canonical_items.h"
#include "proto/enum_values.h"
#include "proto/field_numbers.h"
#include "proto/scalar_text.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

// Keeps texts apart from what this file says in texts' place.
Bytes plain_text(BytesView text) {
  const bool looks_like_ours = text.starts_with("refused:") || text.starts_with("text:");
  return looks_like_ours ? "text:" + Bytes(text) : Bytes(text);
}

// XLA keeps 32 bits of the number of an enumeration value, and takes any.
Bytes enum_text(std::int64_t number) { return std::to_string(static_cast<std::int32_t>(number)); }

// The value of an enumeration from text, when XLA may take it.
std::optional<Bytes> enum_effect(const XlaOption& option, std::string_view text) {
  if (const auto number = read_xla_integer(text, 32)) return enum_text(*number);
  if (const auto number = enum_value(option.name, text)) return enum_text(*number);
  // The names of protobuf's enumerations are identifiers; XLA refuses anything else.
  const bool identifier = !text.empty() && text.find_first_not_of(
                                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                               "abcdefghijklmnopqrstuvwxyz"
                                               "0123456789_") == std::string_view::npos;
  return identifier ? std::optional<Bytes>(text) : std::nullopt;
}

// The empty text clears a list.
std::optional<Bytes> enum_list_effect(const XlaOption& option, std::string_view text) {
  if (text.empty()) return Bytes();
  Bytes list;
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto element = enum_effect(option, text.substr(0, comma));
    if (!element) return std::nullopt;
    list += *element;
    if (comma == std::string_view::npos) return list;
    list += ',';
    text.remove_prefix(comma + 1);
  }
}

// Each of the following is nothing when XLA refuses the value.

std::optional<Bytes> effect_of_text(const XlaOption& option, std::string_view text) {
  switch (option.type) {
    case OptionType::boolean:
      if (text == "True") return "true";
      if (text == "False") return "false";
      return std::nullopt;
    case OptionType::int32:
    case OptionType::int64: {
      const auto number = read_xla_integer(text, option.type == OptionType::int32 ? 32 : 64);
      return number ? std::optional<Bytes>(std::to_string(*number)) : std::nullopt;
    }
    case OptionType::float32: return float_effect(text);
    case OptionType::enumeration: return enum_effect(option, text);
    case OptionType::enumeration_list: return enum_list_effect(option, text);
    case OptionType::text:
    case OptionType::text_list: return plain_text(text);
    case OptionType::message_list:
    case OptionType::text_map: return text.empty() ? std::optional<Bytes>("") : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Bytes> effect_of_bool(const XlaOption& option, bool value) {
  if (option.type != OptionType::boolean) return std::nullopt;
  return value ? "true" : "false";
}

std::optional<Bytes> effect_of_int(const XlaOption& option, std::int64_t value) {
  switch (option.type) {
    case OptionType::int32:
      if (value < std::numeric_limits<std::int32_t>::min() ||
          value > std::numeric_limits<std::int32_t>::max()) {
        return std::nullopt;
      }
      return std::to_string(value);
    case OptionType::int64: return std::to_string(value);
    case OptionType::enumeration:
    // A list of this one value.
    case OptionType::enumeration_list: return enum_text(value);
    default: return std::nullopt;
  }
}

// XLA takes a double only when it is a positive normal float.
std::optional<Bytes> effect_of_double(const XlaOption& option, double value) {
  const bool taken = option.type == OptionType::float32 &&
                     value >= std::numeric_limits<float>::min() &&
                     value <= std::numeric_limits<float>::max();
  return taken ? std::optional<Bytes>(float_effect(static_cast<float>(value))) : std::nullopt;
}

std::optional<Bytes> effect_of(const XlaOption& option, const WireField& value) {
  switch (value.number) {
    case option_override::kText: return effect_of_text(option, value.bytes);
    case option_override::kBool: return effect_of_bool(option, value.value != 0);
    case option_override::kInt:
      return effect_of_int(option, std::bit_cast<std::int64_t>(value.value));
    default: return effect_of_double(option, std::bit_cast<double>(value.value));
  }
}

Bytes typed_text(const WireField& value) {
  switch (value.number) {
    case option_override::kText: return "text:" + Bytes(value.bytes);
    case option_override::kBool: return value.value != 0 ? "bool:true" : "bool:false";
    case option_override::kInt:
      return "int:" + std::to_string(std::bit_cast<std::int64_t>(value.value));
    // By its bits, since two NaNs may print alike.
    default: return fmt::format("double:{:#018x}", value.value);
  }
}

bool is_override_value(const WireField& field) {
  return field.is(option_override::kText, WireType::bytes) ||
         field.is(option_override::kBool, WireType::varint) ||
         field.is(option_override::kInt, WireType::varint) ||
         field.is(option_override::kDouble, WireType::fixed64);
}

Bytes varint_text(OptionType type, std::uint64_t value) {
  switch (type) {
    case OptionType::boolean: return value != 0 ? "true" : "false";
    case OptionType::int64: return std::to_string(std::bit_cast<std::int64_t>(value));
    default: return std::to_string(static_cast<std::int32_t>(value));
  }
}

std::string enum_number_text(std::uint64_t value) {
  return varint_text(OptionType::enumeration, value);
}

std::optional<WireType> scalar_wire_type(OptionType type) {
  switch (type) {
    case OptionType::boolean:
    case OptionType::int32:
    case OptionType::int64:
    case OptionType::enumeration: return WireType::varint;
    case OptionType::float32: return WireType::fixed32;
    case OptionType::text: return WireType::bytes;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Bytes> override_effect(const XlaOption* option, BytesView option_override) {
  std::optional<WireField> value;  // of a oneof the last counts
  FieldReader reader(option_override);
  while (reader.next()) {
    if (!is_override_value(reader.field())) return std::nullopt;
    value = reader.field();
  }
  if (reader.damaged()) return std::nullopt;
  const auto refused = [&] { return "refused:0x" + base::to_hex(option_override); };
  if (!value) return refused();
  if (option == nullptr) return typed_text(*value);
  const auto effect = effect_of(*option, *value);
  return effect ? *effect : refused();
}

std::optional<Bytes> debug_option_effect(const XlaOption& option,
                                         const std::vector<WireField>& fields) {
  if (option.type == OptionType::enumeration_list) return text_of_list(fields, enum_number_text);
  const auto wire_type = scalar_wire_type(option.type);
  if (!wire_type) return std::nullopt;
  for (const WireField& field : fields) {
    if (field.type != *wire_type) return std::nullopt;
  }
  const WireField& last = fields.back();
  switch (*wire_type) {
    case WireType::bytes: return plain_text(last.bytes);
    case WireType::fixed32:
      return float_effect(std::bit_cast<float>(static_cast<std::uint32_t>(last.value)));
    default: return varint_text(option.type, last.value);
  }
}

}  // namespace precast::proto
