// Load: from verified bytes to an executable on devices, with every check that can be made before
// PJRT.
#pragma once

#include "cache/compatible.h"
#include "precast/artifact.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/key.h"
#include "precast/result.h"

namespace precast::cache {

// The compile options of an artifact that may be anybody's. corrupt; incompatible for a portable
// executable, of which the artifact does not say where it runs.
Result<CompileOptions> stored_options(const VerifiedArtifact& artifact);

// Loads `artifact`, whose record is `record` of this origin, with `options`: the compile options of
// the artifact with the assignment that is wanted now. Errors: incompatible, corrupt (the stored
// parts contradict each other), plugin_error.
Result<LoadedExecutable> load_verified(const Client& client, const VerifiedArtifact& artifact,
                                       const KeyRecord& record, RecordOrigin origin,
                                       const CompileOptions& options);

}  // namespace precast::cache
