// The folders of this user, as the XDG base directory specification says.
#pragma once

#include <optional>
#include <string>

namespace precast::base {

struct UserFolder {
  std::string path;    // ".../precast", absolute
  std::string origin;  // the variable that it comes from
};

// Where Precast keeps what others could have made again: caches.
std::optional<UserFolder> user_cache_folder();
// Where it keeps what belongs to this machine: digests, verdicts, records. Nothing when neither
// variable holds an absolute path: never a world-writable place.
std::optional<UserFolder> user_state_folder();

}  // namespace precast::base
