// The parts of Walker that step through values, blocks and regions.
#include <fmt/format.h>

#include "precast/limits.h"
#include "program/bytecode/walker.h"

namespace precast::program::bytecode {

Result<std::uint64_t> Walker::result_types(Cursor& in, bool present) {
  const std::uint64_t count = present ? in.count() : 0;
  out_.number(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t type = in.varint();
    if (in.failed()) break;
    PRECAST_TRY(values_.type(type));
  }
  PRECAST_TRY(in.check("the results of an operation"));
  return count;
}

// Operands are numbers of values, successors numbers of blocks: both count what was defined before
// them, so they do not depend on the file's tables.
Result<void> Walker::numbers(Cursor& in, bool present) {
  const std::uint64_t count = present ? in.count() : 0;
  out_.number(count);
  for (std::uint64_t i = 0; i < count; ++i) out_.number(in.varint());
  return in.check("the operands or successors of an operation");
}

Result<void> Walker::use_lists(Cursor& in, std::uint64_t values) {
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

Result<std::uint64_t> Walker::regions(Cursor& in, bool present) {
  const std::uint64_t count_and_flag = present ? in.varint() : 0;
  const std::uint64_t count = count_and_flag >> 1;
  const bool isolated = (count_and_flag & 1) != 0;
  if (count > in.remaining()) in.fail("a count of regions is larger than the bytes behind it");
  PRECAST_TRY(in.check("the regions of an operation"));
  // Whether regions are isolated decides how their values are numbered.
  out_.number(count_and_flag);
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

Result<std::uint64_t> Walker::region(Cursor& in) {
  if (depth_ >= limits::kMaxBytecodeNesting) {
    return Error(ErrorCode::corrupt,
                 fmt::format("regions nest deeper than {}", limits::kMaxBytecodeNesting));
  }
  const std::uint64_t blocks = in.count();
  out_.number(blocks);
  if (blocks != 0) out_.number(in.varint());  // How many values: it decides the numbers of others.
  PRECAST_TRY(in.check("a region"));
  ++depth_;
  for (std::uint64_t i = 0; i < blocks; ++i) PRECAST_TRY(block(in));
  --depth_;
  return blocks;
}

Result<void> Walker::block(Cursor& in) {
  const std::uint64_t operations_and_flag = in.varint();
  const std::uint64_t operations = operations_and_flag >> 1;
  const bool has_arguments = (operations_and_flag & 1) != 0;
  if (operations > in.remaining()) in.fail("a block has more operations than bytes");
  PRECAST_TRY(in.check("a block"));
  out_.number(operations);
  if (has_arguments) {
    PRECAST_TRY(block_arguments(in));
  } else {
    out_.number(0);
  }
  for (std::uint64_t i = 0; i < operations; ++i) PRECAST_TRY(operation(in));
  return {};
}

Result<void> Walker::block_arguments(Cursor& in) {
  const std::uint64_t count = in.count();
  out_.number(count);
  const bool elided = container_.version.has_elided_locations();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t type = in.varint();
    bool has_location = true;
    if (elided) {
      has_location = (type & 1) != 0;
      type >>= 1;
    }
    if (has_location) in.index(tables_.attributes.size());
    if (in.failed()) break;
    PRECAST_TRY(values_.type(type));
  }
  if (container_.version.has_use_list_orders()) {
    constexpr std::uint8_t kHasOrders = 0x20;
    const std::uint8_t orders = in.byte();
    if (orders != 0 && orders != kHasOrders) in.fail("an unknown flag of block arguments");
    if (orders == kHasOrders) PRECAST_TRY(use_lists(in, count));
  }
  return in.check("the arguments of a block");
}

}  // namespace precast::program::bytecode
