// What cache/ needs of executables and callers of the library must not have.
#pragma once

#include <optional>

#include "precast/bytes.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/program.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::pjrt {

// Hands serialized bytes to the plugin, which runs what is in them: only bytes of a
// VerifiedArtifact, or that compile_for_topology() just gave, may come here. `options` (a
// serialized xla.CompileOptionsProto) replace those that are stored in the bytes. Errors:
// unsupported when the plugin cannot load, or cannot replace the options (PJRT before 0.71);
// invalid_argument when the options are not whole or name a device that the client lacks;
// plugin_error.
Result<LoadedExecutable> deserialize_and_load(const Client& client, BytesView executable,
                                              BytesView options);

// What the executable takes and gives, from its optimized program. Nothing when the plugin does not
// give that, or gives what does not fit.
std::optional<ProgramSignature> read_signature(const LoadedExecutable& executable);

// Remembers whether the program (may be null: not known) or the options ask for layouts of
// parameters. Where the signature does not tell which they are, such an executable refuses run()
// and execute(): data in another layout would give wrong results without an error. Not thread-safe.
void note_layout_wishes(const LoadedExecutable& executable, const Program* program,
                        const CompileOptions& options);

// Compiles for a described topology (a serialized xla.PjRtTopologyDescriptionProto) instead of the
// client's own, and gives the serialized executable, which deserialize_and_load() takes. Errors:
// unsupported when the plugin cannot, plugin_error, invalid_argument as in Client::compile.
Result<Bytes> compile_for_topology(const Client& client, BytesView topology, const Program& program,
                                   const CompileOptions& options);

// What run() checks its inputs against. Call it before the executable is handed out: not
// thread-safe.
void set_signature(const LoadedExecutable& executable, std::optional<ProgramSignature> signature);

}  // namespace precast::pjrt
