#include "store/store.h"

#include <algorithm>

namespace precast::store {
namespace {

// Enough of a bad name to recognise it; it may be anything, of any length.
constexpr std::size_t kShownDigits = 80;

}  // namespace

bool is_name(std::string_view name) {
  return name.size() == kNameDigits && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<void> check_name(std::string_view name) {
  if (is_name(name)) return {};
  std::string shown(name.substr(0, kShownDigits));
  if (shown.size() < name.size()) shown += "...";
  return Error(ErrorCode::invalid_argument,
               "'" + shown + "' is no name of a store entry: a name is " +
                   std::to_string(kNameDigits) +
                   " lower-case hexadecimal digits, as a key's digest prints");
}

}  // namespace precast::store
