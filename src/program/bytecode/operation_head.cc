#include "program/bytecode/operation_head.h"

#include <fmt/format.h>

#include <utility>

namespace precast::program::bytecode {
namespace {

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

}  // namespace

OperationHeads::OperationHeads(EntryReader& reader)
    : container_(reader.container()),
      tables_(reader.tables()),
      names_(reader.names()),
      rules_(tables_, names_) {}

Result<OperationHead> OperationHeads::read(Cursor& in) {
  OperationHead head;
  const std::uint64_t name = in.index(tables_.op_names.size());
  head.mask = in.byte();
  in.index(tables_.attributes.size());  // The location.
  if (head.has(part::kAttributes)) head.dictionary = in.varint();
  if (head.has(part::kProperties)) head.properties = in.index(tables_.properties.size());
  PRECAST_TRY(in.check("an operation"));
  head.rule = &rules_.get(name);
  if (head.has(part::kUnknown)) {
    return damaged("an operation has a part of no known kind (0x80)");
  }
  if (head.properties && !tables_.op_names[name].registered) {
    return Error(ErrorCode::unsupported,
                 fmt::format("'{}' was not registered when it was written, and has properties",
                             names_.text(head.rule->name)));
  }
  if (head.has(part::kUseLists) && !container_.version.has_use_list_orders()) {
    return damaged("an operation has a use-list order, which its bytecode version lacks");
  }
  return head;
}

Result<BytesView> OperationHeads::read_properties(const OperationHead& head) {
  properties_.clear();
  if (!head.properties) return BytesView();
  const OpRule& rule = *head.rule;
  const BytesView blob = tables_.properties[*head.properties];
  const SlotLayout* layout =
      container_.version.has_packed_segments() ? rule.packed_layout() : nullptr;
  if (layout == nullptr) {
    std::size_t slots = 0;
    Cursor counting(container_.file, blob);
    for (; !counting.at_end() && slots <= kMaxSlots; ++slots) counting.varint();
    PRECAST_TRY(counting.check("properties"));
    layout = rule.layout_for(slots);
    if (layout == nullptr) {
      return Error(ErrorCode::unsupported,
                   fmt::format("no layout of its properties with {} slots is known", slots));
    }
  }
  Cursor in(container_.file, blob);
  for (const Slot& slot : layout->slots) {
    std::uint64_t value = in.varint();
    if (slot.optional) {
      const bool present = (value & 1) != 0;
      if (!present && value != 0) in.fail("an absent property has a number");
      if (!present) continue;
      value >>= 1;
    }
    properties_.push_back({.name = slot.name, .value = value});
  }
  PRECAST_TRY(in.check("properties"));
  const BytesView segments = in.take_rest();
  if (layout->packed_segments == segments.empty()) return damaged("segment sizes are missing");
  return segments;
}

Result<void> skip_use_lists(Cursor& in, std::uint64_t values) {
  if (values == 0) in.fail("a use-list order without values");
  const std::uint64_t lists = values > 1 ? in.count() : 1;
  for (std::uint64_t i = 0; i < lists && !in.failed(); ++i) {
    if (values > 1) in.varint();
    const std::uint64_t indices = in.varint() >> 1;
    if (indices > in.remaining()) in.fail("a use-list order is longer than the bytes behind it");
    for (std::uint64_t j = 0; j < indices && !in.failed(); ++j) in.varint();
  }
  return in.check("a use-list order");
}

}  // namespace precast::program::bytecode
