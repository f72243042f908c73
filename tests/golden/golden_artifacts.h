// What the golden artifacts hold. Add-only: a golden that was checked in is never made again, and
// what it must decode to never changes.
#pragma once

#include <string>
#include <vector>

#include "precast/artifact.h"

namespace precast::golden {

struct GoldenArtifact {
  std::string file;    // below testdata/artifacts
  std::string sha256;  // of the file
  ArtifactContents contents;
  EncodeOptions options;
  std::vector<SigningKey> signers;
  // Whether today's encoder must give the very same bytes. (Not where zstd is used: its output may
  // change with its version.)
  bool encodes_equal = true;
  // A section that version 1 does not know and may pass over was added behind the others.
  bool has_ignorable_section = false;
};

std::vector<GoldenArtifact> golden_artifacts();

SigningKey golden_signer(std::uint8_t number);

// Makes the file's bytes, for a golden that is new.
Bytes make(const GoldenArtifact& golden);

}  // namespace precast::golden
