#include "program/program_digest.h"

#include <utility>

#include "base/hash.h"
#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/entry_layouts.h"
#include "program/hlo_proto.h"
#include "program/text_digest.h"

namespace precast::program {
namespace {

ProgramDigest raw(const Program& program, std::string reason) {
  ProgramDigest digest;
  digest.mode = DigestMode::raw;
  digest.format = program.format();
  digest.sha256 = base::sha256(program.bytes());
  digest.bytes = program.bytes().size();
  digest.raw_reason = std::move(reason);
  digest.custom_calls = scan_bytes_for_custom_calls(program.bytes());
  if (program.format() == ProgramFormat::hlo_proto) {
    add_custom_calls_of_hlo(program.bytes(), digest.custom_calls);
  } else {
    digest.custom_calls.plain_truncated = true;
  }
  return digest;
}

ProgramDigest decoded(const Program& program, DigestMode mode, std::uint32_t rules,
                      Result<StructuralDigest> structure) {
  if (!structure) return raw(program, structure.error().to_string());
  ProgramDigest digest;
  digest.mode = mode;
  digest.format = program.format();
  digest.sha256 = structure->sha256;
  digest.rules = rules;
  digest.custom_calls = std::move(structure->custom_calls);
  return digest;
}

}  // namespace

std::string_view to_string(DigestMode mode) {
  switch (mode) {
    case DigestMode::raw: return "raw";
    case DigestMode::structural: return "structural";
    case DigestMode::text: return "text";
  }
  return "unknown";
}

ProgramDigest digest_program(const Program& program) {
  switch (program.format()) {
    case ProgramFormat::mlir_bytecode:
      return decoded(program, DigestMode::structural, bytecode::kBytecodeRulesVersion,
                     digest_bytecode(program.bytes()));
    case ProgramFormat::mlir_text:
      return decoded(program, DigestMode::text, kTextRulesVersion, digest_text(program.bytes()));
    case ProgramFormat::hlo_proto: break;
  }
  return raw(program, "HLO modules count as they are");
}

}  // namespace precast::program
