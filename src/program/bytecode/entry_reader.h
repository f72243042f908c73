// Reads what the entries of the tables say, and writes nothing: which function an attribute names,
// which attributes a dictionary holds, the fields of an entry.
//
// Takes hostile tables: every number is checked, and nothing here recurses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/container.h"
#include "program/bytecode/entry_layouts.h"
#include "program/bytecode/names.h"
#include "program/bytecode/tables.h"

namespace precast::program::bytecode {

struct DictionaryItem {
  NameId name = kNoName;
  std::uint64_t value = 0;
};

class EntryReader {
 public:
  // An encoded entry, opened behind its code.
  struct Opened {
    const DialectLayouts* layouts = nullptr;
    std::uint64_t code = 0;
    Cursor fields;
  };
  // A string that may name a function, and which kind of attribute holds it.
  struct NamedFunction {
    std::uint64_t form = 0;
    std::uint32_t string = 0;
  };
  static constexpr std::uint64_t kFormBuiltinString = 0;
  static constexpr std::uint64_t kFormFlatSymbolRef = 1;
  static constexpr std::uint64_t kFormVhloString = 2;

  EntryReader(const Container& container, const Tables& tables);

  const Container& container() const { return container_; }
  const Tables& tables() const { return tables_; }
  Names& names() { return names_; }
  NameId dialect_name(const Entry& entry) const { return dialect_names_[entry.dialect]; }

  // Nothing for text, and for dialects of which no encoding is known.
  std::optional<Opened> open(const Entry& entry) const {
    Opened opened{.layouts = dialect_layouts_[entry.dialect],
                  .fields = Cursor(container_.file, entry.content)};
    if (!entry.encoded || opened.layouts == nullptr) return std::nullopt;
    opened.code = opened.fields.varint();
    return opened;
  }
  // The layout of an opened entry. unsupported when no rule decodes it.
  Result<const EntryLayout*> layout_of(const Entry& entry, const std::optional<Opened>& opened,
                                       bool of_types) const;
  // The text of an entry that is not encoded.
  Result<BytesView> text_of(const Entry& entry) const;

  // Nothing when the attribute is neither a string nor a flat symbol reference.
  std::optional<NamedFunction> named_function(std::uint64_t attribute) const;
  // The text of a string attribute of builtin or VHLO, or of a flat symbol reference.
  std::optional<BytesView> string_of(std::uint64_t attribute) const;
  // The functions that a list of names holds; nothing when it holds anything else. `is_vhlo` says
  // whose list it is.
  Result<std::optional<std::vector<NamedFunction>>> list_of_functions(std::uint64_t attribute,
                                                                      bool& is_vhlo) const;

  // The entries of a builtin dictionary, whose keys ascend strictly. The result is valid until the
  // next call.
  Result<const std::vector<DictionaryItem>*> dictionary(std::uint64_t index);
  // corrupt when the key is no string or does not stand behind `previous` (kNoName: any will do).
  Result<NameId> dictionary_key(std::uint64_t attribute, NameId previous);

 private:
  const Container& container_;
  const Tables& tables_;
  Names names_;
  std::vector<NameId> dialect_names_;
  std::vector<const DialectLayouts*> dialect_layouts_;  // null: not known
  std::vector<NameId> key_names_;                       // by string
  std::vector<bool> dictionaries_checked_;
  std::vector<DictionaryItem> dictionary_;
};

}  // namespace precast::program::bytecode
