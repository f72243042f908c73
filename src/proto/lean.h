// Lean executables: without what only people and profilers read.
#pragma once

#include <optional>

#include "precast/bytes.h"

namespace precast::proto {

// A serialized CPU executable without the metadata of its instructions (operation names, source
// lines, stack frames, original values), which the plugin parses at every load and never needs:
// the code, the buffers and everything else stay byte for byte. Nothing when the bytes are not of
// the form that is known, or there was nothing to leave out.
std::optional<Bytes> lean_cpu_executable(BytesView serialized_executable);

}  // namespace precast::proto
