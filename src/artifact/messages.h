// The sections that Precast reads itself, as protobuf messages (docs/format.md has the field
// numbers). Reading is strict about what it knows: a field of the wrong type, a count beyond
// limits.h or bytes that do not parse are corrupt, a value of a later version that must not be
// guessed at is incompatible. Fields that it does not know are passed over.
#pragma once

#include <string>
#include <vector>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::artifact {

// What keeps a signature from being stored or read; empty when nothing does. Layouts must be
// permutations, because the plugin aborts the process on others.
std::string objection_to(const ProgramSignature& signature);

Bytes encode_signature(const ProgramSignature& signature);
Result<ProgramSignature> decode_signature(BytesView bytes);

Bytes encode_memory_stats(const MemoryStats& stats);
Result<MemoryStats> decode_memory_stats(BytesView bytes);

Bytes encode_cost_analysis(const std::vector<CostItem>& items);
Result<std::vector<CostItem>> decode_cost_analysis(BytesView bytes);

Bytes encode_provenance(const Provenance& provenance);
Result<Provenance> decode_provenance(BytesView bytes);

}  // namespace precast::artifact
