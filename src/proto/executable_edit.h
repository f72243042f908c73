// Edits on serialized executables (xla.ExecutableAndOptionsProto, as XLA's CPU plugin writes it).
// Everything else stays byte for byte.
#pragma once

#include <optional>

#include "precast/bytes.h"

namespace precast::proto {

// The same executable with other compile options stored beside it, which is what a load without
// options of its own takes its devices from. Nothing when the bytes are not of that form.
std::optional<Bytes> with_compile_options(BytesView serialized_executable, BytesView options);

// The same without the dump folder (xla_dump_to) that was in force when it was compiled: each load
// would write there. Nothing when there is none, or the bytes are not of that form.
std::optional<Bytes> without_dump_folder(BytesView serialized_executable);

}  // namespace precast::proto
