#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <utility>

#include "precast/stats.h"
#include "stats/fold.h"
#include "stats/folder.h"
#include "stats/recorder.h"
#include "stats/snapshot.h"

namespace precast {
namespace {

using stats::Cell;
using stats::Folder;
using stats::Snapshot;
using stats::Times;
using stats::Totals;

constexpr double kUsPerMs = 1000;

double ms_of(std::uint64_t us) { return static_cast<double>(us) / kUsPerMs; }

void add(Tally& tally, const Cell& cell) {
  tally.count = stats::saturated(tally.count, cell.count);
  tally.saved_ms += static_cast<double>(cell.saved_us) / kUsPerMs;
  tally.bytes_read = stats::saturated(tally.bytes_read, cell.bytes_read);
  tally.bytes_written = stats::saturated(tally.bytes_written, cell.bytes_written);
}

Timing timing_of(const Times& times) {
  Timing timing{times.count, ms_of(times.total_us), ms_of(times.max_us), {}};
  for (const auto& [bucket, count] : times.buckets) {
    timing.buckets.push_back({stats::bucket_bound_us(bucket) / kUsPerMs, count});
  }
  return timing;
}

// The files of a folder, added up.
class Sum {
 public:
  explicit Sum(const StatsQuery& query) : query_(query) {}

  // Processes before months: what is moved meanwhile is then seen twice and recognised, instead of
  // not at all.
  void read(const Folder& folder, const std::vector<std::string>& names) {
    std::map<std::string, Snapshot> processes;
    std::map<std::string, Snapshot> months;
    for (const std::string& name : names) {
      if (stats::is_process_file(name)) read_file(folder, name, processes);
      if (name.starts_with(stats::kDamaged)) ++stats_.damaged;
      if (stats::is_newer_file(name)) ++stats_.newer;
    }
    for (const std::string& name : names) {
      if (stats::is_month_file(name)) read_file(folder, name, months);
    }
    for (const auto& [name, month] : months) add_all(month.totals);
    for (const auto& [name, process] : processes) {
      for (const auto& [key, cell] : process.totals.cells()) {
        const auto month = months.find(stats::month_file(key.start_s));
        if (month == months.end() || !month->second.folded.contains(name)) add_cell(key, cell);
      }
    }
  }

  Stats result() && {
    for (const auto& [name, times] : phases_) stats_.phases[name] = timing_of(times);
    return std::move(stats_);
  }

 private:
  void read_file(const Folder& folder, const std::string& name,
                 std::map<std::string, Snapshot>& into) {
    const auto bytes = folder.read(name);
    auto snapshot = bytes ? Snapshot::decode(*bytes) : Result<Snapshot>(bytes.error());
    if (snapshot) {
      into.emplace(name, std::move(snapshot).value());
      ++stats_.files;
    } else if (snapshot.error().code() == ErrorCode::incompatible) {
      ++stats_.newer;
    } else if (folder.has(name)) {  // else it was folded a moment ago
      ++stats_.damaged;
    }
  }

  void add_all(const Totals& totals) {
    for (const auto& [key, cell] : totals.cells()) add_cell(key, cell);
  }

  void add_cell(const Totals::Key& key, const Cell& cell) {
    const std::int64_t end = key.start_s + key.length_s;
    if (query_.since_unix_s && end <= *query_.since_unix_s) return;
    const bool first = stats_.results.empty();
    stats_.from_unix_s = first ? key.start_s : std::min(stats_.from_unix_s, key.start_s);
    stats_.until_unix_s = first ? end : std::max(stats_.until_unix_s, end);
    add(stats_.results[key.name], cell);
    add(stats_.results_by_label[key.label][key.name], cell);
    for (const auto& [name, times] : cell.phases) phases_[name].add(times);
  }

  const StatsQuery& query_;
  Stats stats_;
  std::map<std::string, Times> phases_;
};

}  // namespace

double Timing::quantile_ms(double part) const {
  const auto wanted = std::max(1.0, std::ceil(part * static_cast<double>(count)));
  double seen = 0;
  for (const Bucket& bucket : buckets) {
    seen += static_cast<double>(bucket.count);
    if (seen >= wanted) return std::min(bucket.up_to_ms, max_ms);
  }
  return max_ms;
}

Tally Stats::sum() const {
  Tally all;
  for (const auto& [name, tally] : results) {
    all.count += tally.count;
    all.saved_ms += tally.saved_ms;
    all.bytes_read += tally.bytes_read;
    all.bytes_written += tally.bytes_written;
  }
  return all;
}

double Stats::hit_rate_of(const std::map<std::string, Tally>& results) {
  double hits = 0;
  double all = 0;
  for (const auto& [name, tally] : results) {
    if (name.starts_with("error:")) continue;
    const auto count = static_cast<double>(tally.count);
    all += count;
    if (name == "hit" || name == "lease:waited") hits += count;
  }
  return all == 0 ? 0 : hits / all;
}

Result<Stats> read_stats(const StatsQuery& query) {
  constexpr int kPatienceMs = 1000;
  stats::flush_recorders();
  PRECAST_ASSIGN(std::optional<Folder> folder,
                 Folder::open(query.state_directory, stats::IfMissing::nothing));
  Sum sum(query);
  if (!folder) return std::move(sum).result();
  folder->lock(Folder::With::others, kPatienceMs);
  PRECAST_ASSIGN(const std::vector<std::string> names, folder->names());
  sum.read(*folder, names);
  return std::move(sum).result();
}

Result<std::string> reset_stats(const std::string& state_directory) {
  PRECAST_ASSIGN(std::optional<Folder> folder,
                 Folder::open(state_directory, stats::IfMissing::nothing));
  if (!folder) return std::string();
  const std::time_t now = ::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> stamp{};
  (void)::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &utc);
  const std::string first = folder->path() + "-until-" + stamp.data();
  // A folder that is there, from a reset in this very second, has files and is in the way.
  constexpr int kMaxResetsPerSecond = 100;
  std::string aside = first;
  int error = EEXIST;
  for (int i = 2; i <= kMaxResetsPerSecond && (error == EEXIST || error == ENOTEMPTY); ++i) {
    if (::rename(folder->path().c_str(), aside.c_str()) == 0) return aside;
    error = errno;
    aside = first + "-" + std::to_string(i);
  }
  return base::errno_error(error, "cannot move '" + folder->path() + "' to '" + first + "'");
}

}  // namespace precast
