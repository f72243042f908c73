// Bytes are hostile until they are verified.
#include <precast/precast.h>

precast::Result<precast::LoadedExecutable> load_it(const precast::Client& client,
                                                   const precast::Bytes& bytes) {
#ifdef MUST_NOT_COMPILE
  return precast::load(client, bytes);
#else
  PRECAST_ASSIGN(const precast::VerifiedArtifact artifact, precast::VerifiedArtifact::decode(bytes));
  return precast::load(client, artifact);
#endif
}
