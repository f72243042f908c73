// Totals: counts by time, label and result, in memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "precast/cache.h"

namespace precast::stats {

// Bounds of what is kept apart; what is beyond counts under kOther. Names and labels are cut.
inline constexpr std::size_t kMaxLabels = 64;
inline constexpr std::size_t kMaxNames = 128;
inline constexpr std::size_t kMaxPhases = 32;
inline constexpr std::size_t kMaxTextBytes = 128;
// Cells of one Totals, which is some tens of bytes to some kilobytes each.
inline constexpr std::size_t kMaxCells = 1 << 14;
inline constexpr std::string_view kOther = "(other)";

inline constexpr std::int64_t kHour = 3600;
inline constexpr std::int64_t kDay = 24 * kHour;

// One request.
struct Event {
  std::string_view name;          // counted_as()
  std::string_view label;         // RequestOptions::label
  std::span<const Phase> phases;  // negative and unreal times count as none
  double total_ms = 0;            // of the whole request
  double saved_ms = 0;            // may be negative
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

// Times in microseconds, by buckets: number 0 is up to 1 us, and four buckets double the bound.
inline constexpr std::uint32_t kBuckets = 41 * 4;  // the last one holds all that is longer
std::uint32_t bucket_of(std::uint64_t us);
double bucket_bound_us(std::uint32_t bucket);

struct Times {
  std::uint64_t count = 0;
  std::uint64_t total_us = 0;
  std::uint64_t max_us = 0;
  std::map<std::uint32_t, std::uint64_t> buckets;

  void add(double ms);
  void add(const Times& other);
  bool operator==(const Times&) const = default;
};

struct Cell {
  std::uint64_t count = 0;
  std::int64_t saved_us = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::map<std::string, Times, std::less<>> phases;

  void add(const Event& event);
  void add(const Cell& other);
  bool operator==(const Cell&) const = default;
};

// Sums stop at the largest number instead of starting over.
std::uint64_t saturated(std::uint64_t a, std::uint64_t b);

class Totals {
 public:
  struct Key {
    std::int64_t start_s = 0;  // Unix time; a multiple of length_s
    std::int64_t length_s = kHour;
    std::string label;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  using Cells = std::map<Key, Cell>;

  void count(const Event& event, std::int64_t now_unix_s);
  void add(const Key& key, const Cell& cell);
  void add(const Totals& other);
  // Puts the hours of each day that is over before `before_unix_s` together.
  void join_days(std::int64_t before_unix_s);
  // Puts all labels together.
  void join_labels();
  // Joins days, then labels, until there are at most kMaxCells.
  void fit(std::int64_t now_unix_s);

  const Cells& cells() const { return cells_; }
  bool empty() const { return cells_.empty(); }
  bool operator==(const Totals& other) const { return cells_ == other.cells_; }

 private:
  Cell& cell_of(std::int64_t start_s, std::int64_t length_s, std::string_view label,
                std::string_view name);
  std::string bounded(std::string_view text, std::size_t most,
                      std::map<std::string, std::size_t, std::less<>>& known);

  Cells cells_;
  std::map<std::string, std::size_t, std::less<>> labels_;
  std::map<std::string, std::size_t, std::less<>> names_;
};

}  // namespace precast::stats
