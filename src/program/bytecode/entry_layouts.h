// How the dialects encode their attributes and types: the fields behind the code of each.
//
// A layout is a string with one character per field:
//
//   a  attribute                      v  number: a varint, plain or zigzag, also the bits of an f64
//   A  optional attribute             y  one byte that is 0 or 1
//   t  type                           Y  as y, and an attribute if it is 1
//   s  string                         W  a number that is 0 or 1, and an attribute if it is 1
//   k  key of a dictionary            b  size and bytes
//   r  resource handle                $  strings up to the end
//   *  the remaining bytes, which hold no reference to a table
//   [] a list: its count, then that many times what stands between the brackets
//
// A number is hashed as it stands, so plain and zigzag need no difference; and a value whose
// encoding depends on its type (an integer, a float) is the last field, so it is hashed as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace precast::program::bytecode {

// The rules by which bytecode is hashed: the layouts of entries and operations, the symbol slots
// and the form of the stream. Part of every digest; raise it with every change that alters one.
inline constexpr std::uint32_t kBytecodeRulesVersion = 1;

struct EntryLayout {
  std::string_view name;    // empty: no such code
  std::string_view fields;  // as above
};

// The position in a span is the code.
struct DialectLayouts {
  std::string_view dialect;
  std::span<const EntryLayout> attributes;
  std::span<const EntryLayout> types;
};

extern const DialectLayouts kBuiltinLayouts;
extern const DialectLayouts kVhloLayouts;
extern const DialectLayouts kStablehloLayouts;
extern const DialectLayouts kChloLayouts;
extern const DialectLayouts kSdyLayouts;

// Nothing when the dialect's encoding is not known.
const DialectLayouts* find_entry_layouts(std::string_view dialect);

// The codes that the rules for dictionaries, symbols and visibilities look for.
namespace codes {
inline constexpr std::uint64_t kBuiltinArray = 0;
inline constexpr std::uint64_t kBuiltinDictionary = 1;
inline constexpr std::uint64_t kBuiltinString = 2;
inline constexpr std::uint64_t kBuiltinFlatSymbolRef = 4;
inline constexpr std::uint64_t kVhloArray = 1;
inline constexpr std::uint64_t kVhloString = 14;
}  // namespace codes

}  // namespace precast::program::bytecode
