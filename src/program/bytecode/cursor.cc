#include "program/bytecode/cursor.h"

#include <fmt/format.h>

namespace precast::program::bytecode {

std::uint64_t Cursor::long_varint() {
  const std::uint8_t first = byte();
  if (failed()) return 0;
  // A first byte of zero announces eight whole bytes.
  const int extra = first == 0 ? 8 : std::countr_zero(first);
  const BytesView more = bytes(static_cast<std::uint64_t>(extra));
  if (failed()) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = more.size(); i-- > 0;) {
    value = value << 8 | static_cast<std::uint8_t>(more[i]);
  }
  if (first == 0) return value;
  return (value << 8 | first) >> (extra + 1);
}

Error Cursor::error(std::string_view where) const {
  return {ErrorCode::corrupt,
          fmt::format("{} at byte {} of the bytecode, in {}", problem_, problem_offset_, where)};
}

}  // namespace precast::program::bytecode
