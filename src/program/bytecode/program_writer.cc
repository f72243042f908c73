#include "program/bytecode/program_writer.h"

#include <algorithm>
#include <utility>

namespace precast::program::bytecode {

Result<void> ProgramWriter::attribute(const OpRule& rule, NameId name, std::uint64_t index) {
  reader_.names().write(out_, name);
  if (name == rule.call_target) {
    const auto target = reader_.string_of(index);
    // What it calls decides whether the program may be cached at all.
    if (!target) {
      return Error(ErrorCode::unsupported, "the target of a custom call is not a plain string");
    }
    custom_calls_.add(*target);
  }
  if (name == rule.visibility) {
    functions_.back().is_private = reader_.string_of(index) == "private";
  }
  if (name != rule.symbol_slot) return values_.attribute(index);
  PRECAST_ASSIGN(const SymbolId symbol, values_.symbol_slot(index, symbols_));
  if (rule.visibility != kNoName) functions_.back().symbol = symbol;
  return {};
}

void ProgramWriter::end_operation(const OpRule& rule, std::uint64_t blocks) {
  if (rule.visibility == kNoName) return;
  const Function function = functions_.back();
  functions_.pop_back();
  // A function without a body is someone else's: its name counts in full.
  if (function.symbol != kNoSymbol) {
    symbols_.define(function.symbol, function.is_private && blocks != 0);
  }
}

Result<void> ProgramWriter::finish() {
  PRECAST_TRY(values_.write_unused_resources());
  dialect_versions();
  values_.disclose(symbols_);
  symbols_.write_names(out_);
  return out_.check_budget();
}

void ProgramWriter::dialect_versions() {
  std::vector<const Dialect*> versioned;
  for (const Dialect& dialect : reader_.tables().dialects) {
    if (dialect.version) versioned.push_back(&dialect);
  }
  std::ranges::sort(versioned, {}, [](const Dialect* dialect) {
    return std::pair(dialect->name, *dialect->version);
  });
  out_.number(versioned.size());
  for (const Dialect* dialect : versioned) {
    out_.bytes(dialect->name);
    out_.bytes(*dialect->version);
  }
}

}  // namespace precast::program::bytecode
