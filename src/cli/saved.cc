#include "cli/saved.h"

#include <utility>

#include "cli/files.h"
#include "precast/artifact.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

Result<Comparable> comparable_of(Bytes bytes, const std::string& path) {
  if (looks_like_saved_record(bytes)) {
    PRECAST_ASSIGN(SavedRecord saved, SavedRecord::decode(bytes));
    return Comparable{"record", std::move(saved), std::nullopt};
  }
  if (looks_like_artifact(bytes)) {
    PRECAST_ASSIGN(const VerifiedArtifact artifact, VerifiedArtifact::decode(std::move(bytes)));
    PRECAST_ASSIGN(SavedRecord saved, SavedRecord::from_artifact(artifact));
    return Comparable{"artifact", std::move(saved), std::nullopt};
  }
  PRECAST_ASSIGN(Program program, Program::from_bytes(std::move(bytes), path));
  SavedRecord saved = SavedRecord::from_program(program);
  return Comparable{"program", std::move(saved), std::move(program)};
}

}  // namespace

Result<Comparable> read_comparable(const std::string& path) {
  PRECAST_ASSIGN(Bytes bytes, read_input(path, limits::kMaxArtifactBytes));
  return comparable_of(std::move(bytes), path).with("while reading '" + path + "'");
}

}  // namespace precast::cli
