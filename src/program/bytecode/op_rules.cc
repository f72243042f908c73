#include "program/bytecode/op_rules.h"

#include <algorithm>

namespace precast::program::bytecode {
namespace {

bool is_function(std::string_view op) { return op == "func.func" || op == "vhlo.func_v1"; }

bool is_custom_call(std::string_view op) {
  return op == "stablehlo.custom_call" || op == "vhlo.custom_call_v1" ||
         op == "vhlo.custom_call_v2" || op == "mhlo.custom_call";
}

SlotLayout parse(std::string_view slots, Names& names) {
  SlotLayout layout;
  while (!slots.empty()) {
    const std::size_t space = std::min(slots.find(' '), slots.size());
    std::string_view name = slots.substr(0, space);
    slots.remove_prefix(std::min(space + 1, slots.size()));
    if (name == "#") {
      layout.packed_segments = true;
      continue;
    }
    const bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    layout.slots.push_back({.name = names.id_of(name), .optional = optional});
  }
  return layout;
}

}  // namespace

const SlotLayout* OpRule::layout_for(std::size_t slots) const {
  const auto at = std::ranges::find_if(layouts, [slots](const SlotLayout* layout) {
    return !layout->packed_segments && layout->slots.size() == slots;
  });
  return at == layouts.end() ? nullptr : *at;
}

const SlotLayout* OpRule::packed_layout() const {
  const auto at = std::ranges::find(layouts, true, &SlotLayout::packed_segments);
  return at == layouts.end() ? nullptr : *at;
}

const OpRule& OpRules::prepare(const OpName& op) {
  // MLIR too joins the two and asks no more where the dialect ended.
  std::string joined(tables_.dialects[op.dialect].name);
  joined.append(".").append(op.name);
  const auto [at, added] = by_name_.try_emplace(std::move(joined));
  const std::string& name = at->first;
  OpRule& rule = at->second;
  if (!added) return rule;
  rule.name = names_.id_of(name);
  for (const OpLayout& row : find_op_layouts(name)) rule.layouts.push_back(&slot_layout(row));
  if (const auto slot = find_symbol_slot(name); !slot.empty()) {
    rule.symbol_slot = names_.id_of(slot);
  }
  if (is_function(name)) rule.visibility = names_.id_of("sym_visibility");
  if (is_custom_call(name)) rule.call_target = names_.id_of("call_target_name");
  return rule;
}

const SlotLayout& OpRules::slot_layout(const OpLayout& row) {
  const auto [at, added] = slot_layouts_.try_emplace(&row);
  if (added) at->second = parse(row.slots, names_);
  return at->second;
}

}  // namespace precast::program::bytecode
