// Compression of one section.
#pragma once

#include <cstdint>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::artifact {

// One zstd frame that states its content's size, without a checksum of its own (the section has
// one). Errors: invalid_argument for a level that zstd does not have; resource_exhausted.
Result<Bytes> compress_zstd(BytesView content, int level);

// Exactly one frame, whose content has exactly `true_bytes` bytes. Nothing is allocated before the
// frame's own header agrees with that size, its window is within limits::kMaxZstdWindowLog, and the
// stored bytes can hold that much at all. Errors: corrupt, resource_exhausted.
Result<Bytes> decompress_zstd(BytesView stored, std::uint64_t true_bytes);

}  // namespace precast::artifact
