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

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    if (end != 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

// Whether `some` is `all` with words left out.
bool is_subsequence(const std::vector<std::string_view>& some,
                    const std::vector<std::string_view>& all) {
  auto next = some.begin();
  for (const std::string_view word : all) {
    if (next != some.end() && *next == word) ++next;
  }
  return next == some.end();
}

// The shortest option that `name` is when words are left out ("xla_cpu_fast_math").
std::string_view option_with_more_words(std::string_view name) {
  constexpr std::size_t kFewestWords = 3;  // "xla_cpu" says too little
  const std::vector<std::string_view> words = words_of(name);
  std::string_view shortest;
  if (words.size() < kFewestWords) return shortest;
  for (const proto::XlaOption& option : proto::all_options()) {
    if ((shortest.empty() || option.name.size() < shortest.size()) &&
        is_subsequence(words, words_of(option.name))) {
      shortest = option.name;
    }
  }
  return shortest;
}

// The option of the fewest wrong letters.
std::string_view option_with_other_letters(std::string_view name) {
  constexpr std::size_t kMostWrong = 3;
  std::size_t least = kMostWrong + 1;
  std::string_view nearest;
  for (const proto::XlaOption& option : proto::all_options()) {
    const std::size_t distance = edit_distance(name, option.name);
    if (distance < least) {
      least = distance;
      nearest = option.name;
    }
  }
  return nearest;
}

}  // namespace

std::string nearest_xla_option(std::string_view name) {
  constexpr std::size_t kLongest = 128;  // no option's name is longer
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  if (name.size() > kLongest) return "";
  const std::string_view nearest = option_with_other_letters(name);
  return std::string(nearest.empty() ? option_with_more_words(name) : nearest);
}

}  // namespace precast
