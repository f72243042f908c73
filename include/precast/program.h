// Program: what is compiled.
//
//   PRECAST_ASSIGN(Program program, Program::from_file("ranker.mlirbc"));
//
// A program is StableHLO as text, StableHLO or VHLO as MLIR bytecode, or an HLO module as a
// serialized HloModuleProto. The format is detected from the bytes; nothing is parsed beyond what
// detection needs. Immutable and copyable (copies share the bytes), so it may be used from several
// threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/export.h"
#include "precast/result.h"

namespace precast {

// Persisted in artifacts and keys: append only.
enum class ProgramFormat : std::uint8_t {
  mlir_text = 1,      // StableHLO text
  mlir_bytecode = 2,  // MLIR bytecode, a portable artifact (VHLO) or raw StableHLO
  hlo_proto = 3,      // serialized xla.HloModuleProto
};

// "mlir_text", "mlir_bytecode", "hlo_proto".
PRECAST_EXPORT std::string_view to_string(ProgramFormat format);

struct StablehloVersion {  // As in a producer string.
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const StablehloVersion&) const = default;
  std::string to_string() const {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
};

class PRECAST_EXPORT Program {
 public:
  // Reads a file ("-": standard input) of at most limits::kMaxProgramBytes. Errors as from_bytes,
  // and those of reading.
  static Result<Program> from_file(const std::string& path);

  // `name` stands for the bytes in messages. invalid_argument when the bytes are empty or none of
  // the formats; the message says which format they look like, if any (HLO text, an artifact, a
  // jax.export file).
  static Result<Program> from_bytes(Bytes bytes, std::string name);

  BytesView bytes() const { return *bytes_; }
  ProgramFormat format() const { return format_; }
  const std::string& name() const { return name_; }

  // The version that a portable artifact's producer string names ("StableHLO_v1.13.0"); nothing for
  // other programs.
  const std::optional<StablehloVersion>& stablehlo_version() const { return stablehlo_version_; }

 private:
  Program() = default;
  std::shared_ptr<const Bytes> bytes_;
  ProgramFormat format_ = ProgramFormat::mlir_text;
  std::string name_;
  std::optional<StablehloVersion> stablehlo_version_;
};

}  // namespace precast
