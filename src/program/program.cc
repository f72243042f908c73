#include "precast/program.h"

#include "base/file.h"
#include "base/hash.h"
#include "precast/limits.h"
#include "program/hlo_proto.h"
#include "program/look_alike.h"
#include "program/mlir_bytecode.h"
#include "program/mlir_text.h"

namespace precast {
namespace {

Error invalid(const std::string& name, const std::string& what) {
  return {ErrorCode::invalid_argument, "'" + name + "' " + what};
}

Error unknown_format(const std::string& name, BytesView bytes) {
  const std::string seen = program::look_alike(bytes);
  if (!seen.empty()) return invalid(name, seen);
  constexpr std::size_t kShown = 16;
  return invalid(name,
                 "is none of the formats Precast knows (StableHLO text, MLIR bytecode, HLO proto); "
                 "it begins with the bytes " +
                     base::to_hex(bytes.substr(0, kShown)));
}

}  // namespace

std::string_view to_string(ProgramFormat format) {
  switch (format) {
    case ProgramFormat::mlir_text: return "mlir_text";
    case ProgramFormat::mlir_bytecode: return "mlir_bytecode";
    case ProgramFormat::hlo_proto: return "hlo_proto";
  }
  return "unknown";
}

Result<Program> Program::from_file(const std::string& path) {
  PRECAST_ASSIGN(Bytes bytes, base::read_file(path, limits::kMaxProgramBytes));
  return from_bytes(std::move(bytes), path == "-" ? "standard input" : path);
}

Result<Program> Program::from_bytes(Bytes bytes, std::string name) {
  if (bytes.empty()) return invalid(name, "is empty");
  if (bytes.size() > limits::kMaxProgramBytes) {
    return invalid(name, "has " + std::to_string(bytes.size()) + " bytes, more than the limit of " +
                             std::to_string(limits::kMaxProgramBytes));
  }
  Program result;
  if (program::has_bytecode_magic(bytes)) {
    result.format_ = ProgramFormat::mlir_bytecode;
    const auto head = program::read_bytecode_head(bytes);
    if (!head) return invalid(name, "is MLIR bytecode that is damaged or cut short in its head");
    result.stablehlo_version_ = program::stablehlo_version_of(head->producer);
  } else if (program::begins_like_mlir(bytes)) {
    // Whatever follows is for the plugin to judge: it takes bytes in comments and strings that are
    // no UTF-8, and a NUL at the end.
    result.format_ = ProgramFormat::mlir_text;
  } else if (program::looks_like_hlo_module(bytes)) {
    result.format_ = ProgramFormat::hlo_proto;
  } else {
    return unknown_format(name, bytes);
  }
  result.bytes_ = std::make_shared<const Bytes>(std::move(bytes));
  result.name_ = std::move(name);
  return result;
}

}  // namespace precast
