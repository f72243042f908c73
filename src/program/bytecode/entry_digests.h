// A digest of each attribute and type by its content, whatever its number in the file's tables.
//
// Each is worked out once, when it is first asked for. For outlines: eight bytes tell entries apart
// well enough to explain, and not well enough to decide.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "precast/bytes.h"
#include "precast/result.h"
#include "program/bytecode/entry_reader.h"

namespace precast::program::bytecode {

// The first bytes of the SHA-256.
std::uint64_t short_digest(BytesView bytes);

class EntryDigests {
 public:
  explicit EntryDigests(EntryReader& reader);

  // unsupported: no rule decodes it. corrupt: damaged. resource_exhausted: the program expands
  // beyond limits::program_expansion_bytes.
  Result<std::uint64_t> attribute(std::uint64_t index) { return digest(attributes_, index); }
  Result<std::uint64_t> type(std::uint64_t index) { return digest(types_, index); }

 private:
  class Content;
  enum class State : std::uint8_t { unseen, open, done };
  struct Space {
    const std::vector<Entry>& entries;
    bool of_types = false;
    std::vector<State> states;
    std::vector<std::uint64_t> digests;
  };

  Result<std::uint64_t> digest(Space& space, std::uint64_t index);
  Result<std::uint64_t> resource(std::size_t index);
  Result<void> spend(std::uint64_t bytes);

  EntryReader& reader_;
  Space attributes_;
  Space types_;
  std::vector<State> resource_states_;
  std::vector<std::uint64_t> resource_digests_;
  std::uint64_t budget_;
  int depth_ = 0;
};

}  // namespace precast::program::bytecode
