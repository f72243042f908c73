// How full a store is, roughly: a small file that publishers add to and each collection corrects.
//
//   <root>/v1/usage    "bytes <20 digits> entries <20 digits>\n"
//
// It decides only when to look more closely, so a number that is wrong is harmless: it is added to
// by whoever gets the file's lock at once, and what is not a number is counted again.
#pragma once

#include <cstdint>
#include <optional>

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

inline constexpr const char* kUsage = "usage";

struct Usage {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;

  bool operator==(const Usage&) const = default;
};

// Nothing when there is no such file, or it holds something else.
Result<std::optional<Usage>> read_usage(FileOps& ops, const Folder& layout);

// Replaces the numbers.
Result<void> write_usage(FileOps& ops, const Folder& layout, const Usage& usage);

// Adds to the numbers and returns the sum; nothing when there are none to add to, or when others
// keep the lock: then this one is not counted.
Result<std::optional<Usage>> add_usage(FileOps& ops, const Folder& layout, const Usage& more);

}  // namespace precast::store
