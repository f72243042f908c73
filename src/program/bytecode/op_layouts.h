// The properties of operations: which attributes their blobs hold, in which order.
//
// Since version 5 the inherent attributes of an operation stand in a blob without their names, in
// alphabetical order. A layout is the list of the names; one that ends in '?' may be absent, which
// changes its encoding. Layouts grew in new releases without a change of the bytecode's version, so
// an operation may have several rows: the number of slots in a blob chooses the row. A last '#'
// stands for operand and result segment sizes, which version 6 packs into the blob.
#pragma once

#include <span>
#include <string_view>

namespace precast::program::bytecode {

struct OpLayout {
  std::string_view op;     // with its dialect
  std::string_view slots;  // separated by one space
};

// More slots than any operation has. A blob with more is not decoded.
inline constexpr std::size_t kMaxSlots = 32;

extern const std::span<const OpLayout> kVhloOpLayouts;
extern const std::span<const OpLayout> kRawOpLayouts;

// The rows of an operation; none when its properties are not known.
std::span<const OpLayout> find_op_layouts(std::string_view op);

// Where an operation names functions of the module. Only there may the name of a private function
// be replaced, and only these slots; a string that happens to be equal is another string.
struct SymbolSlot {
  std::string_view op;
  std::string_view attribute;
};

// Nothing (an empty name) when the operation has no such slot.
std::string_view find_symbol_slot(std::string_view op);

}  // namespace precast::program::bytecode
