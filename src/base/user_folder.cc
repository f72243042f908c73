#include "base/user_folder.h"

#include <cstdlib>
#include <string_view>

namespace precast::base {
namespace {

// secure_getenv: a set-uid program must not take its cache, which is code, from its caller's
// environment. The specification: a relative path is to be ignored.
std::optional<UserFolder> below(const char* variable, std::string_view rest) {
  const char* value = ::secure_getenv(variable);
  if (value == nullptr || *value != '/') return std::nullopt;
  return UserFolder{std::string(value) + std::string(rest), variable};
}

std::optional<UserFolder> first_of(const char* xdg, std::string_view below_home) {
  if (auto found = below(xdg, "/precast")) return found;
  return below("HOME", below_home);
}

}  // namespace

std::optional<UserFolder> user_cache_folder() {
  return first_of("XDG_CACHE_HOME", "/.cache/precast");
}

std::optional<UserFolder> user_state_folder() {
  return first_of("XDG_STATE_HOME", "/.local/state/precast");
}

}  // namespace precast::base
