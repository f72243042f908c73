// Fuzzer: any bytes, as they are and with their digests made right (else nothing behind the root
// would be reached). What decodes must encode again, and decode to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "artifact/test_artifacts.h"
#include "precast/artifact.h"

namespace precast::artifact {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void exercise(Bytes bytes) {
  const std::size_t size = bytes.size();
  const auto artifact = VerifiedArtifact::decode(std::move(bytes));
  if (!artifact) {
    require(!artifact.error().message().empty());
    return;
  }
  require(artifact->file_bytes() == size);
  require(!artifact->executable().empty());
  // Twice through the encoder: comparing bytes also compares what is not equal to itself (NaN).
  const auto once = encode_artifact(contents_of(*artifact), {Codec::none, 0});
  require(once.has_value());
  const auto back = VerifiedArtifact::decode(*once);
  require(back.has_value());
  const auto twice = encode_artifact(contents_of(*back), {Codec::none, 0});
  require(twice.has_value() && *once == *twice);
}

}  // namespace
}  // namespace precast::artifact

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace precast;
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  artifact::exercise(bytes);
  artifact::exercise(artifact::reseal(bytes));
  return 0;
}
