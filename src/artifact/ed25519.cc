#include "artifact/ed25519.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>
#include <string>

#include "artifact/layout.h"

namespace precast {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeKey>;
using ContextHandle = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Takes back what OpenSSL left in the thread's error queue: the program around us may be about to
// read its own.
class ErrorQueueGuard {
 public:
  ErrorQueueGuard() { ERR_set_mark(); }
  ~ErrorQueueGuard() { ERR_pop_to_mark(); }
  ErrorQueueGuard(const ErrorQueueGuard&) = delete;
  ErrorQueueGuard& operator=(const ErrorQueueGuard&) = delete;
};

Error refused(const std::string& what) {
  return {ErrorCode::internal, "OpenSSL cannot " + what + " with Ed25519"};
}

KeyHandle private_key(const SigningKey& key) {
  return KeyHandle(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
}

Bytes message_of(const Digest& root) {
  Bytes message(artifact::kSigningContext);
  message.append(root.view());
  return message;
}

const unsigned char* data_of(const Bytes& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Result<VerifyKey> verify_key_of(const SigningKey& key) {
  const ErrorQueueGuard guard;
  const KeyHandle handle = private_key(key);
  VerifyKey out{};
  std::size_t size = out.size();
  if (!handle || EVP_PKEY_get_raw_public_key(handle.get(), out.data(), &size) != 1 ||
      size != out.size()) {
    return refused("derive a public key");
  }
  return out;
}

namespace artifact {

Result<ArtifactSignature> sign_root(const Digest& root, const SigningKey& key) {
  const ErrorQueueGuard guard;
  ArtifactSignature out{};
  PRECAST_ASSIGN(out.key, verify_key_of(key));
  const KeyHandle handle = private_key(key);
  const ContextHandle context(EVP_MD_CTX_new());
  const Bytes message = message_of(root);
  std::size_t size = out.signature.size();
  if (!handle || !context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, handle.get()) != 1 ||
      EVP_DigestSign(context.get(), out.signature.data(), &size, data_of(message),
                     message.size()) != 1 ||
      size != out.signature.size()) {
    return refused("sign");
  }
  return out;
}

bool verifies(const Digest& root, const ArtifactSignature& signature) {
  const ErrorQueueGuard guard;
  const KeyHandle handle(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                                     signature.key.data(), signature.key.size()));
  const ContextHandle context(EVP_MD_CTX_new());
  const Bytes message = message_of(root);
  return handle && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.signature.data(), signature.signature.size(),
                          data_of(message), message.size()) == 1;
}

}  // namespace artifact
}  // namespace precast
