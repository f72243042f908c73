// Fuzzer: any bytes give a digest or an error, the same one twice, and no byte of the producer
// changes it. And any bytes give an outline or an error; an outline keeps to its limit, reads back,
// and does not differ from itself.
//
// With PRECAST_FUZZ_CANARY it aborts on a program with a custom call whose target begins with
// "canary": valid tables lie between a fuzzer and that, so one that finds it works.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "precast/outline.h"
#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/bytecode_outline.h"
#include "program/outline_builder.h"

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

void check_outline(BytesView bytes) {
  constexpr std::size_t kMaxBytes = 4096;
  auto builder = precast::program::outline_bytecode(bytes);
  if (!builder) return require(!builder.error().message().empty());
  const precast::Outline outline = builder->finish(kMaxBytes);
  const Bytes encoded = outline.encode();
  require(encoded.size() <= kMaxBytes);
  const Result<precast::Outline> decoded = precast::Outline::decode(encoded);
  require(decoded.has_value() && *decoded == outline);
  require(precast::diff(outline, *decoded).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  check_outline(bytes);
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
  for (const std::string& target : digest->custom_calls.plain) {
    require(std::memcmp(target.c_str(), "canary", std::min<std::size_t>(target.size(), 6)) != 0);
  }
#endif
  return 0;
}
