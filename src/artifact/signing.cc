#include "artifact/signing.h"

#include <algorithm>
#include <optional>
#include <string>

#include "artifact/ed25519.h"
#include "base/hash.h"
#include "precast/limits.h"

namespace precast {
namespace artifact {
namespace {

bool is_trusted(const SignaturePolicy& policy, const VerifyKey& key) {
  return std::find(policy.trusted.begin(), policy.trusted.end(), key) != policy.trusted.end();
}

std::string hex(const VerifyKey& key) {
  return base::to_hex({reinterpret_cast<const char*>(key.data()), key.size()});
}

Error untrusted(const Header& header, const SignaturePolicy& policy) {
  std::string found = "it has none";
  if (!header.signatures.empty()) {
    found = "it is signed by";
    for (const ArtifactSignature& signature : header.signatures) {
      found += " " + hex(signature.key);
      if (!is_trusted(policy, signature.key)) found += " (not trusted)";
      if (!verifies(header.root, signature)) found += " (wrong)";
    }
  }
  const std::string keys =
      policy.trusted.empty()
          ? "but no key is trusted"
          : "by one of " + std::to_string(policy.trusted.size()) + " trusted keys";
  return {ErrorCode::untrusted, "the artifact needs a signature " + keys + "; " + found};
}

}  // namespace

Result<void> check_signatures(const Header& header, const SignaturePolicy& policy) {
  const auto& signatures = header.signatures;
  std::optional<Error> broken;
  bool trusted = false;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const std::uint64_t at =
        header.signatures_offset + kSignatureCountBytes + i * kSignatureEntryBytes;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (signatures[earlier].key == signatures[i].key) {
        broken = damaged(at, "the key " + hex(signatures[i].key) + " signs twice");
      }
    }
    if (!verifies(header.root, signatures[i])) {
      broken = damaged(at, "the signature by " + hex(signatures[i].key) + " is wrong");
    } else if (is_trusted(policy, signatures[i].key)) {
      trusted = true;
    }
  }
  if (policy.required && !trusted) return untrusted(header, policy);
  if (broken) return *std::move(broken);
  return {};
}

}  // namespace artifact

Result<Bytes> sign_artifact(BytesView bytes, const SigningKey& key) {
  // Nothing is signed that would not load.
  PRECAST_ASSIGN(const VerifiedArtifact sound, VerifiedArtifact::decode(Bytes(bytes)));
  PRECAST_ASSIGN(const ArtifactSignature added, artifact::sign_root(sound.root(), key));
  std::vector<ArtifactSignature> signatures = sound.signatures();
  for (const ArtifactSignature& present : signatures) {
    if (present.key == added.key) return Bytes(bytes);  // the same bytes: it is deterministic
  }
  if (signatures.size() == limits::kMaxSignatures) {
    return Error(ErrorCode::resource_exhausted, "the artifact has " +
                                                    std::to_string(limits::kMaxSignatures) +
                                                    " signatures already, as many as it can hold");
  }
  signatures.push_back(added);
  PRECAST_ASSIGN(const artifact::Header header, artifact::parse_header(bytes));
  Bytes out(bytes.substr(0, header.signatures_offset));
  out += artifact::encode_signatures(signatures);
  out += bytes.substr(header.sections_offset);
  return out;
}

}  // namespace precast
