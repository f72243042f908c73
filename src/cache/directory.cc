// Where the cache and its state are when nobody says.
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/user_folder.h"
#include "precast/cache.h"
#include "precast/cache_folder.h"

namespace precast {
namespace {

Result<DefaultDirectory> found_or(std::optional<base::UserFolder> folder, const char* message) {
  if (folder) return DefaultDirectory{std::move(folder->path), std::move(folder->origin)};
  return Error(ErrorCode::invalid_argument, message);
}

}  // namespace

Result<DefaultDirectory> default_cache_directory() {
  // secure_getenv: as in base/user_folder.cc.
  if (const char* own = ::secure_getenv("PRECAST_CACHE"); own != nullptr && *own != '\0') {
    return DefaultDirectory{own, "PRECAST_CACHE"};
  }
  return found_or(base::user_cache_folder(),
                  "no cache folder: neither PRECAST_CACHE nor XDG_CACHE_HOME nor HOME holds a "
                  "path; set PRECAST_CACHE or give a folder");
}

std::string default_name_space() {
  const char* name = ::secure_getenv("PRECAST_NAMESPACE");
  return name == nullptr ? "" : name;
}

Result<DefaultDirectory> default_state_directory() {
  return found_or(base::user_state_folder(),
                  "no state folder: neither XDG_STATE_HOME nor HOME holds a path; set "
                  "XDG_STATE_HOME");
}

}  // namespace precast
