// Edits on serialized executables (xla.ExecutableAndOptionsProto, as XLA's CPU plugin writes it).
// Everything else stays byte for byte.
#pragma once

#include <optional>

#include "precast/bytes.h"
#include "precast/device_assignment.h"

namespace precast::proto {

// The same executable with another assignment in the compile options that are stored beside it:
// where a load without options of its own takes its devices from. `asked`: what a compile would
// have been given, if it was; `placed`: where it runs then, which some plugins store all the same.
// Nothing when the bytes are not of that form.
std::optional<Bytes> with_assignment(BytesView serialized_executable,
                                     const std::optional<DeviceAssignment>& asked,
                                     const std::optional<DeviceAssignment>& placed);

// The same without the dump folder (xla_dump_to) that was in force when it was compiled: each load
// would write there. Nothing when there is none, or the bytes are not of that form.
std::optional<Bytes> without_dump_folder(BytesView serialized_executable);

}  // namespace precast::proto
