// The outer shape of an MLIR bytecode file: header and sections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/cursor.h"

namespace precast::program::bytecode {

// The format's own numbers.
enum class Section : std::uint8_t {
  strings = 0,
  dialects = 1,
  entries = 2,
  entry_sizes = 3,
  ir = 4,
  resources = 5,
  resource_sizes = 6,
  dialect_version = 7,  // only within the dialect section
  properties = 8,
};
inline constexpr std::size_t kSectionCount = 9;

// What changed with the versions of the bytecode, as far as a reader of it notices.
struct Version {
  std::uint64_t number = 0;

  bool has_dialect_versions() const { return number >= 1; }
  bool has_isolated_sections() const { return number >= 2; }
  bool has_use_list_orders() const { return number >= 3; }
  // Block arguments may leave their location out, and operation names are counted.
  bool has_elided_locations() const { return number >= 4; }
  bool has_properties() const { return number >= 5; }
  bool has_packed_segments() const { return number >= 6; }
};
inline constexpr std::uint64_t kNewestVersion = 6;

struct Container {
  BytesView file;
  Version version;
  std::array<std::optional<BytesView>, kSectionCount> sections;

  // A cursor over a section; nothing to read when the section is absent.
  Cursor open(Section id) const {
    const auto& part = sections[static_cast<std::size_t>(id)];
    return part ? Cursor(file, *part) : Cursor(file, file.substr(file.size()));
  }
  bool has(Section id) const { return sections[static_cast<std::size_t>(id)].has_value(); }
};

// unsupported: a bytecode version that is not known. corrupt: not bytecode, a section that is
// unknown, misplaced, doubled or missing, or bytes that end too early.
Result<Container> read_container(BytesView file);

// Reads the header of a section at `cursor` and steps over the whole of it. The cursor fails when
// the section is not `expected`.
BytesView read_section(Cursor& cursor, Section expected);

}  // namespace precast::program::bytecode
