// What an artifact says about itself, without reading all of it.
#pragma once

#include <cstdint>
#include <functional>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::artifact {

struct Summary {
  std::uint64_t executable_bytes = 0;  // as the plugin serialized it
  Bytes key_record;
  Bytes outline;  // only where it was asked for, and there is one
  Provenance provenance;
};

// Gives exactly `size` bytes of the file from `offset` on.
using ReadAt = std::function<Result<Bytes>(std::uint64_t offset, std::uint64_t size)>;

// What to read besides the header, the key record and the provenance.
enum class Outlines : std::uint8_t { without, with };

// Reads the header, the key record and the provenance: what is read is checked as
// VerifiedArtifact::decode() checks it, signatures and the other sections are not looked at. So
// it is for people, and nothing that comes from it can be loaded. Errors: those of `read_at`;
// corrupt; incompatible.
Result<Summary> summarize(std::uint64_t file_bytes, const ReadAt& read_at,
                          Outlines outlines = Outlines::without);

}  // namespace precast::artifact
