#include "program/bytecode/symbols.h"

namespace precast::program::bytecode {

void Symbols::all_suffixes_count() {
  for (Symbol& symbol : symbols_) symbol.suffix_counts = true;
}

void Symbols::write_names(CanonicalStream& out) const {
  out.number(symbols_.size());
  for (const Symbol& symbol : symbols_) {
    const bool full = symbol.suffix_counts || !symbol.defined;
    out.number(full ? 1 : 0);
    out.bytes(full ? symbol.name : without_numeric_suffix(symbol.name));
  }
}

BytesView without_numeric_suffix(BytesView name) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  // At least one digit, and something before the underscore.
  if (end == name.size() || end < 2 || name[end - 1] != '_') return name;
  return name.substr(0, end - 1);
}

}  // namespace precast::program::bytecode
