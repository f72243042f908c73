#include <algorithm>
#include <set>

#include "proto/canonical_items.h"

namespace precast::proto {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

}  // namespace

// XLA stops at the first word that is no flag, and joins words inside quotes; both are ignored
// here. So a name may be found that XLA does not see, which costs a bypass, and none is missed.
std::vector<std::string> file_options_in_flags(std::string_view xla_flags,
                                               std::string_view platform) {
  std::set<std::string> found;
  std::size_t begin = xla_flags.find_first_not_of(kSpace);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(xla_flags.find_first_of(kSpace, begin), xla_flags.size());
    std::string_view word = xla_flags.substr(begin, end - begin);
    begin = xla_flags.find_first_not_of(kSpace, end);
    word.remove_prefix(std::min(word.find_first_not_of("-\"'"), word.size()));
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool is_empty = equals != std::string_view::npos && equals + 1 == word.size();
    if (!is_empty && counts_as_file_option(name, platform == "cpu")) found.emplace(name);
  }
  return {found.begin(), found.end()};
}

bool names_flags_file(std::string_view xla_flags) {
  if (xla_flags.empty()) return false;
  constexpr std::string_view kSpaceOfXla = " \t\r\n";
  const std::size_t first = xla_flags.find_first_not_of(kSpaceOfXla);
  return first == std::string_view::npos || xla_flags[first] != '-';
}

}  // namespace precast::proto
