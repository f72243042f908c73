#include "program/bytecode/bytecode_digest.h"

#include "precast/limits.h"
#include "program/bytecode/container.h"
#include "program/bytecode/entry_layouts.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/program_writer.h"
#include "program/bytecode/tables.h"
#include "program/bytecode/walk.h"
#include "program/canonical_stream.h"

namespace precast::program {

Result<StructuralDigest> digest_bytecode(BytesView bytes) {
  PRECAST_ASSIGN(const bytecode::Container container, bytecode::read_container(bytes));
  PRECAST_ASSIGN(const bytecode::Tables tables, bytecode::read_tables(container));
  CanonicalStream stream("precast: structure of MLIR bytecode",
                         limits::program_expansion_bytes(bytes.size()));
  stream.number(bytecode::kBytecodeRulesVersion);
  bytecode::EntryReader reader(container, tables);
  bytecode::ProgramWriter writer(reader, stream);
  PRECAST_TRY(bytecode::Walk(reader, writer).program());
  PRECAST_TRY(writer.finish());
  return StructuralDigest{.sha256 = stream.finish(), .custom_calls = writer.custom_calls()};
}

}  // namespace precast::program
