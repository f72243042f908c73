// Writes attributes and types to the canonical stream.
//
// Takes hostile tables: an attribute that contains itself is an error, nesting is bounded, and an
// entry that is shared is written once, so a graph does not unfold.
#pragma once

#include <cstdint>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/names.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/tables.h"
#include "program/canonical_stream.h"

namespace precast::program::bytecode {

template <class Sink>
class EntryFields;

// What stands where the stream refers to an attribute, a type or a resource: the thing itself, one
// of two forms of symbols (attributes of operations only), or the number of an earlier one.
namespace reference {
inline constexpr std::uint64_t kHere = 0;
inline constexpr std::uint64_t kSymbol = 1;
inline constexpr std::uint64_t kSymbolList = 2;
inline constexpr std::uint64_t kFirstEarlier = 3;
}  // namespace reference

class ValueWriter {
 public:
  ValueWriter(EntryReader& reader, CanonicalStream& out);

  // unsupported: no rule decodes it. corrupt: damaged. Both leave the stream unusable.
  Result<void> attribute(std::uint64_t index) { return value(attributes_, index); }
  Result<void> type(std::uint64_t index) { return value(types_, index); }

  // An attribute that stands in a symbol slot: a function's name or a list of them. Anything else
  // is written as attribute() does. The function, if it is a single name, else kNoSymbol.
  Result<SymbolId> symbol_slot(std::uint64_t index, Symbols& symbols);

  // To be called behind everything else: what the symbols' names must disclose, and resources that
  // no attribute refers to.
  void disclose(Symbols& symbols) const;
  Result<void> write_unused_resources();

 private:
  friend class EntryFields<ValueWriter>;

  // How far the writing of each entry of a table has come.
  struct Space {
    const std::vector<Entry>& entries;
    std::vector<std::uint32_t> states;
    std::uint32_t written = 0;
    bool of_types = false;
  };

  static constexpr std::uint32_t kUnseen = 0;
  static constexpr std::uint32_t kOpen = 1;
  static constexpr std::uint32_t kFirstDone = 2;

  Result<void> value(Space& space, std::uint64_t index) {
    if (index < space.states.size() && space.states[index] >= kFirstDone) {
      out_.number(space.states[index] - kFirstDone + reference::kFirstEarlier);
      return {};
    }
    return first_use(space, index);
  }
  Result<void> first_use(Space& space, std::uint64_t index);
  Result<void> encoded_entry(const Entry& entry, bool of_types);
  Result<void> text_entry(const Entry& entry);

  // A sink of EntryFields, with attribute() and type().
  void number(std::uint64_t number) { out_.number(number); }
  void bytes(BytesView content) { out_.bytes(content); }
  void key(NameId name) { reader_.names().write(out_, name); }
  void string(std::uint64_t index) {
    out_.bytes(tables_.strings[index]);
    strings_written_[index] = true;
  }
  Result<void> resource(std::size_t index);
  Result<void> check_budget() const { return out_.check_budget(); }

  Result<void> resource_content(const Resource& resource);
  Result<void> symbol_list(std::uint64_t attribute, Symbols& symbols);
  SymbolId symbol(std::uint32_t string, Symbols& symbols);

  EntryReader& reader_;
  const Tables& tables_;
  CanonicalStream& out_;
  Space attributes_;
  Space types_;
  std::vector<SymbolId> symbols_;               // by string
  std::vector<bool> strings_written_;           // as an ordinary string
  std::vector<std::uint32_t> resource_states_;  // 0: unseen, else its number, from 1
  std::vector<std::size_t> resources_written_;  // in the order of their numbers
  bool opaque_text_written_ = false;
  int depth_ = 0;
};

}  // namespace precast::program::bytecode
