#include <algorithm>
#include <numeric>
#include <vector>

#include "precast/compile_options.h"
#include "proto/xla_options.h"

namespace precast {
namespace {

// Insertions, deletions and replacements that make one name the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_xla_option(std::string_view name) {
  // One forgotten word is near ("xla_cpu_fast_math" for "xla_cpu_enable_fast_math"); half of the
  // letters is not.
  constexpr std::size_t kFarthest = 8;
  constexpr std::size_t kLongest = 128;
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  if (name.size() > kLongest) return "";
  std::size_t least = std::min(kFarthest, name.size() / 2) + 1;
  std::string_view nearest;
  for (const proto::XlaOption& option : proto::all_options()) {
    const std::size_t distance = edit_distance(name, option.name);
    if (distance < least) {
      least = distance;
      nearest = option.name;
    }
  }
  return std::string(nearest);
}

}  // namespace precast
