#include "program/bytecode/tables.h"

#include <fmt/format.h>

#include "precast/limits.h"

namespace precast::program::bytecode {
namespace {

Result<void> check_size(std::uint64_t size, const char* table) {
  if (size <= limits::kMaxBytecodeEntries) return {};
  return Error(ErrorCode::resource_exhausted,
               fmt::format("the bytecode has {} {}; Precast reads at most {}", size, table,
                           limits::kMaxBytecodeEntries));
}

// The operation names stand in groups, one per run of names of a dialect.
Result<void> read_op_names(Cursor& cursor, const Version& version, Tables& tables) {
  if (version.has_elided_locations()) cursor.count();  // only a hint for a reader's allocation
  while (!cursor.at_end()) {
    const auto dialect = static_cast<std::uint32_t>(cursor.index(tables.dialects.size()));
    const std::uint64_t count = cursor.count();
    PRECAST_TRY(cursor.check("the operation names"));
    PRECAST_TRY(check_size(tables.op_names.size() + count, "operation names"));
    for (std::uint64_t i = 0; i < count; ++i) {
      OpName op{.dialect = dialect};
      std::uint64_t name = cursor.varint();
      if (version.has_properties()) {
        op.registered = (name & 1) != 0;
        name >>= 1;
      }
      if (cursor.failed() || name >= tables.strings.size()) {
        cursor.fail("an operation's name lies outside the string table");
        break;
      }
      op.name = tables.strings[name];
      PRECAST_TRY(check_name(op.name, "an operation's name"));
      tables.op_names.push_back(op);
    }
  }
  return cursor.check("the operation names");
}

// One of the two runs of attributes and types: grouped by dialect, each with its size.
Result<void> read_entry_run(Cursor& sizes, Cursor& content, const Tables& tables,
                            std::uint64_t total, std::vector<Entry>& entries) {
  entries.reserve(total);
  while (entries.size() < total) {
    const auto dialect = static_cast<std::uint32_t>(sizes.index(tables.dialects.size()));
    const std::uint64_t count = sizes.count();
    if (count > total - entries.size()) sizes.fail("a group has more entries than are announced");
    PRECAST_TRY(sizes.check("the sizes of attributes and types"));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t size = sizes.varint();
      entries.push_back(
          {.content = content.bytes(size >> 1), .dialect = dialect, .encoded = (size & 1) != 0});
    }
  }
  return sizes.check("the sizes of attributes and types");
}

}  // namespace

Result<void> check_name(BytesView name, std::string_view what) {
  if (name.size() <= limits::kMaxBytecodeNameBytes) return {};
  return Error(ErrorCode::unsupported,
               fmt::format("{} has {} bytes; Precast reads names of at most {}", what, name.size(),
                           limits::kMaxBytecodeNameBytes));
}

Result<void> read_strings(const Container& container, Tables& tables) {
  Cursor cursor = container.open(Section::strings);
  const std::uint64_t count = cursor.count();
  PRECAST_TRY(check_size(count, "strings"));
  // The sizes stand in reverse order, so the table is filled from both ends to the front.
  tables.strings.resize(count);
  std::vector<std::uint64_t> sizes(count);
  for (std::uint64_t i = count; i-- > 0;) sizes[i] = cursor.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    const BytesView stored = cursor.bytes(sizes[i]);
    if (stored.empty() || stored.back() != '\0') cursor.fail("a string has no NUL at its end");
    if (cursor.failed()) break;
    tables.strings[i] = stored.substr(0, stored.size() - 1);
  }
  return cursor.check_end("the string section");
}

Result<void> read_dialects(const Container& container, Tables& tables) {
  Cursor cursor = container.open(Section::dialects);
  const std::uint64_t count = cursor.count();
  PRECAST_TRY(check_size(count, "dialects"));
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i) {
    std::uint64_t name = cursor.varint();
    bool has_version = false;
    if (container.version.has_dialect_versions()) {
      has_version = (name & 1) != 0;
      name >>= 1;
    }
    if (cursor.failed() || name >= tables.strings.size()) {
      cursor.fail("a dialect's name lies outside the string table");
      break;
    }
    Dialect& dialect = tables.dialects.emplace_back();
    dialect.name = tables.strings[name];
    PRECAST_TRY(check_name(dialect.name, "a dialect's name"));
    if (has_version) dialect.version = read_section(cursor, Section::dialect_version);
  }
  PRECAST_TRY(cursor.check("the dialect section"));
  return read_op_names(cursor, container.version, tables);
}

Result<void> read_entries(const Container& container, Tables& tables) {
  Cursor sizes = container.open(Section::entry_sizes);
  Cursor content = container.open(Section::entries);
  const std::uint64_t attributes = sizes.count();
  const std::uint64_t types = sizes.count();
  PRECAST_TRY(sizes.check("the sizes of attributes and types"));
  PRECAST_TRY(check_size(attributes, "attributes"));
  PRECAST_TRY(check_size(types, "types"));
  PRECAST_TRY(read_entry_run(sizes, content, tables, attributes, tables.attributes));
  PRECAST_TRY(read_entry_run(sizes, content, tables, types, tables.types));
  PRECAST_TRY(sizes.check_end("the sizes of attributes and types"));
  return content.check_end("the section of attributes and types");
}

Result<void> read_properties(const Container& container, Tables& tables) {
  if (!container.has(Section::properties)) return {};
  Cursor cursor = container.open(Section::properties);
  if (cursor.at_end()) return {};
  const std::uint64_t count = cursor.count();
  PRECAST_TRY(check_size(count, "property sets"));
  tables.properties.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    tables.properties.push_back(cursor.bytes(cursor.varint()));
  }
  return cursor.check_end("the properties section");
}

Result<Tables> read_tables(const Container& container) {
  Tables tables;
  PRECAST_TRY(read_strings(container, tables));
  PRECAST_TRY(read_dialects(container, tables));
  PRECAST_TRY(read_entries(container, tables));
  PRECAST_TRY(read_properties(container, tables));
  PRECAST_TRY(read_resources(container, tables));
  return tables;
}

}  // namespace precast::program::bytecode
