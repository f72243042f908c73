// Fuzzer: any bytes give a digest or an error, the same one twice, and no byte of the producer
// changes it.
//
// With PRECAST_FUZZ_CANARY it aborts on a program whose custom call has the target "canary": valid
// tables lie between a fuzzer and that, so one that finds it works.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "program/bytecode/bytecode_digest.h"

namespace {

using precast::Bytes;
using precast::BytesView;
using precast::Result;
using precast::program::digest_bytecode;
using precast::program::StructuralDigest;

void require(bool condition) {
  if (!condition) std::abort();
}

// The first letter of the producer, or npos. One byte of version stands before it.
std::size_t producer_letter(BytesView bytes) {
  constexpr std::size_t kAt = 5;
  const bool short_version = bytes.size() > kAt && (bytes[kAt - 1] & 1) != 0;
  return short_version && bytes[kAt] != '\0' ? kAt : BytesView::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  const Result<StructuralDigest> digest = digest_bytecode(bytes);
  if (!digest) {
    require(!digest.error().message().empty());
    return 0;
  }
  const std::size_t letter = producer_letter(bytes);
  if (letter != BytesView::npos) {
    Bytes other(bytes);
    other[letter] = other[letter] == 'x' ? 'y' : 'x';
    const Result<StructuralDigest> same = digest_bytecode(other);
    require(same.has_value() && same->sha256 == digest->sha256);
    require(same->custom_calls == digest->custom_calls);
  }
#ifdef PRECAST_FUZZ_CANARY
  require(!digest->custom_calls.plain.contains("canary"));
#endif
  return 0;
}
