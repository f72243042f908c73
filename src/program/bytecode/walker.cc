#include "program/bytecode/walker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "precast/limits.h"

namespace precast::program::bytecode {
namespace {

// The parts that an operation has.
namespace mask {
constexpr std::uint8_t kAttributes = 0x01;
constexpr std::uint8_t kResults = 0x02;
constexpr std::uint8_t kOperands = 0x04;
constexpr std::uint8_t kSuccessors = 0x08;
constexpr std::uint8_t kRegions = 0x10;
constexpr std::uint8_t kUseLists = 0x20;
constexpr std::uint8_t kProperties = 0x40;
constexpr std::uint8_t kUnknown = 0x80;
}  // namespace mask

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

}  // namespace

Walker::Walker(const Container& container, const Tables& tables, CanonicalStream& out)
    : container_(container),
      tables_(tables),
      out_(out),
      values_(container, tables, out),
      rules_(tables, values_.names()) {}

Result<void> Walker::program() {
  Cursor in = container_.open(Section::ir);
  constexpr std::uint64_t kOneOperationNoArguments = 1 << 1;
  if (in.varint() != kOneOperationNoArguments) in.fail("the program is not one operation");
  PRECAST_TRY(in.check("the IR section"));
  PRECAST_TRY(operation(in));
  PRECAST_TRY(in.check_end("the IR section"));
  PRECAST_TRY(values_.write_unused_resources());
  dialect_versions();
  values_.disclose(symbols_);
  symbols_.write_names(out_);
  return out_.check_budget();
}

Result<void> Walker::operation(Cursor& in) {
  PRECAST_TRY(out_.check_budget());
  PRECAST_ASSIGN(const OperationHead head, operation_head(in));
  values_.names().write(out_, head.rule->name);
  if (Result<void> written = attributes(head); !written) {
    return std::move(written).error().with(
        fmt::format("while reading an operation '{}'", values_.names().text(head.rule->name)));
  }
  const bool is_function = head.rule->visibility != kNoName;
  const SymbolId defined = is_function ? function_ : kNoSymbol;
  const bool is_private = is_private_;
  PRECAST_ASSIGN(const std::uint64_t results, result_types(in, (head.mask & mask::kResults) != 0));
  PRECAST_TRY(numbers(in, (head.mask & mask::kOperands) != 0));
  PRECAST_TRY(numbers(in, (head.mask & mask::kSuccessors) != 0));
  if ((head.mask & mask::kUseLists) != 0) PRECAST_TRY(use_lists(in, results));
  PRECAST_ASSIGN(const std::uint64_t blocks, regions(in, (head.mask & mask::kRegions) != 0));
  // A function without a body is someone else's: its name counts in full.
  if (defined != kNoSymbol) symbols_.define(defined, is_private && blocks != 0);
  return {};
}

Result<Walker::OperationHead> Walker::operation_head(Cursor& in) {
  OperationHead head;
  const std::uint64_t name = in.index(tables_.op_names.size());
  head.mask = in.byte();
  in.index(tables_.attributes.size());  // The location.
  if ((head.mask & mask::kAttributes) != 0) head.dictionary = in.varint();
  if ((head.mask & mask::kProperties) != 0) head.properties = in.index(tables_.properties.size());
  PRECAST_TRY(in.check("an operation"));
  head.rule = &rules_.get(name);
  if ((head.mask & mask::kUnknown) != 0) {
    return damaged("an operation has a part of no known kind (0x80)");
  }
  if (head.properties && !tables_.op_names[name].registered) {
    return Error(ErrorCode::unsupported,
                 fmt::format("'{}' was not registered when it was written, and has properties",
                             values_.names().text(head.rule->name)));
  }
  if ((head.mask & mask::kUseLists) != 0 && !container_.version.has_use_list_orders()) {
    return damaged("an operation has a use-list order, which its bytecode version lacks");
  }
  return head;
}

Result<void> Walker::attributes(const OperationHead& head) {
  static const std::vector<DictionaryItem> kNone;
  const std::vector<DictionaryItem>* items = &kNone;
  if (head.dictionary) {
    PRECAST_ASSIGN(items, values_.dictionary(*head.dictionary));
  }
  PRECAST_ASSIGN(const BytesView segments, read_properties(head));
  function_ = kNoSymbol;
  is_private_ = false;
  PRECAST_TRY(merged_attributes(*head.rule, *items));
  out_.bytes(segments);
  return {};
}

// Fills properties_. Returns the packed segment sizes, which hold no reference to a table.
Result<BytesView> Walker::read_properties(const OperationHead& head) {
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

// Properties and discardable attributes are one thing in older bytecode, so they are merged by
// name; both are in ascending order.
Result<void> Walker::merged_attributes(const OpRule& rule,
                                       const std::vector<DictionaryItem>& items) {
  const Names& names = values_.names();
  out_.number(properties_.size() + items.size());
  auto item = items.begin();
  for (const PropertySlot& property : properties_) {
    const BytesView name = names.text(property.name);
    for (; item != items.end() && names.text(item->name) < name; ++item) {
      PRECAST_TRY(named_attribute(rule, item->name, item->value));
    }
    if (item != items.end() && item->name == property.name) {
      return damaged(fmt::format("'{}' is given twice", name));
    }
    PRECAST_TRY(named_attribute(rule, property.name, property.value));
  }
  for (; item != items.end(); ++item) {
    PRECAST_TRY(named_attribute(rule, item->name, item->value));
  }
  return {};
}

Result<void> Walker::named_attribute(const OpRule& rule, NameId name, std::uint64_t value) {
  values_.names().write(out_, name);
  if (name == rule.call_target) {
    const auto target = values_.string_of(value);
    // What it calls decides whether the program may be cached at all.
    if (!target) {
      return Error(ErrorCode::unsupported, "the target of a custom call is not a plain string");
    }
    custom_calls_.add(*target);
  }
  if (name == rule.visibility) is_private_ = values_.string_of(value) == "private";
  if (name != rule.symbol_slot) return values_.attribute(value);
  PRECAST_ASSIGN(function_, values_.symbol_slot(value, symbols_));
  return {};
}

void Walker::dialect_versions() {
  std::vector<const Dialect*> versioned;
  for (const Dialect& dialect : tables_.dialects) {
    if (dialect.version) versioned.push_back(&dialect);
  }
  std::ranges::sort(versioned, {}, [](const Dialect* dialect) {
    return std::pair(dialect->name, *dialect->version);
  });
  out_.number(versioned.size());
  for (const Dialect* dialect : versioned) {
    out_.bytes(dialect->name);
    out_.bytes(*dialect->version);
  }
}

}  // namespace precast::program::bytecode
