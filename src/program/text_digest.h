// The digest of a program that is MLIR text.
//
// Does not count: white space, comments, locations behind operations and block arguments, and the
// lines that give locations a name. Everything else counts as it is written, names of values and
// the order of attributes included: two texts of one program may differ, two programs never share.
#pragma once

#include <cstdint>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/structural_digest.h"

namespace precast::program {

// The rules by which text is hashed. Part of every digest; raise it with every change of them.
inline constexpr std::uint32_t kTextRulesVersion = 2;

// Takes hostile bytes. corrupt: a string that does not end, brackets that do not match or nest too
// deep, a character that MLIR text does not have. unsupported: a location that is used as a value
// under a name. The caller then hashes the bytes as they are.
Result<StructuralDigest> digest_text(BytesView text);

}  // namespace precast::program
