// Fold: the counts of processes that ended, moved into one file for each month.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stats/folder.h"

namespace precast::stats {

// So many files of processes may lie there before they are folded.
inline constexpr std::size_t kFoldFiles = 100;
// What another machine's process, or one of another container, left so long ago is folded too. Were
// it still at work, it would go on in a new file.
inline constexpr std::int64_t kForeignDays = 7;
// Hours are kept for so long, and days afterwards.
inline constexpr std::int64_t kHourlyDays = 14;
// How the name of a month's file begins that was damaged.
inline constexpr const char* kDamaged = "damaged-";
// Files of months; the oldest go.
inline constexpr std::size_t kMaxMonths = 24;

// Folds when there are more than `most` files of processes. Does nothing, and no harm, when another
// process is at it, or when it cannot write; may be killed at any moment. What it cannot read, and
// what killed writers left, it removes after kForeignDays.
void fold(Folder& folder, std::size_t most, std::int64_t now_unix_s);

}  // namespace precast::stats
