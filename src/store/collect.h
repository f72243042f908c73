// Collecting: removing entries by rules, what killed writers left, and what is too much in the
// quarantine.
//
// Readers need no lock: who has opened an entry reads all of it, whether it is removed meanwhile or
// not. Writers need none either: what is published while a collection runs was not planned to go.
// One process collects at a time, by an advisory lock on <root>/v1/gc.lock that dies with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "precast/result.h"
#include "store/collect_plan.h"
#include "store/file_ops.h"
#include "store/folder.h"
#include "store/usage.h"

namespace precast::store {

inline constexpr const char* kCollectLock = "gc.lock";

// The bounds of a store. 0: the default.
struct Limits {
  std::uint64_t soft_bytes = 0;  // passing it starts a collection
  std::uint64_t hard_bytes = 0;  // nothing is stored beyond it
};
// The soft limit: at most this, and at most this part of the file system.
inline constexpr std::uint64_t kDefaultSoftBytes = std::uint64_t{50} << 30;
inline constexpr std::uint64_t kDefaultSoftDivisor = 10;
// A collection of its own accord goes down to nine tenths of the soft limit, so that not every
// publish starts one; the hard limit is five quarters of the soft one.
constexpr std::uint64_t low_water(std::uint64_t soft) { return soft - soft / 10; }
constexpr std::uint64_t default_hard_bytes(std::uint64_t soft) { return soft + soft / 4; }

// What was published or used so recently is not removed by a collection that nobody asked for.
inline constexpr std::int64_t kGraceSeconds = 600;
// Two of those are at least so far apart: one that finds everything pinned or young must not be
// tried at every publish.
inline constexpr std::int64_t kCollectIntervalSeconds = 10;
// A file that nobody wrote to for so long has no writer any more.
inline constexpr std::int64_t kAbandonedSeconds = 3600;
// How long something stays in the quarantine.
inline constexpr std::int64_t kQuarantineSeconds = std::int64_t{30} * 24 * 3600;

// The limits with the defaults filled in, for the file system of `root`.
Result<Limits> effective_limits(FileOps& ops, const Folder& root, const Limits& wanted);

struct CollectOrder {
  CollectRules rules = {};
  bool dry_run = false;    // look, and write nothing at all
  bool list = false;       // fill Collected::removed
  bool automatic = false;  // nobody asked: not within kCollectIntervalSeconds of the last one
};

struct Collected {
  struct Removed {
    Candidate entry;
    Why why;
  };
  bool ran = false;  // false: another process is at it, or was a moment ago
  std::uint64_t removed_entries = 0;
  std::uint64_t removed_bytes = 0;
  std::uint64_t left_entries = 0;
  std::uint64_t left_bytes = 0;
  std::uint64_t pinned_entries = 0;  // of those left
  std::uint64_t unfinished = 0;      // files of dead writers that were removed
  std::uint64_t unfinished_bytes = 0;
  std::uint64_t quarantined = 0;  // files that left the quarantine
  std::uint64_t quarantined_bytes = 0;
  std::uint64_t failed = 0;  // what could not be looked at or removed
  std::optional<Error> first_error;
  std::vector<Removed> removed;
};

// Collects. An error only when nothing could be done at all.
Result<Collected> collect(FileOps& ops, const Folder& layout, const CollectOrder& order,
                          std::int64_t now_unix_s);

// What is in a store now, by looking at every entry.
Result<Usage> count_entries(FileOps& ops, const Folder& layout);

}  // namespace precast::store
