// Compression of one section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::artifact {

// What a section holds, decompressed.
class Content {
 public:
  Content(std::unique_ptr<char[]> bytes, std::size_t size)
      : bytes_(std::move(bytes)), size_(size) {}
  // Valid for as long as the object, wherever it is moved to.
  BytesView view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;  // not a string, which would fill megabytes with zeros first
  std::size_t size_;
};

// One zstd frame that states its content's size, without a checksum of its own (the section has
// one). Errors: invalid_argument for a level that zstd does not have; resource_exhausted.
Result<Bytes> compress_zstd(BytesView content, int level);

// Exactly one frame, whose content has exactly `true_bytes` bytes. Nothing is allocated before the
// frame's own header agrees with that size, its window is within limits::kMaxZstdWindowLog, and the
// stored bytes can hold that much at all. Errors: corrupt, resource_exhausted.
Result<Content> decompress_zstd(BytesView stored, std::uint64_t true_bytes);

}  // namespace precast::artifact
