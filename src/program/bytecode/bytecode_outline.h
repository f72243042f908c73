// The outline of MLIR bytecode.
#pragma once

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/outline_builder.h"

namespace precast::program {

// Takes hostile bytes; errors as digest_bytecode().
Result<OutlineBuilder> outline_bytecode(BytesView bytes);

}  // namespace precast::program
