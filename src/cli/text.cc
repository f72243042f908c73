#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace precast::cli {
namespace {

// The length of the valid UTF-8 sequence at the start of `bytes`, or 0. Overlong forms, surrogates
// and code points beyond U+10FFFF are invalid.
std::size_t utf8_sequence(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  std::uint32_t code_point = 0;
  if ((first & 0xe0) == 0xc0) {
    length = 2;
    code_point = first & 0x1fU;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3;
    code_point = first & 0x0fU;
  } else if ((first & 0xf8) == 0xf0) {
    length = 4;
    code_point = first & 0x07U;
  } else {
    return 0;
  }
  if (bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    code_point = code_point << 6 | (at(i) & 0x3fU);
  }
  static constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kSmallest[length] || code_point > 0x10ffff) return 0;
  if (code_point >= 0xd800 && code_point <= 0xdfff) return 0;
  return length;
}

// C0 controls, DEL, and the C1 controls (U+0080 to U+009F), which some terminals obey.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7f;
  return sequence.size() == 2 && first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;
}

std::string escaped(std::string_view bytes, std::size_t max_bytes, bool keep_lines) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_sequence(bytes);
    std::string piece;
    if (length == 0) {
      piece = fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    } else if (const std::string_view sequence = bytes.substr(0, length);
               is_control(sequence) && !(keep_lines && (bytes[0] == '\n' || bytes[0] == '\t'))) {
      for (const char c : sequence) {
        piece += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    } else {
      piece = sequence;
    }
    if (max_bytes != 0 && text.size() + piece.size() > max_bytes) return text + "\u2026";
    text += piece;
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

// Three significant digits, never in exponent form.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

bool is_plain_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_sequence(bytes);
    if (length == 0) return false;
    if (is_control(bytes.substr(0, length)) && bytes[0] != '\n' && bytes[0] != '\t') return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view bytes, std::size_t max_bytes) {
  return escaped(bytes, max_bytes, false);
}

std::string printable_lines(std::string_view bytes) { return escaped(bytes, 0, true); }

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  static constexpr std::array<std::string_view, 6> kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + std::string(kUnits[unit]);
}

std::string ms_text(double ms) { return three_digits(ms); }

std::string counted(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::int64_t>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

std::string joined(const std::vector<std::string>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong: "complie" is near "compile", "foo" is near nothing.
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1);
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance || (distance == best_distance && best.empty())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace precast::cli
