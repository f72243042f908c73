#include "program/program_digest.h"

#include "base/hash.h"

namespace precast::program {

std::string_view to_string(DigestMode mode) {
  switch (mode) {
    case DigestMode::raw: return "raw";
  }
  return "unknown";
}

ProgramDigest digest_program(const Program& program) {
  return {DigestMode::raw, program.format(), base::sha256(program.bytes()), program.bytes().size()};
}

}  // namespace precast::program
