// The digest of a program for the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "precast/digest.h"
#include "precast/program.h"
#include "program/custom_calls.h"

namespace precast::program {

// How the digest was made. Part of the key: append only.
enum class DigestMode : std::uint8_t {
  raw = 1,         // SHA-256 of the bytes as they are
  structural = 2,  // of the operations that MLIR bytecode holds, without debug info and numbering
  text = 3,        // of the words of MLIR text, without locations, comments and white space
};
std::string_view to_string(DigestMode mode);

struct ProgramDigest {
  DigestMode mode = DigestMode::raw;
  ProgramFormat format = ProgramFormat::mlir_text;
  Digest sha256;
  // The version of the mode's rules; 0 for raw.
  std::uint32_t rules = 0;
  // Raw: the size of the program, and why no better mode was possible.
  std::uint64_t bytes = 0;
  std::string raw_reason;
  // What the program calls outside of itself.
  CustomCallScan custom_calls;
  bool operator==(const ProgramDigest&) const = default;
};

// Bytecode and text by their structure; what the rules cannot decode, and HLO modules, raw and
// whole: a false miss is allowed, a false hit never.
ProgramDigest digest_program(const Program& program);

}  // namespace precast::program
