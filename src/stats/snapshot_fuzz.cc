// Fuzzer: any bytes, as they are and with the digest made right. What decodes must encode to what
// decodes to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/hash.h"
#include "stats/snapshot.h"

namespace {

using precast::Bytes;
using precast::BytesView;
using precast::stats::Snapshot;

void require(bool condition) {
  if (!condition) std::abort();
}

void exercise(BytesView bytes) {
  const auto snapshot = Snapshot::decode(bytes);
  if (!snapshot) {
    require(!snapshot.error().message().empty());
    return;
  }
  const auto back = Snapshot::decode(snapshot->encode());
  require(back.has_value() && *back == *snapshot);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kDigestAt = 12;
  constexpr std::size_t kHeaderBytes = 44;
  Bytes bytes(reinterpret_cast<const char*>(data), size);
  exercise(bytes);
  if (bytes.size() < kHeaderBytes) return 0;
  const Bytes digest(precast::base::sha256(BytesView(bytes).substr(kHeaderBytes)).view());
  bytes.replace(0, kDigestAt, Bytes("PRECSTAT") + Bytes("\1\0\0\0", 4));
  bytes.replace(kDigestAt, digest.size(), digest);
  exercise(bytes);
  return 0;
}
