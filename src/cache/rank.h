// Which key records come nearest to another one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "precast/explain.h"

namespace precast::cache {

// How near a record is; more is nearer, in the order of the members.
struct Nearness {
  bool same_program = false;         // what an entry of another program says is rarely of use
  std::size_t shared_fields = 0;     // equal ones of the two records
  std::int64_t differing_items = 0;  // negated: fewer are nearer
  bool same_name = false;            // of the programs, as people name them
  std::int64_t created_unix_s = 0;   // of two alike the later
  auto operator<=>(const Nearness&) const = default;
};

Nearness nearness_of(const SavedRecord& asked, const SavedRecord& candidate);

}  // namespace precast::cache
