// Block<Struct>: one struct of the PJRT ABI, as it is handed to a plugin.
//
// PJRT structs grow at their end, and a plugin refuses one that is smaller than what it knows. So
// the struct stands in a zeroed block with limits::kPjrtSpareBytes behind it, and struct_size names
// the whole block: a newer plugin reads zeros for the fields that we do not know and may write
// results there; an older one ignores them. Every plugin that was tried takes this for args
// structs and for the structs they point to. Not for elements of an array (PJRT_NamedValue), whose
// size is the stride.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "precast/limits.h"

namespace precast::pjrt {

template <typename Struct>
class Block {
 public:
  Block() {
    static_assert(std::is_trivial_v<Struct>);
    // Padding too: a newer version may have a field where ours ends.
    std::memset(&storage_, 0, sizeof storage_);
    storage_.value.struct_size = sizeof storage_;
  }

  Struct* get() { return &storage_.value; }
  Struct* operator->() { return &storage_.value; }
  const Struct* operator->() const { return &storage_.value; }

 private:
  struct Storage {
    Struct value;
    std::byte spare[limits::kPjrtSpareBytes];
  };
  Storage storage_;
};

}  // namespace precast::pjrt
