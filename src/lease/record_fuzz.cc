// Fuzzer: any bytes as a lease file, and as the payloads of its two frames with their checks made
// right. What decodes encodes to what decodes to the same, and may be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/hash.h"
#include "base/little_endian.h"
#include "lease/record.h"

namespace precast::lease {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

Bytes framed(BytesView magic, BytesView payload) {
  Bytes frame(magic);
  base::append_little_endian(frame, static_cast<std::uint32_t>(payload.size()));
  frame += payload;
  const Digest digest = base::sha256(frame);
  return frame.append(digest.view().substr(0, 8));
}

void require_shown(const std::string& text) {
  for (const char c : text) require(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

void exercise(BytesView file) {
  const Record record = decode(file);
  require(record.owner || !record.ending);
  if (!record.owner) return;
  require_shown(record.owner->host + record.owner->program + record.owner->label);
  Bytes again = encode(*record.owner);
  if (record.ending) again += encode(*record.ending);
  const Record back = decode(again);
  require(back.owner == record.owner && back.ending == record.ending);
}

}  // namespace
}  // namespace precast::lease

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace precast;
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  lease::exercise(bytes);
  // The first byte says where the owner's payload ends.
  const std::size_t owner = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  const BytesView rest = bytes.substr(bytes.empty() ? 0 : 1);
  lease::exercise(lease::framed("PLo1", rest.substr(0, owner)) +
                  lease::framed("PLe1", rest.size() > owner ? rest.substr(owner) : ""));
  return 0;
}
