// Writes attributes and types to the canonical stream.
//
// Takes hostile tables: an attribute that contains itself is an error, nesting is bounded, and an
// entry that is shared is written once, so a graph does not unfold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/entry_layouts.h"
#include "program/bytecode/names.h"
#include "program/bytecode/symbols.h"
#include "program/bytecode/tables.h"
#include "program/canonical_stream.h"

namespace precast::program::bytecode {

// What stands where the stream refers to an attribute, a type or a resource: the thing itself, one
// of two forms of symbols (attributes of operations only), or the number of an earlier one.
namespace reference {
inline constexpr std::uint64_t kHere = 0;
inline constexpr std::uint64_t kSymbol = 1;
inline constexpr std::uint64_t kSymbolList = 2;
inline constexpr std::uint64_t kFirstEarlier = 3;
}  // namespace reference

struct DictionaryItem {
  NameId name = kNoName;
  std::uint64_t value = 0;
};

class ValueWriter {
 public:
  ValueWriter(const Container& container, const Tables& tables, CanonicalStream& out);

  // unsupported: no rule decodes it. corrupt: damaged. Both leave the stream unusable.
  Result<void> attribute(std::uint64_t index) { return value(attributes_, index); }
  Result<void> type(std::uint64_t index) { return value(types_, index); }

  // An attribute that stands in a symbol slot: a function's name or a list of them. Anything else
  // is written as attribute() does. The function, if it is a single name, else kNoSymbol.
  Result<SymbolId> symbol_slot(std::uint64_t index, Symbols& symbols);

  // The text of a string attribute of builtin or VHLO, or of a flat symbol reference.
  std::optional<BytesView> string_of(std::uint64_t index) const;

  // The entries of a builtin dictionary, whose keys ascend strictly. The result is valid until the
  // next call.
  Result<const std::vector<DictionaryItem>*> dictionary(std::uint64_t index);

  // To be called behind everything else: what the symbols' names must disclose, and resources that
  // no attribute refers to.
  void disclose(Symbols& symbols) const;
  Result<void> write_unused_resources();

  Names& names() { return names_; }

 private:
  // How far the writing of each entry of a table has come.
  struct Space {
    const std::vector<Entry>& entries;
    std::vector<std::uint32_t> states;
    std::uint32_t written = 0;
    bool of_types = false;
  };
  // An encoded entry, opened behind its code.
  struct Opened {
    const DialectLayouts* layouts = nullptr;
    std::uint64_t code = 0;
    Cursor fields;
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
  Result<void> fields(Cursor& in, std::string_view layout);
  Result<void> field(Cursor& in, char kind);
  Result<void> optional_attribute(Cursor& in, char kind);
  Result<void> resource(Cursor& in);
  Result<void> resource_content(const Resource& resource);
  void string(Cursor& in);
  Result<NameId> dictionary_key(std::uint64_t attribute, NameId previous);
  std::optional<Opened> open(const Entry& entry) const;
  struct NamedFunction {
    std::uint64_t form = 0;
    std::uint32_t string = 0;
  };
  std::optional<NamedFunction> named_function(std::uint64_t attribute) const;
  Result<void> symbol_list(std::uint64_t attribute, Symbols& symbols);
  SymbolId symbol(std::uint32_t string, Symbols& symbols);

  const Container& container_;
  const Tables& tables_;
  CanonicalStream& out_;
  Names names_;
  Space attributes_;
  Space types_;
  std::vector<NameId> dialect_names_;
  std::vector<const DialectLayouts*> dialect_layouts_;  // null: not known
  std::vector<NameId> key_names_;                       // by string
  std::vector<SymbolId> symbols_;                       // by string
  std::vector<bool> strings_written_;                   // as an ordinary string
  std::vector<bool> dictionaries_checked_;
  std::vector<std::uint32_t> resource_states_;  // 0: unseen, else its number, from 1
  std::vector<std::size_t> resources_written_;  // in the order of their numbers
  std::vector<DictionaryItem> dictionary_;
  bool opaque_text_written_ = false;
  int depth_ = 0;
};

}  // namespace precast::program::bytecode
