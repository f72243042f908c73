// What a Cache handle shares.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "precast/cache.h"
#include "store/store.h"

namespace precast {

struct [[gnu::visibility("hidden")]] Cache::Impl {
  CacheConfig config;
  std::string directory;
  bool disabled = false;
  std::optional<Error> unusable;
  std::unique_ptr<store::Store> store;  // null when unusable or disabled
  std::string state;                    // the state folder; empty: there is none

  // Tells the user about a fault, once for each `kind` and cache: a loop over a thousand programs
  // must not print a thousand times that the disk is full.
  void warn_once(const std::string& kind, const std::string& text);

 private:
  std::mutex mutex_;
  std::set<std::string> warned_;
};

}  // namespace precast
