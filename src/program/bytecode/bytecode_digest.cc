#include "program/bytecode/bytecode_digest.h"

#include "precast/limits.h"
#include "program/bytecode/container.h"
#include "program/bytecode/entry_layouts.h"
#include "program/bytecode/tables.h"
#include "program/bytecode/walker.h"
#include "program/canonical_stream.h"

namespace precast::program {

Result<StructuralDigest> digest_bytecode(BytesView bytes) {
  PRECAST_ASSIGN(const bytecode::Container container, bytecode::read_container(bytes));
  PRECAST_ASSIGN(const bytecode::Tables tables, bytecode::read_tables(container));
  CanonicalStream stream("precast: structure of MLIR bytecode",
                         limits::program_expansion_bytes(bytes.size()));
  stream.number(bytecode::kBytecodeRulesVersion);
  bytecode::Walker walker(container, tables, stream);
  PRECAST_TRY(walker.program());
  return StructuralDigest{.sha256 = stream.finish(), .custom_calls = walker.custom_calls()};
}

}  // namespace precast::program
