#include "cli/amounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/text.h"

namespace precast::cli {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kYear = 365 * kDay;

constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kAges = {
    {{"s", 1}, {"min", kMinute}, {"h", kHour}, {"d", kDay}, {"w", 7 * kDay}, {"y", kYear}}};
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> kSizes = {
    {{"", 1},
     {"k", 1000},
     {"m", 1'000'000},
     {"g", 1'000'000'000},
     {"t", 1'000'000'000'000},
     {"ki", std::uint64_t{1} << 10},
     {"mi", std::uint64_t{1} << 20},
     {"gi", std::uint64_t{1} << 30},
     {"ti", std::uint64_t{1} << 40}}};

struct Amount {
  double number = 0;
  std::string unit;  // in lower case
};

// A number that is not negative, and what follows it. Nothing when there is no number.
std::optional<Amount> split(const std::string& text) {
  Amount amount;
  const char* const end = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), end, amount.number, std::chars_format::fixed);
  if (error != std::errc() || amount.number < 0 || !std::isfinite(amount.number)) {
    return std::nullopt;
  }
  amount.unit.assign(rest, end);
  amount.unit.erase(0, amount.unit.find_first_not_of(' '));
  std::transform(amount.unit.begin(), amount.unit.end(), amount.unit.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return amount;
}

// No number that is written here is beyond this, and it fits into 64 bits with a sign.
constexpr double kMost = 9e18;

}  // namespace

std::string age_text(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(seconds, 0);
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  if (seconds < kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < kDay) return fmt::format("{} h", seconds / kHour);
  if (seconds < kYear) return fmt::format("{} d", seconds / kDay);
  return fmt::format("{} y", seconds / kYear);
}

Result<std::int64_t> parse_age(const std::string& text) {
  if (std::optional<Amount> amount = split(text)) {
    if (amount->unit.empty()) amount->unit = "s";
    for (const auto& [unit, seconds] : kAges) {
      const double total = amount->number * static_cast<double>(seconds);
      if (unit == amount->unit && total < kMost) return static_cast<std::int64_t>(total);
    }
  }
  return Error(ErrorCode::invalid_argument,
               fmt::format("'{}' is not an age; write a number and one of s, min, h, d, w, y, "
                           "for example 7d",
                           printable(text, 100)));
}

Result<std::uint64_t> parse_size(const std::string& text) {
  if (std::optional<Amount> amount = split(text)) {
    if (amount->unit.ends_with('b')) amount->unit.pop_back();
    for (const auto& [unit, bytes] : kSizes) {
      const double total = amount->number * static_cast<double>(bytes);
      if (unit == amount->unit && total < kMost) return static_cast<std::uint64_t>(total);
    }
  }
  return Error(ErrorCode::invalid_argument,
               fmt::format("'{}' is not a size; write a number of bytes, or one with kB, MB, GB, "
                           "TB, KiB, MiB, GiB or TiB, for example 10MB",
                           printable(text, 100)));
}

}  // namespace precast::cli
