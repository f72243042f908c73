// What cache/ needs of executables and callers of the library must not have.
#pragma once

#include <optional>

#include "precast/bytes.h"
#include "precast/client.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::pjrt {

// Hands serialized bytes to the plugin, which runs what is in them: only bytes of a
// VerifiedArtifact may come here. `options` (a serialized xla.CompileOptionsProto) replace those
// that are stored in the bytes. Errors: unsupported when the plugin cannot load, or cannot replace
// the options (PJRT before 0.71); invalid_argument when the options are not whole or name a device
// that the client lacks; plugin_error.
Result<LoadedExecutable> deserialize_and_load(const Client& client, BytesView executable,
                                              BytesView options);

// What run() checks its inputs against. Call it before the executable is handed out: not
// thread-safe.
void set_signature(const LoadedExecutable& executable, std::optional<ProgramSignature> signature);

}  // namespace precast::pjrt
