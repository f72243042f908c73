// The head of an operation: what it is, which parts it has, and its properties.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/cursor.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/op_rules.h"

namespace precast::program::bytecode {

// The parts that an operation has, as bits of its mask.
namespace part {
inline constexpr std::uint8_t kAttributes = 0x01;
inline constexpr std::uint8_t kResults = 0x02;
inline constexpr std::uint8_t kOperands = 0x04;
inline constexpr std::uint8_t kSuccessors = 0x08;
inline constexpr std::uint8_t kRegions = 0x10;
inline constexpr std::uint8_t kUseLists = 0x20;
inline constexpr std::uint8_t kProperties = 0x40;
inline constexpr std::uint8_t kUnknown = 0x80;
}  // namespace part

struct OperationHead {
  const OpRule* rule = nullptr;
  std::uint8_t mask = 0;
  std::optional<std::uint64_t> dictionary;
  std::optional<std::uint64_t> properties;

  bool has(std::uint8_t wanted) const { return (mask & wanted) != 0; }
};

class OperationHeads {
 public:
  explicit OperationHeads(EntryReader& reader);

  // unsupported: the operation's properties cannot be decoded. corrupt: damaged.
  Result<OperationHead> read(Cursor& in);

  // Decodes the properties into properties(). Returns the packed segment sizes, which hold no
  // reference to a table.
  Result<BytesView> read_properties(const OperationHead& head);
  // Ascending by name; valid until the next read_properties().
  const std::vector<DictionaryItem>& properties() const { return properties_; }

 private:
  const Container& container_;
  const Tables& tables_;
  Names& names_;
  OpRules rules_;
  std::vector<DictionaryItem> properties_;
};

// Steps over the use-list orders of that many values.
Result<void> skip_use_lists(Cursor& in, std::uint64_t values);

}  // namespace precast::program::bytecode
