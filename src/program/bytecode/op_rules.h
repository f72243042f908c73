// What the rules say of the operations of one file, worked out once per operation name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/bytecode/names.h"
#include "program/bytecode/op_layouts.h"
#include "program/bytecode/tables.h"

namespace precast::program::bytecode {

struct Slot {
  NameId name = kNoName;
  bool optional = false;
};

struct SlotLayout {
  std::vector<Slot> slots;
  bool packed_segments = false;  // segment sizes follow
};

struct OpRule {
  NameId name = kNoName;  // with its dialect
  std::vector<const SlotLayout*> layouts;
  NameId symbol_slot = kNoName;  // the attribute that names functions
  NameId visibility = kNoName;   // only of functions
  NameId call_target = kNoName;  // only of custom calls

  // The layout of a blob with that many numbers; null when there is none.
  const SlotLayout* layout_for(std::size_t slots) const;
  // The layout that ends in packed segment sizes; null when there is none.
  const SlotLayout* packed_layout() const;
};

class OpRules {
 public:
  OpRules(const Tables& tables, Names& names)
      : tables_(tables), names_(names), rules_(tables.op_names.size(), nullptr) {}

  // Requires index < tables.op_names.size(). Valid as long as this object.
  const OpRule& get(std::uint64_t index) {
    if (rules_[index] == nullptr) rules_[index] = &prepare(tables_.op_names[index]);
    return *rules_[index];
  }

 private:
  const OpRule& prepare(const OpName& op);
  const SlotLayout& slot_layout(const OpLayout& row);

  const Tables& tables_;
  Names& names_;
  std::vector<const OpRule*> rules_;  // by operation name; null: not yet looked at
  std::map<std::string, OpRule> by_name_;
  std::map<const OpLayout*, SlotLayout> slot_layouts_;
};

}  // namespace precast::program::bytecode
