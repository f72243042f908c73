#include "cli/display_width.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace precast::cli {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// What takes no column of its own: combining marks of the common scripts, joiners, direction marks,
// variation selectors. From Unicode 15's categories Mn, Me and Cf, neighbouring blocks joined.
constexpr std::array<Range, 24> kZeroWidth = {
    {{0x00ad, 0x00ad}, {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},  {0x0610, 0x061a},
     {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x0900, 0x0902},  {0x093c, 0x093c},
     {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},  {0x0e47, 0x0e4e},
     {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},  {0x2060, 0x2064},
     {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}}};

// Two columns: Unicode 15's East Asian Width W and F, with the unassigned between joined in.
constexpr std::array<Range, 28> kWide = {
    {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},  {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
     {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},  {0x26a1, 0x26a1}, {0x26bd, 0x26be},
     {0x26d4, 0x26d4},   {0x2705, 0x2705},   {0x270a, 0x270b},  {0x2728, 0x2728}, {0x274c, 0x274c},
     {0x2795, 0x2797},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},  {0x3041, 0xa4cf}, {0xa960, 0xa97c},
     {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff01, 0xff60}, {0xffe0, 0xffe6},
     {0x1f300, 0x1f64f}, {0x1f680, 0x1faff}, {0x20000, 0x3fffd}}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t code_point) {
  const auto at =
      std::lower_bound(ranges.begin(), ranges.end(), code_point,
                       [](const Range& range, std::uint32_t value) { return range.last < value; });
  return at != ranges.end() && at->first <= code_point;
}

std::size_t width_of(std::uint32_t code_point) {
  if (is_in(kZeroWidth, code_point)) return 0;
  return is_in(kWide, code_point) ? 2 : 1;
}

// A character with what stands on it.
struct Cluster {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t width = 0;
};

std::vector<Cluster> clusters_of(std::string_view text) {
  std::vector<Cluster> clusters;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    const auto first = static_cast<unsigned char>(text[at++]);
    std::uint32_t code_point = first;
    if (first >= 0xc0) code_point = first & (first >= 0xf0 ? 0x07U : first >= 0xe0 ? 0x0fU : 0x1fU);
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) {
      code_point = code_point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fU);
    }
    const std::size_t width = width_of(code_point);
    if (width == 0 && !clusters.empty()) {
      clusters.back().end = at;
    } else {
      clusters.push_back({begin, at, width});
    }
  }
  return clusters;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const Cluster& cluster : clusters_of(text)) width += cluster.width;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::vector<Cluster> clusters = clusters_of(text);
  if (display_width(text) <= width) return std::string(text);
  const std::size_t left_most = (width - 1) / 2;
  std::size_t left = 0;
  std::size_t used = 0;
  while (used + clusters[left].width <= left_most) used += clusters[left++].width;
  std::size_t right = clusters.size();
  while (right > left && used + clusters[right - 1].width <= width - 1) {
    used += clusters[--right].width;
  }
  const std::size_t from = right == clusters.size() ? text.size() : clusters[right].begin;
  return std::string(text.substr(0, clusters[left].begin)) + "\u2026" +
         std::string(text.substr(from));
}

}  // namespace precast::cli
