// The Python literal in the header of a .npy file.
#pragma once

#include "cli/npy.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::cli {

// Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }": exactly these three keys in
// any order, spaces behind. Nothing else of Python is understood. invalid_argument otherwise.
Result<NpyHeader> parse_npy_literal(BytesView literal);

}  // namespace precast::cli
