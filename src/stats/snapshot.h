// Snapshot: a file of counters, as bytes. docs/stats.md has the layout.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"
#include "stats/totals.h"

namespace precast::stats {

// What a file of counters may have; more is not read.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{32} << 20;
// Names of files in one snapshot.
inline constexpr std::size_t kMaxFolded = 1 << 16;

struct Snapshot {
  Totals totals;
  // In the file of a month: the files of processes whose counts of this month are in `totals`. They
  // may still lie beside it.
  std::set<std::string> folded;

  Bytes encode() const;
  // The same, with days and labels put together until it is no larger than kMaxFileBytes.
  Bytes encode_bounded(std::int64_t now_unix_s) const;
  // corrupt for anything but what encode() makes; incompatible for a later version.
  static Result<Snapshot> decode(BytesView bytes);

  bool operator==(const Snapshot&) const = default;
};

}  // namespace precast::stats
