// What an artifact's signatures say under a policy.
#pragma once

#include "artifact/header.h"
#include "precast/artifact.h"
#include "precast/result.h"

namespace precast::artifact {

// untrusted when the policy requires a signature by a trusted key and none is there and right;
// corrupt when any signature does not verify against its own key (even when the policy asks for
// none: nothing else covers its bytes) or a key stands twice.
Result<void> check_signatures(const Header& header, const SignaturePolicy& policy);

}  // namespace precast::artifact
