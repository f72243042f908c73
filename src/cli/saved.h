// What the verbs that compare take: programs, artifacts and saved records.
#pragma once

#include <optional>
#include <string>

#include "precast/explain.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast::cli {

// A file of one of the three kinds.
struct Comparable {
  std::string kind;  // "program", "artifact", "record"
  SavedRecord saved;
  std::optional<Program> program;
};

// Reads a file and finds out what it is; "-" is standard input. invalid_argument when it is none of
// the three.
Result<Comparable> read_comparable(const std::string& path);

}  // namespace precast::cli
