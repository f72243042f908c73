// Fuzzer: any bytes as a stored key record. What decodes is exactly those bytes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "precast/key.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace precast;
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  const auto record = KeyRecord::decode(bytes);
  if (!record) return 0;
  if (record->encode() != bytes) std::abort();
  if (!diff(*record, *record).empty()) std::abort();
  const bool empty = record->fields().empty();
  if (diff(*record, KeyRecord()).empty() != empty) std::abort();
  return 0;
}
