// Stats: what compile-or-load did on this machine, counted by every process that used a cache.
//
//   PRECAST_ASSIGN(Stats stats, read_stats({}));
//   if (stats.hit_rate() < 0.5) ...
//
// Each process writes what it counted into a file of its own below the state folder, at its end and
// each minute, and nothing of it into a store. docs/stats.md lists what is counted, and under which
// names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "precast/export.h"
#include "precast/result.h"

namespace precast {

// How long something took, over many times.
struct PRECAST_EXPORT Timing {
  struct Bucket {
    double up_to_ms = 0;  // longer than the bucket before, up to this
    std::uint64_t count = 0;
  };
  std::uint64_t count = 0;
  double total_ms = 0;
  double max_ms = 0;
  std::vector<Bucket> buckets;  // those that are not empty, by time; bounds grow by 2^(1/4)

  double mean_ms() const { return count == 0 ? 0 : total_ms / static_cast<double>(count); }
  // The time within which this part (0 to 1) of them was done, up to 19 % too high; never more than
  // max_ms. 0 when there are none.
  double quantile_ms(double part) const;
};

// Requests that ended in the same way.
struct Tally {
  std::uint64_t count = 0;
  double saved_ms = 0;  // the compile's time, as the artifact says it, less that of the load
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

struct PRECAST_EXPORT Stats {
  // By counted_as(): "hit", "miss", "skip:store_failed"; and by label ("" for none, "(other)" for
  // those beyond the limit of one process).
  std::map<std::string, Tally> results;
  std::map<std::string, std::map<std::string, Tally>> results_by_label;
  std::map<std::string, Timing> phases;  // by name; "total" is a whole request
  // The hours that the numbers are from, in Unix time; 0 when there are none.
  std::int64_t from_unix_s = 0;
  std::int64_t until_unix_s = 0;
  std::uint64_t files = 0;    // that were read
  std::uint64_t damaged = 0;  // files that could not be used, and are not in the numbers
  std::uint64_t newer = 0;    // files of a later version of Precast, likewise

  // Of all results.
  Tally sum() const;
  // Requests that were loaded, of all that got an executable; 0 when there are none.
  double hit_rate() const { return hit_rate_of(results); }
  // The same of some of them, as results_by_label has.
  static double hit_rate_of(const std::map<std::string, Tally>& results);
};

struct StatsQuery {             // What to read.
  std::string state_directory;  // as CacheConfig::state_directory; empty: the default one
  // Only what was counted in the hour of this moment and later. What is older than two weeks is
  // kept by the day, in UTC.
  std::optional<std::int64_t> since_unix_s;
};

// Adds up what all processes counted, those that are at work included (up to a minute ago). Files
// that cannot be used are counted and no error. Errors: invalid_argument when there is no state
// folder; what the folder does not allow.
PRECAST_EXPORT Result<Stats> read_stats(const StatsQuery& query);

// Moves all counters out of the way, into a folder beside theirs, whose path is returned; empty
// when there were none. Processes at work count on from here. Errors as read_stats().
PRECAST_EXPORT Result<std::string> reset_stats(const std::string& state_directory);

// For a process that ends soon: what it counts is written at its end alone, and no thread is
// started for it. To be called before the first cache is opened.
PRECAST_EXPORT void write_stats_at_exit_only();

}  // namespace precast
