// The records that compiles leave in the state folder when they were no hit.
//
//   <state>/misses/<key>.record
//
// At most limits::kMaxMissRecords, the newest. They are read to explain, never to decide.
#pragma once

#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::cache {

// Writes a record, replaces an older one of the same key, and removes the oldest beyond the limit
// and what killed writers left.
// Makes the folder, private to this user, when it is missing.
Result<void> keep_miss(const std::string& state, const std::string& key, BytesView record);

// The paths of the records; empty when there are none.
std::vector<std::string> kept_misses(const std::string& state);

}  // namespace precast::cache
