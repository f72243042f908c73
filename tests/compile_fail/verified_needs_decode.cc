// decode() and what uses it are the only ways to a VerifiedArtifact.
#include "precast/artifact.h"

precast::Result<precast::VerifiedArtifact> verified(precast::Bytes bytes) {
#ifdef PRECAST_BAD
  return precast::VerifiedArtifact(std::move(bytes));
#else
  return precast::VerifiedArtifact::decode(std::move(bytes));
#endif
}
