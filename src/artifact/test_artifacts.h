// Contents and damaged bytes for the tests and fuzzers of this folder.
#pragma once

#include <cstdint>
#include <string>

#include "precast/artifact.h"
#include "precast/bytes.h"

namespace precast::artifact {

// As little as an artifact can hold.
ArtifactContents small_contents();

// Every optional section, each worth compressing.
ArtifactContents full_contents();

// The artifact's own account of its contents, for comparing.
ArtifactContents contents_of(const VerifiedArtifact& artifact);
bool same_contents(const ArtifactContents& left, const ArtifactContents& right);

// Makes every digest of the file right again after an edit, as an attacker would: the sections' and
// the root. Bytes that are too short for that, or tables that lead out of the file, are left alone.
Bytes reseal(Bytes file);

// Overwrites a number in place.
void set_u32(Bytes& bytes, std::size_t offset, std::uint32_t value);
void set_u64(Bytes& bytes, std::size_t offset, std::uint64_t value);

// Byte positions in an artifact of format version 1.
std::size_t entry_offset(std::size_t section);

}  // namespace precast::artifact
