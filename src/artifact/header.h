// The structure of an artifact: everything but the meaning of its sections.
#pragma once

#include <vector>

#include "artifact/layout.h"
#include "precast/artifact.h"
#include "precast/error.h"
#include "precast/limits.h"
#include "precast/result.h"

namespace precast::artifact {

struct Header {
  std::uint32_t version = kFormatVersion;
  std::vector<SectionInfo> sections;  // in the order of the file, contiguous to its end
  Digest root;
  std::vector<ArtifactSignature> signatures;
  std::size_t signatures_offset = 0;  // of their count
  std::size_t sections_offset = 0;
};

// corrupt, "the artifact is damaged at byte <offset>: <what>".
Error damaged(std::uint64_t offset, const std::string& what);

// Header and root for these sections, whose offsets are not stored: they follow from the sizes.
Bytes encode_header(const std::vector<SectionInfo>& sections);

Bytes encode_signatures(const std::vector<ArtifactSignature>& signatures);

// Checks all of docs/format.md that concerns magic, version, header, root, sizes and limits, up to
// the exact size of the file. Signatures and section digests are not looked at. Allocates for what
// stands in the file only. Errors: corrupt; incompatible for another format version, a flag, a
// codec or a kind of section that is not known.
Result<Header> parse_header(BytesView file);

// The same from the start of a file of `file_bytes` bytes: `front` is all of it, or at least
// kMaxFrontBytes.
Result<Header> parse_header(BytesView front, std::uint64_t file_bytes);

// No section begins behind this.
inline constexpr std::size_t kMaxFrontBytes = limits::kMaxHeaderBytes + kRootBytes +
                                              kSignatureCountBytes +
                                              limits::kMaxSignatures * kSignatureEntryBytes;

}  // namespace precast::artifact
