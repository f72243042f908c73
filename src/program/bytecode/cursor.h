// A bounds-checked position in a bytecode file.
//
// Errors are sticky: the first read that fails moves the cursor to its end, and every read from
// then on gives zero or nothing, so that a run of reads needs one check() behind it. A count is
// checked against the bytes that are left before it is returned: whoever loops or allocates by it
// stays within the size of the file.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::program::bytecode {

class Cursor {
 public:
  Cursor() = default;
  // Reads `part`, which must lie within `file`: offsets in messages and alignments are the file's.
  Cursor(BytesView file, BytesView part)
      : file_(file.data()), at_(part.data()), end_(part.data() + part.size()) {}
  explicit Cursor(BytesView file) : Cursor(file, file) {}

  bool at_end() const { return at_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - file_); }
  BytesView rest() const { return {at_, remaining()}; }
  bool failed() const { return problem_ != nullptr; }

  std::uint8_t byte() {
    if (at_ == end_) {
      fail("the bytes end too early");
      return 0;
    }
    return static_cast<std::uint8_t>(*at_++);
  }

  // MLIR's prefixed integer: the trailing zeros of the first byte count the bytes that follow.
  std::uint64_t varint() {
    if (at_ != end_ && (*at_ & 1) != 0) return static_cast<std::uint8_t>(*at_++) >> 1;
    return long_varint();
  }

  // A varint that counts things of at least one byte each.
  std::uint64_t count() {
    const std::uint64_t value = varint();
    if (value <= remaining()) return value;
    fail("a count is larger than the bytes behind it");
    return 0;
  }

  // A varint below `limit`.
  std::uint64_t index(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value < limit) return value;
    fail("an index lies outside its table");
    return 0;
  }

  BytesView bytes(std::uint64_t size) {
    if (size > remaining()) {
      fail("the bytes end too early");
      return {};
    }
    const BytesView view(at_, static_cast<std::size_t>(size));
    at_ += size;
    return view;
  }

  BytesView take_rest() { return bytes(remaining()); }

  // Up to the next NUL, which is consumed and not part of the result.
  BytesView text() {
    const void* nul = at_end() ? nullptr : std::memchr(at_, 0, remaining());
    if (nul == nullptr) {
      fail("a string has no NUL at its end");
      return {};
    }
    const BytesView view = bytes(static_cast<std::size_t>(static_cast<const char*>(nul) - at_));
    ++at_;
    return view;
  }

  // Steps over the padding up to a multiple of `alignment`, counted from the file's start.
  void align(std::uint64_t alignment) {
    constexpr std::uint8_t kPadding = 0xCB;
    if (!std::has_single_bit(alignment)) return fail("an alignment is not a power of two");
    while (!failed() && (offset() & (alignment - 1)) != 0) {
      if (byte() != kPadding) return fail("alignment padding is not 0xCB");
    }
  }

  void fail(const char* problem) {
    if (problem_ == nullptr) {
      problem_ = problem;
      problem_offset_ = offset();
    }
    at_ = end_;
  }

  // The error of the first read that failed, if one did; `where` names what was being read.
  Result<void> check(std::string_view where) const {
    if (problem_ == nullptr) return {};
    return error(where);
  }
  // As check(), and everything must have been read.
  Result<void> check_end(std::string_view where) {
    if (!failed() && !at_end()) fail("bytes are left over");
    return check(where);
  }

 private:
  std::uint64_t long_varint();
  Error error(std::string_view where) const;

  const char* file_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* problem_ = nullptr;
  std::size_t problem_offset_ = 0;
};

}  // namespace precast::program::bytecode
