// The digest of a program for the key.
#pragma once

#include <cstdint>
#include <string_view>

#include "precast/digest.h"
#include "precast/program.h"

namespace precast::program {

// How the digest was made. Part of the key: append only.
enum class DigestMode : std::uint8_t {
  raw = 1,  // SHA-256 of the bytes as they are
};
std::string_view to_string(DigestMode mode);

struct ProgramDigest {
  DigestMode mode = DigestMode::raw;
  ProgramFormat format = ProgramFormat::mlir_text;
  Digest sha256;
  std::uint64_t bytes = 0;
  bool operator==(const ProgramDigest&) const = default;
};

ProgramDigest digest_program(const Program& program);

}  // namespace precast::program
