// Outline: the functions and operations of a program as short digests.
//
//   const Outline before = outline_of(old_program), after = outline_of(new_program);
//   for (const OutlineDifference& d : diff(before, after)) std::puts(to_string(d).c_str());
//
// An outline is kept beside a key record, so that two programs can be compared by function and
// operation when neither is at hand any more. It explains and decides nothing: its digests are a
// few bytes long, and no key depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/export.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast {

// An operation, or a line of a program in text. Each number is the head of a SHA-256.
struct OutlineOp {
  std::uint16_t name = 0;        // index into Outline::op_names
  std::uint32_t attributes = 0;  // attributes and properties; of a text line all its words
  std::uint16_t types = 0;       // of results and of the arguments of its blocks
  std::uint16_t operands = 0;    // how far back the values were made that it takes
  bool operator==(const OutlineOp&) const = default;
};

struct OutlineFunction {  // A function of the program.
  // Of a private function without the numeric suffix that makes its name unique; empty for what
  // stands outside of functions.
  std::string name;
  std::uint64_t digest = 0;  // of all its operations
  std::uint64_t op_count = 0;
  std::vector<OutlineOp> ops;  // the first ones; fewer than op_count when the outline was cut
  bool operator==(const OutlineFunction&) const = default;
};

struct PRECAST_EXPORT Outline {
  std::vector<std::string> op_names;
  std::vector<OutlineFunction> functions;  // in the order of the program
  std::uint64_t left_out_functions = 0;    // that the limit had no room for
  std::string none_because;                // why there are no functions: "an HLO module has none"

  // Operations that the limit had no room for.
  std::uint64_t left_out_ops() const;

  // The stored form; docs/format.md has the table.
  Bytes encode() const;
  // corrupt when the bytes are not exactly one outline of at most limits::kMaxOutlineBytes.
  static Result<Outline> decode(BytesView bytes);

  bool operator==(const Outline&) const = default;
};

// Never fails: a program of which no outline can be made says so in none_because. What does not
// fit into `max_bytes` (encoded) is left out and counted, operations before functions.
PRECAST_EXPORT Outline outline_of(const Program& program);
PRECAST_EXPORT Outline outline_of(const Program& program, std::size_t max_bytes);

struct OutlineDifference {
  std::string function;  // of the left side, else of the right
  // The position within the function, from 0; nothing on a side that lacks the operation, and for
  // differences of whole functions.
  std::optional<std::uint64_t> left_op;
  std::optional<std::uint64_t> right_op;
  std::string op;    // "stablehlo.add"; empty for differences of whole functions
  std::string part;  // "function", "operation", "attributes", "types", "operands"
  std::string left;  // what stands on each side, in words
  std::string right;
};

// "main: operation 12 (stablehlo.add): attributes differ".
PRECAST_EXPORT std::string to_string(const OutlineDifference& difference);

// Where two programs differ, at most `most` places. Empty when the outlines show no difference,
// which proves nothing: they are cut, short, or absent.
PRECAST_EXPORT std::vector<OutlineDifference> diff(const Outline& left, const Outline& right,
                                                   std::size_t most = 20);

}  // namespace precast
