// The outline of MLIR text.
#pragma once

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/outline_builder.h"

namespace precast::program {

// One operation for each line that has words that count; it is named after the first word with a
// dot in it ("stablehlo.add"). Names of values count by how long ago they were first mentioned, so
// a line more renames nothing. Takes hostile bytes; errors as digest_text().
Result<OutlineBuilder> outline_text(BytesView text);

}  // namespace precast::program
