#include "store/layout.h"

#include <algorithm>
#include <array>

#include "store/store.h"

namespace precast::store {

std::string fan_out(std::string_view name) { return std::string(name.substr(0, kFanOutDigits)); }

std::string file_name(std::string_view name) {
  return std::string(name.substr(kFanOutDigits)).append(kSuffix);
}

std::optional<std::string> entry_name(std::string_view folder, std::string_view file) {
  if (!is_fan_out(folder) || !file.ends_with(kSuffix)) return std::nullopt;
  std::string name(folder);
  name += file.substr(0, file.size() - kSuffix.size());
  if (!is_name(name)) return std::nullopt;
  return name;
}

bool is_fan_out(std::string_view folder) {
  return folder.size() == kFanOutDigits && std::all_of(folder.begin(), folder.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_own_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"leases", "quarantine", "pins", "usage",
                                                      "gc.lock"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace precast::store
