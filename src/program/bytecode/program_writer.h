// Writes a program to the canonical stream: the visitor of Walk that the structural digest is of.
#pragma once

#include <cstdint>
#include <vector>

#include "precast/result.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/op_rules.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/value_writer.h"
#include "program/canonical_stream.h"
#include "program/custom_calls.h"

namespace precast::program::bytecode {

class ProgramWriter {
 public:
  ProgramWriter(EntryReader& reader, CanonicalStream& out)
      : reader_(reader), out_(out), values_(reader, out) {}

  // To be called behind the walk: what stands outside the operations.
  Result<void> finish();

  const CustomCallScan& custom_calls() const { return custom_calls_; }

  // The visitor; walk.h says when each is called.
  Result<void> begin_operation(const OpRule& rule) {
    PRECAST_TRY(out_.check_budget());
    reader_.names().write(out_, rule.name);
    if (rule.visibility != kNoName) functions_.push_back({});
    return {};
  }
  void attribute_count(std::uint64_t count) { out_.number(count); }
  Result<void> attribute(const OpRule& rule, NameId name, std::uint64_t index);
  void segments(BytesView sizes) { out_.bytes(sizes); }
  Result<void> type(std::uint64_t index) { return values_.type(index); }
  void result_count(std::uint64_t count) { out_.number(count); }
  void operand_count(std::uint64_t count) { out_.number(count); }
  void operand(std::uint64_t value) { out_.number(value); }
  void successor_count(std::uint64_t count) { out_.number(count); }
  void successor(std::uint64_t block) { out_.number(block); }
  void region_count(std::uint64_t count_and_flag) { out_.number(count_and_flag); }
  void region(std::uint64_t blocks) { out_.number(blocks); }
  void region_values(std::uint64_t count) { out_.number(count); }
  void block(std::uint64_t operations) { out_.number(operations); }
  void argument_count(std::uint64_t count) { out_.number(count); }
  void end_operation(const OpRule& rule, std::uint64_t blocks);

 private:
  // A function whose body is being walked.
  struct Function {
    SymbolId symbol = kNoSymbol;
    bool is_private = false;
  };

  void dialect_versions();

  EntryReader& reader_;
  CanonicalStream& out_;
  ValueWriter values_;
  Symbols symbols_;
  CustomCallScan custom_calls_;
  std::vector<Function> functions_;  // the innermost last
};

}  // namespace precast::program::bytecode
