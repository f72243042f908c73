#include "program/bytecode/bytecode_outline.h"

#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.h"
#include "program/bytecode/container.h"
#include "program/bytecode/entry_digests.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/tables.h"
#include "program/bytecode/walk.h"

namespace precast::program {
namespace bytecode {
namespace {

// A visitor of Walk.
class OutlineCollector {
 public:
  explicit OutlineCollector(EntryReader& reader) : reader_(reader), digests_(reader) {}

  Result<void> begin_operation(const OpRule& rule) {
    const bool is_function = rule.visibility != kNoName;
    if (is_function) functions_.push_back({.number = builder_.add_function()});
    const std::size_t function = functions_.empty() ? 0 : functions_.back().number;
    Operation operation;
    operation.function = function;
    operation.number = builder_.add_op(function, reader_.names().text(rule.name));
    operations_.push_back(std::move(operation));
    return {};
  }

  Result<void> attribute(const OpRule& rule, NameId name, std::uint64_t index) {
    const bool is_function = rule.visibility != kNoName;
    if (name == rule.visibility)
      functions_.back().is_private = reader_.string_of(index) == "private";
    Bytes& attributes = operations_.back().attributes;
    put(attributes, short_digest(reader_.names().text(name)));
    if (name != rule.symbol_slot) {
      PRECAST_ASSIGN(const std::uint64_t digest, digests_.attribute(index));
      put(attributes, digest);
      return {};
    }
    // A function's own name is what it is found by; in its place stands nothing.
    const std::optional<BytesView> symbol = reader_.string_of(index);
    if (is_function) {
      functions_.back().name = std::string(symbol.value_or(BytesView()));
    } else if (symbol) {
      put(attributes, short_digest(without_numeric_suffix(*symbol)));
    }
    return {};
  }

  Result<void> type(std::uint64_t index) {
    PRECAST_ASSIGN(const std::uint64_t digest, digests_.type(index));
    put(operations_.back().types, digest);
    return {};
  }

  void attribute_count(std::uint64_t /*count*/) {}
  void segments(BytesView sizes) { operations_.back().attributes.append(sizes); }
  void result_count(std::uint64_t count) { defined_ += count; }
  void operand_count(std::uint64_t count) { put(operations_.back().operands, count); }
  // How far back the value was made: an operation that is put in before both changes nothing.
  void operand(std::uint64_t value) { put(operations_.back().operands, defined_ - value); }
  void successor_count(std::uint64_t count) { put(operations_.back().operands, count); }
  void successor(std::uint64_t block) { put(operations_.back().operands, block); }
  void region_count(std::uint64_t count_and_flag) {
    put(operations_.back().types, count_and_flag);
    // Values are numbered anew within an isolated operation.
    if ((count_and_flag & 1) != 0) outer_defined_.push_back(std::exchange(defined_, 0));
    operations_.back().isolated = (count_and_flag & 1) != 0;
  }
  void region(std::uint64_t blocks) { put(operations_.back().types, blocks); }
  void region_values(std::uint64_t /*count*/) {}
  void block(std::uint64_t /*operations*/) {}
  void argument_count(std::uint64_t count) {
    defined_ += count;
    put(operations_.back().types, count);
  }

  void end_operation(const OpRule& rule, std::uint64_t /*blocks*/) {
    const Operation& done = operations_.back();
    OutlineOp& op = builder_.op(done.function, done.number);
    op.attributes = head_of(done.attributes);
    op.types = static_cast<std::uint16_t>(head_of(done.types));
    op.operands = static_cast<std::uint16_t>(head_of(done.operands));
    if (done.isolated) {
      defined_ = outer_defined_.back();
      outer_defined_.pop_back();
    }
    operations_.pop_back();
    if (rule.visibility == kNoName) return;
    const Function& function = functions_.back();
    const BytesView name = function.name;
    builder_.name_function(function.number,
                           std::string(function.is_private ? without_numeric_suffix(name) : name));
    functions_.pop_back();
  }

  OutlineBuilder take() { return std::move(builder_); }

 private:
  struct Function {
    std::size_t number = 0;
    std::string name = {};
    bool is_private = false;
  };
  struct Operation {
    std::size_t function = 0;
    std::size_t number = 0;
    bool isolated = false;
    Bytes attributes;
    Bytes types;
    Bytes operands;
  };

  static void put(Bytes& bytes, std::uint64_t number) { base::append_little_endian(bytes, number); }
  static std::uint32_t head_of(BytesView bytes) {
    return static_cast<std::uint32_t>(short_digest(bytes));
  }

  EntryReader& reader_;
  EntryDigests digests_;
  OutlineBuilder builder_;
  std::vector<Function> functions_;    // the innermost last
  std::vector<Operation> operations_;  // those that are open
  std::vector<std::uint64_t> outer_defined_;
  std::uint64_t defined_ = 0;  // values so far, in the innermost isolated operation
};

}  // namespace
}  // namespace bytecode

Result<OutlineBuilder> outline_bytecode(BytesView bytes) {
  PRECAST_ASSIGN(const bytecode::Container container, bytecode::read_container(bytes));
  PRECAST_ASSIGN(const bytecode::Tables tables, bytecode::read_tables(container));
  bytecode::EntryReader reader(container, tables);
  bytecode::OutlineCollector collector(reader);
  PRECAST_TRY(bytecode::Walk(reader, collector).program());
  return collector.take();
}

}  // namespace precast::program
