// A program is compiled, not loaded.
#include "precast/artifact.h"
#include "precast/cache.h"
#include "precast/program.h"

#ifdef PRECAST_BAD
using Artifact = precast::Program;
#else
using Artifact = precast::VerifiedArtifact;
#endif

precast::Result<precast::LoadedExecutable> load_it(const precast::Client& client,
                                                   const Artifact& artifact) {
  return precast::load(client, artifact, {});
}
