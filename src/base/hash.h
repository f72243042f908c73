// SHA-256 (OpenSSL) and hexadecimal text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/digest.h"
#include "precast/result.h"

namespace precast::base {

// SHA-256 over a stream. Not thread-safe; one hash per object: finish() ends it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& update(BytesView bytes);
  // Eight bytes, little-endian. With update() of as many bytes it frames a string unambiguously.
  Sha256& update_u64(std::uint64_t value);
  // update_u64(bytes.size()), then update(bytes).
  Sha256& update_framed(BytesView bytes);
  Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Digest sha256(BytesView bytes);

std::string to_hex(BytesView bytes);
// Lower or upper case, an even number of digits; invalid_argument otherwise.
Result<Bytes> from_hex(std::string_view text);

}  // namespace precast::base
