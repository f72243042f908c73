// Functions of the module, as the slots of op_layouts.h name them.
//
// In the stream a function is a number, in the order of first mention. The names follow at the end:
// of a private function without the numeric suffix ("_12") that makes names unique within a module,
// of everything else in full. The suffix counts after all when it could mean something beyond the
// slots: when the name is defined more than once, or also occurs as an ordinary string.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "precast/bytes.h"
#include "program/canonical_stream.h"

namespace precast::program::bytecode {

using SymbolId = std::uint32_t;
inline constexpr SymbolId kNoSymbol = UINT32_MAX;

class Symbols {
 public:
  // `name` must outlive this object.
  SymbolId id_of(BytesView name) {
    const auto [at, added] = ids_.try_emplace(name, static_cast<SymbolId>(symbols_.size()));
    if (added) symbols_.push_back({.name = name});
    return at->second;
  }

  void define(SymbolId id, bool is_private) {
    Symbol& symbol = symbols_[id];
    symbol.suffix_counts = symbol.defined || !is_private;
    symbol.defined = true;
  }

  // The program uses `text` as a string outside the slots.
  void occurs_elsewhere(BytesView text) {
    const auto at = ids_.find(text);
    if (at != ids_.end()) symbols_[at->second].suffix_counts = true;
  }
  void all_suffixes_count();

  void write_names(CanonicalStream& out) const;

 private:
  struct Symbol {
    BytesView name;
    bool defined = false;
    bool suffix_counts = false;
  };
  std::map<BytesView, SymbolId> ids_;  // ordered: see names.h
  std::vector<Symbol> symbols_;
};

// "relu_12" gives "relu"; a name without "_" and digits at its end is unchanged.
BytesView without_numeric_suffix(BytesView name);

}  // namespace precast::program::bytecode
