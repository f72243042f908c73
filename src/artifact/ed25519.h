// Ed25519 over the root of an artifact.
#pragma once

#include "precast/artifact.h"
#include "precast/digest.h"
#include "precast/result.h"

namespace precast::artifact {

// Deterministic: one key and root have one signature. internal when the cryptographic library
// refuses (out of memory, or built without Ed25519).
Result<ArtifactSignature> sign_root(const Digest& root, const SigningKey& key);

// Whether the signature is one of this root by the key that stands beside it. Says nothing about
// trust.
bool verifies(const Digest& root, const ArtifactSignature& signature);

}  // namespace precast::artifact
