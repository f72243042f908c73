// Bytes are hostile until they are verified, so bytes cannot be loaded.
#include "precast/artifact.h"
#include "precast/cache.h"

#ifdef PRECAST_BAD
using Artifact = precast::Bytes;
#else
using Artifact = precast::VerifiedArtifact;
#endif

precast::Result<precast::LoadedExecutable> load_it(const precast::Client& client,
                                                   const Artifact& artifact) {
  return precast::load(client, artifact, {});
}
