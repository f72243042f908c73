// Whether bytes are a serialized HLO module, by structure.
#pragma once

#include "precast/bytes.h"
#include "program/custom_calls.h"

namespace precast::program {

// A serialized xla.HloModuleProto: every top-level field parses with the wire type that its number
// has, and there is an entry computation with instructions. Deeper levels are the plugin's to
// check. Empty bytes are none.
bool looks_like_hlo_module(BytesView bytes);

// Adds the targets of all custom calls of a serialized xla.HloModuleProto. What does not parse is
// said as plain targets that are left out.
void add_custom_calls_of_hlo(BytesView module, CustomCallScan& scan);

// An xla.HloProto, as XLA dumps it, or an xla.HloModuleProtoWithConfig: a message whose field 1 is
// an HLO module.
bool looks_like_wrapped_hlo_module(BytesView bytes);

// A serialized CPU executable (an xla.ExecutableAndOptionsProto), which holds a module three levels
// down.
bool looks_like_serialized_executable(BytesView bytes);

}  // namespace precast::program
