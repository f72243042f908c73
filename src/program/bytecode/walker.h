// Walks the operations of a bytecode file and writes them to the canonical stream.
//
// Leaves out the locations of operations and block arguments and the order of use lists; they are
// stepped over without being decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "precast/result.h"
#include "program/bytecode/container.h"
#include "program/bytecode/op_rules.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/tables.h"
#include "program/bytecode/value_writer.h"
#include "program/canonical_stream.h"
#include "program/custom_calls.h"

namespace precast::program::bytecode {

class Walker {
 public:
  Walker(const Container& container, const Tables& tables, CanonicalStream& out);

  // The whole program. unsupported: something that no rule decodes. corrupt: damaged.
  Result<void> program();

  const CustomCallScan& custom_calls() const { return custom_calls_; }

 private:
  struct PropertySlot {
    NameId name = kNoName;
    std::uint64_t value = 0;
  };
  struct OperationHead {
    const OpRule* rule = nullptr;
    std::uint8_t mask = 0;
    std::optional<std::uint64_t> dictionary;
    std::optional<std::uint64_t> properties;
  };

  Result<void> operation(Cursor& in);
  Result<OperationHead> operation_head(Cursor& in);
  Result<void> attributes(const OperationHead& head);
  Result<BytesView> read_properties(const OperationHead& head);
  Result<void> merged_attributes(const OpRule& rule, const std::vector<DictionaryItem>& items);
  Result<void> named_attribute(const OpRule& rule, NameId name, std::uint64_t value);
  Result<std::uint64_t> result_types(Cursor& in, bool present);
  Result<void> numbers(Cursor& in, bool present);
  Result<void> use_lists(Cursor& in, std::uint64_t values);
  // Both return the number of blocks.
  Result<std::uint64_t> regions(Cursor& in, bool present);
  Result<std::uint64_t> region(Cursor& in);
  Result<void> block(Cursor& in);
  Result<void> block_arguments(Cursor& in);
  void dialect_versions();

  const Container& container_;
  const Tables& tables_;
  CanonicalStream& out_;
  ValueWriter values_;
  OpRules rules_;
  Symbols symbols_;
  CustomCallScan custom_calls_;
  std::vector<PropertySlot> properties_;
  // Of the operation whose attributes were written last: the function that its symbol slot names,
  // and whether its visibility is private.
  SymbolId function_ = kNoSymbol;
  bool is_private_ = false;
  int depth_ = 0;
};

}  // namespace precast::program::bytecode
