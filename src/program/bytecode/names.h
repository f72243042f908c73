// Names of dialects, operations and attributes in the canonical stream.
//
// A name is written in full where it first occurs and as a number from then on, whatever table of
// the file or of Precast it comes from.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "precast/bytes.h"
#include "program/canonical_stream.h"

namespace precast::program::bytecode {

using NameId = std::uint32_t;
inline constexpr NameId kNoName = UINT32_MAX;

class Names {
 public:
  // `name` must outlive this object.
  NameId id_of(BytesView name) {
    const auto [at, added] = ids_.try_emplace(name, static_cast<NameId>(texts_.size()));
    if (added) {
      texts_.push_back(name);
      numbers_.push_back(0);
    }
    return at->second;
  }

  BytesView text(NameId id) const { return texts_[id]; }

  void write(CanonicalStream& out, NameId id) {
    if (numbers_[id] != 0) {
      out.number(numbers_[id]);
      return;
    }
    numbers_[id] = ++written_;
    out.number(0);
    out.bytes(texts_[id]);
  }

 private:
  // Ordered, not hashed: names are hostile, and a search must not be slow for chosen ones.
  std::map<BytesView, NameId> ids_;
  std::vector<BytesView> texts_;
  std::vector<std::uint32_t> numbers_;  // 0: not yet in the stream
  std::uint32_t written_ = 0;
};

}  // namespace precast::program::bytecode
