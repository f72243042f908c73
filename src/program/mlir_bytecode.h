// The head of MLIR bytecode: magic, version, producer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "precast/bytes.h"
#include "precast/program.h"

namespace precast::program {

bool has_bytecode_magic(BytesView bytes);

struct BytecodeHead {
  std::uint64_t version = 0;
  std::string producer;  // "StableHLO_v1.13.0", "MLIR..."
};

// Requires the magic. Nothing when the head is cut short or its producer is no text of a sane
// length.
std::optional<BytecodeHead> read_bytecode_head(BytesView bytes);

// The version in a portable artifact's producer; nothing for other producers.
std::optional<StablehloVersion> stablehlo_version_of(const std::string& producer);

}  // namespace precast::program
