// The one byte stream that a structural digest is the SHA-256 of.
//
// Everything that counts is written here in an order that depends on the program alone. The stream
// is a serialization that could be read back: numbers and sizes are self-delimiting, and an
// attribute, type or name is written in full where it first occurs and as a back reference from
// then on. So two streams are equal exactly when the programs are, a shared attribute is hashed
// once however often it is used, and one hash over the whole costs less than one per attribute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::program {

class CanonicalStream {
 public:
  // `domain` names what the stream describes and by which rules. `budget` bounds the bytes that a
  // hostile program can make of itself; writing more is an error to be asked for, and harmless.
  CanonicalStream(std::string_view domain, std::uint64_t budget) : budget_(budget) {
    bytes(domain);
  }

  void number(std::uint64_t value) {
    if (buffer_.size() - used_ < kMaxNumberBytes) flush();
    while (value >= 0x80) {
      buffer_[used_++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    buffer_[used_++] = static_cast<char>(value);
  }

  // The size, then the bytes. Large ones go to the hash without a copy.
  void bytes(BytesView content);

  bool exhausted() const { return flushed_ + used_ > budget_; }
  // resource_exhausted when the budget is.
  Result<void> check_budget() const {
    if (!exhausted()) return {};
    return over_budget();
  }

  Digest finish();

 private:
  static constexpr std::size_t kMaxNumberBytes = 10;

  void flush();
  Error over_budget() const;

  base::Sha256 hash_;
  std::uint64_t budget_;
  std::uint64_t flushed_ = 0;
  std::size_t used_ = 0;
  std::array<char, std::size_t{16} << 10> buffer_;
};

}  // namespace precast::program
