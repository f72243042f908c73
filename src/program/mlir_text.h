// Whether bytes are MLIR as text.
#pragma once

#include "precast/bytes.h"

namespace precast::program {

// Valid UTF-8 without control characters other than white space.
bool is_text(BytesView bytes);

// The text behind leading white space and // comments.
BytesView skip_comments(BytesView text);

// Whether text, behind white space and comments, begins like an MLIR module: a module, a function,
// an alias (#loc = ...), an operation of a dialect that programs use, or a generic operation in
// quotes.
bool begins_like_mlir(BytesView text);

}  // namespace precast::program
