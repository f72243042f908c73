// Steps through the operations of a bytecode file and tells a visitor what counts.
//
// Leaves out the locations of operations and block arguments and the order of use lists; they are
// stepped over without being decoded. A visitor has, in the order in which they are called:
//
//   Result<void> begin_operation(const OpRule&)
//     void attribute_count(std::uint64_t)
//     Result<void> attribute(const OpRule&, NameId, std::uint64_t index)   ascending by name
//     void segments(BytesView)                    packed segment sizes, which hold no reference
//     void result_count(std::uint64_t)            then Result<void> type(std::uint64_t index) each
//     void operand_count(std::uint64_t)           then void operand(std::uint64_t) each
//     void successor_count(std::uint64_t)         then void successor(std::uint64_t) each
//     void region_count(std::uint64_t count_and_flag)
//       void region(std::uint64_t blocks)
//         void region_values(std::uint64_t)       only with blocks
//         void block(std::uint64_t operations)
//           void argument_count(std::uint64_t)    then Result<void> type(std::uint64_t index) each
//           the block's operations
//   void end_operation(const OpRule&, std::uint64_t blocks)
//
// Operands are numbers of values, successors numbers of blocks: both count what was defined before
// them, so they do not depend on the file's tables. Whether regions are isolated (the flag) and how
// many values a region has decides how values are numbered.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "precast/limits.h"
#include "precast/result.h"
#include "program/bytecode/container.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/op_rules.h"
#include "program/bytecode/operation_head.h"
#include "program/bytecode/tables.h"

namespace precast::program::bytecode {

template <class Visitor>
class Walk {
 public:
  Walk(EntryReader& reader, Visitor& visitor)
      : reader_(reader), container_(reader.container()), visitor_(visitor), heads_(reader) {}

  // The whole program. unsupported: something that no rule decodes. corrupt: damaged.
  Result<void> program() {
    Cursor in = container_.open(Section::ir);
    constexpr std::uint64_t kOneOperationNoArguments = 1 << 1;
    if (in.varint() != kOneOperationNoArguments) in.fail("the program is not one operation");
    PRECAST_TRY(in.check("the IR section"));
    PRECAST_TRY(operation(in));
    return in.check_end("the IR section");
  }

 private:
  Result<void> operation(Cursor& in) {
    PRECAST_ASSIGN(const OperationHead head, heads_.read(in));
    const OpRule& rule = *head.rule;
    PRECAST_TRY(visitor_.begin_operation(rule));
    if (Result<void> told = attributes(head); !told) {
      return std::move(told).error().with(
          fmt::format("while reading an operation '{}'", reader_.names().text(rule.name)));
    }
    PRECAST_ASSIGN(const std::uint64_t results, result_types(in, head.has(part::kResults)));
    PRECAST_TRY(operands(in, head.has(part::kOperands)));
    PRECAST_TRY(successors(in, head.has(part::kSuccessors)));
    if (head.has(part::kUseLists)) PRECAST_TRY(skip_use_lists(in, results));
    PRECAST_ASSIGN(const std::uint64_t blocks, regions(in, head.has(part::kRegions)));
    visitor_.end_operation(rule, blocks);
    return {};
  }

  // Properties and discardable attributes are one thing in older bytecode, so they are merged by
  // name; both are in ascending order.
  Result<void> attributes(const OperationHead& head) {
    const std::vector<DictionaryItem>* items = &no_items_;
    if (head.dictionary) {
      PRECAST_ASSIGN(items, reader_.dictionary(*head.dictionary));
    }
    PRECAST_ASSIGN(const BytesView segments, heads_.read_properties(head));
    const std::vector<DictionaryItem>& properties = heads_.properties();
    const Names& names = reader_.names();
    visitor_.attribute_count(properties.size() + items->size());
    auto item = items->begin();
    for (const DictionaryItem& property : properties) {
      const BytesView name = names.text(property.name);
      for (; item != items->end() && names.text(item->name) < name; ++item) {
        PRECAST_TRY(visitor_.attribute(*head.rule, item->name, item->value));
      }
      if (item != items->end() && item->name == property.name) {
        return Error(ErrorCode::corrupt, fmt::format("'{}' is given twice", name));
      }
      PRECAST_TRY(visitor_.attribute(*head.rule, property.name, property.value));
    }
    for (; item != items->end(); ++item) {
      PRECAST_TRY(visitor_.attribute(*head.rule, item->name, item->value));
    }
    visitor_.segments(segments);
    return {};
  }

  Result<std::uint64_t> result_types(Cursor& in, bool present) {
    const std::uint64_t count = present ? in.count() : 0;
    visitor_.result_count(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t type = in.varint();
      if (in.failed()) break;
      PRECAST_TRY(visitor_.type(type));
    }
    PRECAST_TRY(in.check("the results of an operation"));
    return count;
  }

  Result<void> operands(Cursor& in, bool present) {
    const std::uint64_t count = present ? in.count() : 0;
    visitor_.operand_count(count);
    for (std::uint64_t i = 0; i < count; ++i) visitor_.operand(in.varint());
    return in.check("the operands of an operation");
  }

  Result<void> successors(Cursor& in, bool present) {
    const std::uint64_t count = present ? in.count() : 0;
    visitor_.successor_count(count);
    for (std::uint64_t i = 0; i < count; ++i) visitor_.successor(in.varint());
    return in.check("the successors of an operation");
  }

  Result<std::uint64_t> regions(Cursor& in, bool present) {
    const std::uint64_t count_and_flag = present ? in.varint() : 0;
    const std::uint64_t count = count_and_flag >> 1;
    const bool isolated = (count_and_flag & 1) != 0;
    if (count > in.remaining()) in.fail("a count of regions is larger than the bytes behind it");
    PRECAST_TRY(in.check("the regions of an operation"));
    visitor_.region_count(count_and_flag);
    if (count == 0) return 0;
    Cursor section;
    const bool nested = isolated && container_.version.has_isolated_sections();
    if (nested) {
      section = Cursor(container_.file, read_section(in, Section::ir));
      PRECAST_TRY(in.check("the regions of an operation"));
    }
    Cursor& source = nested ? section : in;
    std::uint64_t blocks = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      PRECAST_ASSIGN(const std::uint64_t in_region, region(source));
      blocks += in_region;
    }
    if (nested) PRECAST_TRY(section.check_end("the regions of an operation"));
    return blocks;
  }

  Result<std::uint64_t> region(Cursor& in) {
    if (depth_ >= limits::kMaxBytecodeNesting) {
      return Error(ErrorCode::corrupt,
                   fmt::format("regions nest deeper than {}", limits::kMaxBytecodeNesting));
    }
    const std::uint64_t blocks = in.count();
    visitor_.region(blocks);
    if (blocks != 0) visitor_.region_values(in.varint());
    PRECAST_TRY(in.check("a region"));
    ++depth_;
    for (std::uint64_t i = 0; i < blocks; ++i) PRECAST_TRY(block(in));
    --depth_;
    return blocks;
  }

  Result<void> block(Cursor& in) {
    const std::uint64_t operations_and_flag = in.varint();
    const std::uint64_t operations = operations_and_flag >> 1;
    const bool has_arguments = (operations_and_flag & 1) != 0;
    if (operations > in.remaining()) in.fail("a block has more operations than bytes");
    PRECAST_TRY(in.check("a block"));
    visitor_.block(operations);
    if (has_arguments) {
      PRECAST_TRY(block_arguments(in));
    } else {
      visitor_.argument_count(0);
    }
    for (std::uint64_t i = 0; i < operations; ++i) PRECAST_TRY(operation(in));
    return {};
  }

  Result<void> block_arguments(Cursor& in) {
    const std::uint64_t count = in.count();
    visitor_.argument_count(count);
    const bool elided = container_.version.has_elided_locations();
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t type = in.varint();
      bool has_location = true;
      if (elided) {
        has_location = (type & 1) != 0;
        type >>= 1;
      }
      if (has_location) in.index(reader_.tables().attributes.size());
      if (in.failed()) break;
      PRECAST_TRY(visitor_.type(type));
    }
    if (container_.version.has_use_list_orders()) {
      constexpr std::uint8_t kHasOrders = 0x20;
      const std::uint8_t orders = in.byte();
      if (orders != 0 && orders != kHasOrders) in.fail("an unknown flag of block arguments");
      if (orders == kHasOrders) PRECAST_TRY(skip_use_lists(in, count));
    }
    return in.check("the arguments of a block");
  }

  EntryReader& reader_;
  const Container& container_;
  Visitor& visitor_;
  OperationHeads heads_;
  const std::vector<DictionaryItem> no_items_;
  int depth_ = 0;
};

}  // namespace precast::program::bytecode
