// The structural digest of MLIR bytecode.
//
// Does not count: locations of operations and block arguments, the order of use lists, the
// producer, the version of the bytecode, the order of sections and tables, how strings, attributes,
// types and operations are numbered, the keys of dense resources, and of private functions the
// numeric suffix that makes their names unique (symbols.h). Everything else counts, locations that
// are values of attributes included.
//
// Dialects: builtin, func, vhlo, stablehlo, chlo, sdy, and operations of any other that carry no
// properties and no attributes or types of their own. What the rules do not decode is an error, and
// the caller hashes the bytes as they are: a program may miss, but two that differ never share.
//
// One known difference between versions: chlo.scan, whose segment sizes version 6 packs.
#pragma once

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/structural_digest.h"

namespace precast::program {

// Takes hostile bytes. Time and memory are bounded by a multiple of their size. unsupported: no
// rule decodes a part. corrupt: damaged. resource_exhausted: beyond a limit of limits.h. Each
// message names the part and the reason.
Result<StructuralDigest> digest_bytecode(BytesView bytes);

}  // namespace precast::program
