// The options that carry XLA's flag names: xla.DebugOptions, and the overrides by name.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "proto/canonical_items.h"
#include "proto/field_numbers.h"
#include "proto/option_value.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

constexpr const char* kDebugPrefix = "debug_options.";

// One entry of a map or of the overrides. `plain` is false when it holds more than a key and a
// value; such an entry counts raw.
struct Entry {
  Bytes key;
  BytesView value;
  bool has_value = false;
  bool plain = true;
};

Result<Entry> read_entry(BytesView bytes, const std::string& message_name) {
  Entry entry;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(map_entry::kKey, WireType::bytes)) {
      entry.key = Bytes(field.bytes);
    } else if (field.is(map_entry::kValue, WireType::bytes)) {
      // Protobuf would merge a second message; no serializer writes one.
      entry.plain = entry.plain && !entry.has_value;
      entry.has_value = true;
      entry.value = field.bytes;
    } else {
      entry.plain = false;
    }
  }
  if (reader.damaged()) {
    return Error(ErrorCode::invalid_argument, message_name + " has an entry that does not parse");
  }
  return entry;
}

// The order of a map's entries is the serializer's; of one key the last counts.
Result<void> add_map(CanonicalItems& items, const std::string& name,
                     const std::vector<WireField>& fields) {
  std::map<Bytes, Bytes> values;
  for (const WireField& field : fields) {
    if (field.type != WireType::bytes) {
      items.add_raw(kDebugPrefix, field);
      continue;
    }
    PRECAST_ASSIGN(const Entry entry, read_entry(field.bytes, name));
    if (entry.plain) {
      values[entry.key] = Bytes(entry.value);
    } else {
      items.add_raw(kDebugPrefix, field);
    }
  }
  for (const auto& [key, value] : values) items.add(name + "[" + key + "]", value);
  return {};
}

// The wire type of an option that is not repeated.
std::optional<WireType> wire_type_of(OptionType type) {
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

Bytes scalar_text(OptionType type, const WireField& field) {
  switch (type) {
    case OptionType::boolean: return text_of_bool(field.value);
    case OptionType::int32:
    case OptionType::enumeration: return text_of_int32(field.value);
    case OptionType::float32: return text_of_float_bits(field.value);
    case OptionType::text: return Bytes(field.bytes);
    default: return text_of_int64(field.value);
  }
}

// Of a scalar that stands twice the last counts. Its presence counts, whatever the value: the
// fields of DebugOptions know whether they were set.
void add_scalar(CanonicalItems& items, const XlaOption& option, WireType type,
                const std::vector<WireField>& fields) {
  const WireField* last = nullptr;
  for (const WireField& field : fields) {
    if (field.type == type) {
      last = &field;
    } else {
      items.add_raw(kDebugPrefix, field);
    }
  }
  if (last == nullptr) return;
  items.add(kDebugPrefix + std::string(option.name), scalar_text(option.type, *last));
  if (!last->bytes.empty()) items.add_file_option(option.name);
}

void add_text_list(CanonicalItems& items, const XlaOption& option,
                   const std::vector<WireField>& fields) {
  for (const WireField& field : fields) {
    if (field.type != WireType::bytes) {
      items.add_raw(kDebugPrefix, field);
      continue;
    }
    const bool text = option.type == OptionType::text_list;
    items.add(kDebugPrefix + std::string(option.name),
              text ? Bytes(field.bytes) : hex_of(field.bytes));
    if (!field.bytes.empty()) items.add_file_option(option.name);
  }
}

Result<void> add_debug_option(CanonicalItems& items, const XlaOption& option,
                              const std::vector<WireField>& fields) {
  const std::string name = kDebugPrefix + std::string(option.name);
  if (const auto type = wire_type_of(option.type)) {
    add_scalar(items, option, *type, fields);
    return {};
  }
  if (option.type == OptionType::text_map) return add_map(items, name, fields);
  if (option.type != OptionType::enumeration_list) {
    add_text_list(items, option, fields);
    return {};
  }
  const auto list = text_of_list(fields, text_of_int32);
  if (!list) {
    for (const WireField& field : fields) items.add_raw(kDebugPrefix, field);
  } else if (!list->empty()) {
    items.add(name, *list);
  }
  return {};
}

std::string override_text(const XlaOption* option, BytesView text) {
  if (option != nullptr) {
    switch (option->type) {
      case OptionType::boolean:
        if (text == "True") return "bool:true";
        if (text == "False") return "bool:false";
        break;
      case OptionType::int32:
      case OptionType::int64:
      case OptionType::enumeration:
        if (const auto number = parse_integer(text)) return "int:" + std::to_string(*number);
        break;
      case OptionType::float32:
        if (const auto number = parse_float(text)) return "float:" + text_of_float(*number);
        break;
      default: break;
    }
  }
  return "text:" + std::string(text);
}

// The value by its effect: XLA takes the int 1 and the text "1" alike where an integer is wanted.
// Nothing when the message holds what OptionOverrideProto does not know.
std::optional<std::string> override_value(const XlaOption* option, BytesView value) {
  std::string text = "unset";
  FieldReader reader(value);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(option_override::kText, WireType::bytes)) {
      text = override_text(option, field.bytes);
    } else if (field.is(option_override::kBool, WireType::varint)) {
      text = "bool:" + text_of_bool(field.value);
    } else if (field.is(option_override::kInt, WireType::varint)) {
      text = "int:" + text_of_int64(field.value);
    } else if (field.is(option_override::kDouble, WireType::fixed64)) {
      const auto number = std::bit_cast<double>(field.value);
      const bool is_float = option != nullptr && option->type == OptionType::float32 &&
                            std::abs(number) <= std::numeric_limits<float>::max();
      text = is_float ? "float:" + text_of_float(static_cast<float>(number))
                      : fmt::format("double:{}", number);
    } else {
      return std::nullopt;
    }
  }
  if (reader.damaged()) return std::nullopt;
  return text;
}

}  // namespace

Result<void> add_debug_options(CanonicalItems& items, BytesView debug_options) {
  PRECAST_ASSIGN(const FieldsByNumber by_number,
                 fields_by_number(debug_options, "compile options: debug_options"));
  for (const auto& [number, fields] : by_number) {
    const XlaOption* option = find_option(number);
    if (option == nullptr) {
      for (const WireField& field : fields) items.add_raw(kDebugPrefix, field);
    } else if (!items.is_left_out(option->name)) {
      PRECAST_TRY(add_debug_option(items, *option, fields));
    }
  }
  return {};
}

Result<void> add_overrides(CanonicalItems& items, const std::vector<WireField>& entries) {
  std::map<Bytes, std::string> values;  // of a repeated name the last counts
  for (const WireField& field : entries) {
    if (field.type != WireType::bytes) {
      items.add_raw("", field);
      continue;
    }
    PRECAST_ASSIGN(const Entry entry,
                   read_entry(field.bytes, "compile options: env_option_overrides"));
    if (items.is_left_out(entry.key)) continue;
    const XlaOption* option = find_option(std::string_view(entry.key));
    const auto value = entry.plain ? override_value(option, entry.value) : std::nullopt;
    values[entry.key] = value ? *value : hex_of(field.bytes);
  }
  for (const auto& [name, value] : values) {
    items.add("override." + name, value);
    if (value != "text:" && value != "unset") items.add_file_option(name);
  }
  return {};
}

}  // namespace precast::proto
