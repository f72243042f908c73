// There is no other way to a VerifiedArtifact than decode().
#include <precast/precast.h>

precast::Result<precast::VerifiedArtifact> verify(const precast::Bytes& bytes) {
#ifdef MUST_NOT_COMPILE
  return precast::VerifiedArtifact(std::shared_ptr<const precast::VerifiedArtifact::Impl>());
#else
  return precast::VerifiedArtifact::decode(bytes);
#endif
}
