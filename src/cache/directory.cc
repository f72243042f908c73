// Where the cache is when nobody says.
#include <cstdlib>

#include "precast/cache.h"

namespace precast {
namespace {

// A variable that is set and not empty. secure_getenv: a set-uid program must not take its cache,
// which is code, from its caller's environment.
std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<DefaultDirectory> default_cache_directory() {
  if (std::string cache = variable("PRECAST_CACHE"); !cache.empty()) {
    return DefaultDirectory{std::move(cache), "PRECAST_CACHE"};
  }
  // The XDG specification: a relative path is to be ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) {
    return DefaultDirectory{xdg + "/precast", "XDG_CACHE_HOME"};
  }
  if (const std::string home = variable("HOME"); home.starts_with('/')) {
    return DefaultDirectory{home + "/.cache/precast", "HOME"};
  }
  return Error(ErrorCode::invalid_argument,
               "no cache folder: neither PRECAST_CACHE nor XDG_CACHE_HOME nor HOME holds a path; "
               "set PRECAST_CACHE "
               "or give a folder");
}

}  // namespace precast
