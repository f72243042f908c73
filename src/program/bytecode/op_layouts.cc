#include "program/bytecode/op_layouts.h"

#include <algorithm>

namespace precast::program::bytecode {
namespace {

constexpr SymbolSlot kSymbolSlots[] = {
    {"func.call", "callee"},
    {"func.constant", "value"},
    {"func.func", "sym_name"},
    {"stablehlo.composite", "decomposition"},
    {"stablehlo.custom_call", "called_computations"},
    {"vhlo.call_v1", "callee"},
    {"vhlo.composite_v1", "decomposition"},
    {"vhlo.composite_v2", "decomposition"},
    {"vhlo.custom_call_v1", "called_computations"},
    {"vhlo.custom_call_v2", "called_computations"},
    {"vhlo.func_v1", "sym_name"},
};

}  // namespace

std::span<const OpLayout> find_op_layouts(std::string_view op) {
  const auto& table = op.starts_with("vhlo.") ? kVhloOpLayouts : kRawOpLayouts;
  const auto rows = std::ranges::equal_range(table, op, {}, &OpLayout::op);
  return {rows.begin(), rows.end()};
}

std::string_view find_symbol_slot(std::string_view op) {
  const auto* slot = std::ranges::find(kSymbolSlots, op, &SymbolSlot::op);
  return slot == std::end(kSymbolSlots) ? std::string_view() : slot->attribute;
}

}  // namespace precast::program::bytecode
