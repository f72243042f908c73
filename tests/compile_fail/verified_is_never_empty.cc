// There is no VerifiedArtifact that verified nothing.
#include "precast/artifact.h"

#include <optional>

#ifdef PRECAST_BAD
precast::VerifiedArtifact none() { return precast::VerifiedArtifact(); }
#else
std::optional<precast::VerifiedArtifact> none() { return std::nullopt; }
#endif
