#include "program/bytecode/container.h"

#include <fmt/format.h>

namespace precast::program::bytecode {
namespace {

constexpr BytesView kMagic = "ML\xefR";

struct SectionHeader {
  std::uint8_t id = 0;
  BytesView content;
};

SectionHeader read_any_section(Cursor& cursor) {
  constexpr std::uint8_t kAligned = 0x80;
  SectionHeader section;
  const std::uint8_t id_and_flag = cursor.byte();
  section.id = id_and_flag & ~kAligned;
  const std::uint64_t size = cursor.varint();
  if ((id_and_flag & kAligned) != 0) cursor.align(cursor.varint());
  section.content = cursor.bytes(size);
  return section;
}

Result<void> check_complete(const Container& container) {
  for (const Section id :
       {Section::strings, Section::dialects, Section::entries, Section::entry_sizes, Section::ir}) {
    if (!container.has(id)) {
      return Error(ErrorCode::corrupt,
                   fmt::format("the bytecode lacks section {}", static_cast<int>(id)));
    }
  }
  if (container.has(Section::resources) != container.has(Section::resource_sizes)) {
    return Error(ErrorCode::corrupt,
                 "the bytecode has only one of the two resource sections 5 and 6");
  }
  if (container.has(Section::properties) != container.version.has_properties()) {
    return Error(
        ErrorCode::corrupt,
        fmt::format("bytecode of version {} {} a properties section", container.version.number,
                    container.has(Section::properties) ? "must not have" : "lacks"));
  }
  return {};
}

}  // namespace

BytesView read_section(Cursor& cursor, Section expected) {
  const SectionHeader section = read_any_section(cursor);
  if (section.id != static_cast<std::uint8_t>(expected)) {
    cursor.fail("a nested section has another number than its place demands");
    return {};
  }
  return section.content;
}

Result<Container> read_container(BytesView file) {
  Container container;
  container.file = file;
  if (!file.starts_with(kMagic)) {
    return Error(ErrorCode::corrupt, "the bytes do not start with the magic of MLIR bytecode");
  }
  Cursor cursor(file, file.substr(kMagic.size()));
  container.version.number = cursor.varint();
  PRECAST_TRY(cursor.check("the header"));
  if (container.version.number > kNewestVersion) {
    return Error(ErrorCode::unsupported,
                 fmt::format("bytecode version {} is newer than the newest known one, {}",
                             container.version.number, kNewestVersion));
  }
  cursor.text();  // The producer: not part of the program.
  while (!cursor.at_end()) {
    const SectionHeader section = read_any_section(cursor);
    PRECAST_TRY(cursor.check("a section header"));
    if (section.id >= kSectionCount ||
        section.id == static_cast<std::uint8_t>(Section::dialect_version)) {
      return Error(ErrorCode::corrupt,
                   fmt::format("section {} must not stand at the top of bytecode", section.id));
    }
    auto& place = container.sections[section.id];
    if (place) {
      return Error(ErrorCode::corrupt, fmt::format("section {} occurs twice", section.id));
    }
    place = section.content;
  }
  PRECAST_TRY(cursor.check("the header"));
  PRECAST_TRY(check_complete(container));
  return container;
}

}  // namespace precast::program::bytecode
