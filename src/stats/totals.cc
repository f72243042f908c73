#include "stats/totals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace precast::stats {
namespace {

constexpr double kUsPerMs = 1000;
constexpr std::uint32_t kPerDoubling = 4;

std::uint64_t micros(double ms) {
  if (!(ms > 0)) return 0;  // also what is no number
  constexpr double kMost = 1e15;
  return static_cast<std::uint64_t>(std::llround(std::min(ms * kUsPerMs, kMost)));
}

std::int64_t signed_micros(double ms) {
  const auto size = static_cast<std::int64_t>(micros(std::abs(ms)));
  return ms < 0 ? -size : size;
}

std::int64_t saturated_signed(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - rest - (rest < 0 ? step : 0);
}

// A map's value for a key that is looked up far more often than made, bounded.
Times& phase_of(std::map<std::string, Times, std::less<>>& phases, std::string_view name) {
  name = name.substr(0, kMaxTextBytes);
  if (const auto found = phases.find(name); found != phases.end()) return found->second;
  return phases[std::string(phases.size() < kMaxPhases ? name : kOther)];
}

}  // namespace

std::uint64_t saturated(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::uint32_t bucket_of(std::uint64_t us) {
  if (us <= 1) return 0;
  const double exact = std::ceil(kPerDoubling * std::log2(static_cast<double>(us)) - 1e-9);
  return std::min(static_cast<std::uint32_t>(exact), kBuckets - 1);
}

double bucket_bound_us(std::uint32_t bucket) {
  return std::exp2(static_cast<double>(bucket) / kPerDoubling);
}

void Times::add(double ms) {
  const std::uint64_t us = micros(ms);
  ++count;
  total_us = saturated(total_us, us);
  max_us = std::max(max_us, us);
  ++buckets[bucket_of(us)];
}

void Times::add(const Times& other) {
  count = saturated(count, other.count);
  total_us = saturated(total_us, other.total_us);
  max_us = std::max(max_us, other.max_us);
  for (const auto& [bucket, number] : other.buckets) {
    std::uint64_t& mine = buckets[std::min(bucket, kBuckets - 1)];
    mine = saturated(mine, number);
  }
}

void Cell::add(const Event& event) {
  ++count;
  saved_us = saturated_signed(saved_us, signed_micros(event.saved_ms));
  bytes_read = saturated(bytes_read, event.bytes_read);
  bytes_written = saturated(bytes_written, event.bytes_written);
  for (const Phase& phase : event.phases) phase_of(phases, phase.name).add(phase.ms);
  phase_of(phases, "total").add(event.total_ms);
}

void Cell::add(const Cell& other) {
  count = saturated(count, other.count);
  saved_us = saturated_signed(saved_us, other.saved_us);
  bytes_read = saturated(bytes_read, other.bytes_read);
  bytes_written = saturated(bytes_written, other.bytes_written);
  for (const auto& [name, times] : other.phases) phase_of(phases, name).add(times);
}

std::string Totals::bounded(std::string_view text, std::size_t most,
                            std::map<std::string, std::size_t, std::less<>>& known) {
  text = text.substr(0, kMaxTextBytes);
  if (known.contains(text)) return std::string(text);
  if (known.size() >= most) return std::string(kOther);
  known.emplace(text, 0);
  return std::string(text);
}

Cell& Totals::cell_of(std::int64_t start_s, std::int64_t length_s, std::string_view label,
                      std::string_view name) {
  return cells_[Key{start_s, length_s, bounded(label, kMaxLabels, labels_),
                    bounded(name, kMaxNames, names_)}];
}

void Totals::count(const Event& event, std::int64_t now_unix_s) {
  if (cells_.size() >= kMaxCells) fit(now_unix_s);
  cell_of(floor_to(now_unix_s, kHour), kHour, event.label, event.name).add(event);
}

void Totals::add(const Key& key, const Cell& cell) {
  cell_of(key.start_s, key.length_s, key.label, key.name).add(cell);
}

void Totals::add(const Totals& other) {
  for (const auto& [key, cell] : other.cells_) add(key, cell);
}

void Totals::join_days(std::int64_t before_unix_s) {
  Totals joined;
  for (const auto& [key, cell] : cells_) {
    Key day = key;
    const std::int64_t start = floor_to(key.start_s, kDay);
    if (key.length_s < kDay && start + kDay <= before_unix_s) {
      day.start_s = start;
      day.length_s = kDay;
    }
    joined.add(day, cell);
  }
  *this = std::move(joined);
}

void Totals::join_labels() {
  Totals joined;
  for (const auto& [key, cell] : cells_) {
    joined.add({key.start_s, key.length_s, std::string(kOther), key.name}, cell);
  }
  *this = std::move(joined);
}

void Totals::fit(std::int64_t now_unix_s) {
  // Room for what comes, so that this is not done for every new cell.
  constexpr std::size_t kEnough = kMaxCells / 2;
  if (cells_.size() >= kMaxCells) join_days(now_unix_s - kDay);
  if (cells_.size() > kEnough) join_labels();
  if (cells_.size() > kEnough) join_days(std::numeric_limits<std::int64_t>::max());
  // Years of days: only the newest are worth their place.
  while (cells_.size() > kEnough) cells_.erase(cells_.begin());
}

}  // namespace precast::stats
