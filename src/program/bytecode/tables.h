// The tables of a bytecode file that its operations and attributes refer to by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/container.h"

namespace precast::program::bytecode {

struct Dialect {
  BytesView name;
  std::optional<BytesView> version;  // in the dialect's own encoding
};

struct OpName {
  std::uint32_t dialect = 0;
  BytesView name = {};  // without the dialect; may be empty
  bool registered = true;
};

// An attribute or a type: its bytes, not decoded.
struct Entry {
  BytesView content;
  std::uint32_t dialect = 0;
  bool encoded = false;  // by the dialect's own rules; else as text with a NUL
};

enum class ResourceKind : std::uint8_t { blob = 0, boolean = 1, string = 2 };

struct Resource {
  BytesView group;  // the dialect's name, or the key of an external group
  bool external = false;
  BytesView key = {};
  ResourceKind kind = ResourceKind::blob;
  BytesView content = {};  // empty: declared without data
};

// What a resource of kind `blob` holds.
struct ResourceBlob {
  std::uint64_t alignment = 0;
  BytesView bytes;
};
// Reads at a cursor over the content; a damaged one makes the cursor fail.
ResourceBlob read_blob(Cursor& in);

struct Tables {
  std::vector<BytesView> strings;
  std::vector<Dialect> dialects;
  std::vector<OpName> op_names;
  std::vector<Entry> attributes;
  std::vector<Entry> types;
  std::vector<BytesView> properties;
  // External ones first. A resource handle counts from the first that is not external.
  std::vector<Resource> resources;
  std::size_t external_resources = 0;
};

// corrupt: the tables are damaged. resource_exhausted: a table has more than
// limits::kMaxBytecodeEntries entries.
Result<Tables> read_tables(const Container& container);

// Names of dialects, operations, attributes and resources are compared often, so a hostile file
// must not make that slow. unsupported when `name` has more than limits::kMaxBytecodeNameBytes
// bytes.
Result<void> check_name(BytesView name, std::string_view what);

// The parts of read_tables, in the order in which they need each other.
Result<void> read_strings(const Container& container, Tables& tables);
Result<void> read_dialects(const Container& container, Tables& tables);
Result<void> read_entries(const Container& container, Tables& tables);
Result<void> read_properties(const Container& container, Tables& tables);
Result<void> read_resources(const Container& container, Tables& tables);

}  // namespace precast::program::bytecode
