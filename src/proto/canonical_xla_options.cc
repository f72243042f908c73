// The options that carry XLA's flag names: xla.DebugOptions, and the overrides by name.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "proto/canonical_items.h"
#include "proto/field_numbers.h"
#include "proto/option_effect.h"

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

// The value of an option that names files, with what is in them for their paths.
Bytes with_contents(const CanonicalItems& items, const FileOption& option, BytesView value) {
  const Bytes* text = items.contents().find(option.name, value);
  return text == nullptr ? Bytes(value) : *text;
}

void add_raw(CanonicalItems& items, const std::vector<WireField>& fields) {
  for (const WireField& field : fields) items.add_raw(kDebugPrefix, field);
}

// An option that names a file: of a scalar the last counts, a list has an item for each element.
void add_file_option(CanonicalItems& items, const FileOption& option,
                     const std::vector<WireField>& fields) {
  const bool texts = std::ranges::all_of(
      fields, [](const WireField& field) { return field.type == WireType::bytes; });
  if (!texts) return add_raw(items, fields);
  const bool list = option.kind == FileOptionKind::matched_files;
  for (auto at = list ? fields.begin() : std::prev(fields.end()); at != fields.end(); ++at) {
    items.add(kDebugPrefix + std::string(option.name), with_contents(items, option, at->bytes));
  }
}

void add_list(CanonicalItems& items, const XlaOption& option,
              const std::vector<WireField>& fields) {
  for (const WireField& field : fields) {
    if (field.type != WireType::bytes) {
      items.add_raw(kDebugPrefix, field);
      continue;
    }
    const bool text = option.type == OptionType::text_list;
    items.add(kDebugPrefix + std::string(option.name),
              text ? Bytes(field.bytes) : hex_of(field.bytes));
  }
}

// The presence of a scalar counts, whatever its value: the fields of DebugOptions know whether they
// were set.
Result<void> add_debug_option(CanonicalItems& items, const XlaOption& option,
                              const std::vector<WireField>& fields) {
  const std::string name = kDebugPrefix + std::string(option.name);
  if (option.type == OptionType::text_map) return add_map(items, name, fields);
  if (option.type == OptionType::text_list || option.type == OptionType::message_list) {
    add_list(items, option, fields);
  } else if (const auto effect = debug_option_effect(option, fields); !effect) {
    add_raw(items, fields);
  } else if (option.type != OptionType::enumeration_list || !effect->empty()) {
    items.add(name, *effect);
  }
  return {};
}

// The text that an override gives; nothing when it gives something else.
std::optional<BytesView> text_of_override(BytesView value) {
  std::optional<BytesView> text;
  FieldReader reader(value);
  while (reader.next()) {
    const bool is_text = reader.field().is(option_override::kText, WireType::bytes);
    text = is_text ? std::optional(reader.field().bytes) : std::nullopt;
  }
  return reader.damaged() ? std::nullopt : text;
}

// An override of an option that names files; XLA cuts the text of a list at its commas.
Bytes paths_with_contents(const CanonicalItems& items, const FileOption& option, BytesView text) {
  if (option.kind != FileOptionKind::matched_files) return with_contents(items, option, text);
  Bytes list;
  for (;;) {
    const std::size_t comma = text.find(',');
    list += with_contents(items, option, text.substr(0, comma));
    if (comma == BytesView::npos) return list;
    list += ',';
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<void> add_debug_options(CanonicalItems& items, BytesView debug_options) {
  PRECAST_ASSIGN(const FieldsByNumber by_number,
                 fields_by_number(debug_options, "compile options: debug_options"));
  for (const auto& [number, fields] : by_number) {
    const XlaOption* option = find_option(number);
    const FileOption* file = find_file_option(number);
    const std::string_view name = option != nullptr ? option->name
                                  : file != nullptr ? file->name
                                                    : std::string_view();
    if (name.empty()) {
      add_raw(items, fields);
    } else if (items.is_left_out(name)) {
      continue;
    } else if (file != nullptr && file->kind != FileOptionKind::llvm_options) {
      add_file_option(items, *file, fields);
    } else {
      PRECAST_TRY(add_debug_option(items, *option, fields));
    }
  }
  return {};
}

Result<void> add_overrides(CanonicalItems& items, const std::vector<WireField>& entries) {
  // Of a repeated name the last counts; the name of what is not understood says so.
  std::map<Bytes, std::pair<std::string, Bytes>> values;
  for (const WireField& field : entries) {
    if (field.type != WireType::bytes) {
      items.add_raw("", field);
      continue;
    }
    PRECAST_ASSIGN(const Entry entry,
                   read_entry(field.bytes, "compile options: env_option_overrides"));
    if (items.is_left_out(entry.key)) continue;
    const std::string name = "override." + entry.key;
    const FileOption* file = find_file_option(entry.key);
    const auto effect = entry.plain
                            ? override_effect(find_option(std::string_view(entry.key)), entry.value)
                            : std::nullopt;
    const auto path = file != nullptr && effect ? text_of_override(entry.value) : std::nullopt;
    if (!effect) {
      values[entry.key] = {name + "#raw", hex_of(field.bytes)};
    } else if (path && file->kind != FileOptionKind::llvm_options) {
      values[entry.key] = {name, paths_with_contents(items, *file, *path)};
    } else {
      values[entry.key] = {name, *effect};
    }
  }
  for (auto& [key, item] : values) items.add(std::move(item.first), item.second);
  return {};
}

}  // namespace precast::proto
