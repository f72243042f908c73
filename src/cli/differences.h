// How two saved records differ, for people and as JSON.
#pragma once

#include <string>

#include "cli/json.h"
#include "cli/output.h"
#include "precast/explain.h"

namespace precast::cli {

// What stands over the two sides: "expected" and "found", or the names of two files.
struct Sides {
  std::string left;
  std::string right;
};

// [{"name": "options.x", "expected": "...", "found": null}]: null where a side has none. What is no
// text is told by size and digest.
Json json_of_items(const std::vector<KeyDifference>& items);
// [{"function", "operation", "part", "expected", "found"}], where "operation" is null for what
// concerns a whole function.
Json json_of_program(const std::vector<OutlineDifference>& differences);

// A table of the items, then a line for each place in the program.
void print_differences(const RecordDifferences& differences, const Sides& sides, Output& out);

}  // namespace precast::cli
