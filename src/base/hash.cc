#include "base/hash.h"

// The functions of SHA-256 itself are called deprecated since OpenSSL 3, and no version drops them.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace precast {

Digest Digest::of(BytesView bytes) { return base::sha256(bytes); }

std::string Digest::hex() const { return base::to_hex(view()); }

std::optional<Digest> Digest::from_hex(std::string_view digits) {
  const Result<Bytes> bytes = base::from_hex(digits);
  Digest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), digest.bytes.begin());
  // Capitals would be a second text for the same digest.
  if (digest.hex() != digits) return std::nullopt;
  return digest;
}

namespace base {

// SHA256_*, and not EVP: those ask the providers that OPENSSL_CONF names, in a host of which nobody
// here knows anything. Without one for SHA-256 they fail, and equal wrong digests would be equal
// keys. These need neither a provider nor memory, cannot fail, and work while the process ends.
struct Sha256::Impl {
  Impl() { SHA256_Init(&context); }
  void flush() {
    SHA256_Update(&context, gathered.data(), gathered_bytes);
    gathered_bytes = 0;
  }

  SHA256_CTX context;
  // Many small pieces are hashed, and a call of OpenSSL for each would cost more than the hash.
  std::array<char, 512> gathered;  // written before it is read
  std::size_t gathered_bytes = 0;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}

Sha256::~Sha256() = default;

Sha256& Sha256::update(BytesView bytes) {
  Impl& impl = *impl_;
  if (bytes.size() > impl.gathered.size() - impl.gathered_bytes) impl.flush();
  if (bytes.size() > impl.gathered.size()) {
    SHA256_Update(&impl.context, bytes.data(), bytes.size());
  } else {
    bytes.copy(impl.gathered.data() + impl.gathered_bytes, bytes.size());
    impl.gathered_bytes += bytes.size();
  }
  return *this;
}

Sha256& Sha256::update_u64(std::uint64_t value) {
  std::array<char, 8> little{};
  for (char& c : little) {
    c = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return update({little.data(), little.size()});
}

Sha256& Sha256::update_framed(BytesView bytes) {
  update_u64(bytes.size());
  return update(bytes);
}

Digest Sha256::finish() {
  static_assert(sizeof(Digest::bytes) == SHA256_DIGEST_LENGTH);
  Digest digest;
  impl_->flush();
  SHA256_Final(digest.bytes.data(), &impl_->context);
  return digest;
}

Digest sha256(BytesView bytes) { return Sha256().update(bytes).finish(); }

std::string to_hex(BytesView bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error(ErrorCode::invalid_argument, "hexadecimal text has an odd number of digits");
  }
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) {
      return Error(ErrorCode::invalid_argument, "'" + std::string(text.substr(i, 2)) +
                                                    "' at offset " + std::to_string(i) +
                                                    " is not hexadecimal");
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

}  // namespace base
}  // namespace precast
