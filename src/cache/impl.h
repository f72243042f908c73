// What a Cache handle shares.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/per_process.h"
#include "cache/marks.h"
#include "precast/cache.h"
#include "stats/recorder.h"
#include "store/guarded_store.h"

namespace precast {

struct [[gnu::visibility("hidden")]] Cache::Impl {
  CacheConfig config;
  std::string directory;
  bool disabled = false;
  std::optional<Error> unusable;
  // Null when unusable or disabled.
  std::unique_ptr<store::GuardedStore> store;
  std::shared_ptr<stats::Recorder> recorder;  // null when there is no state folder, or not wanted
  cache::Marks marks{""};                     // kept in the state folder
  std::string state;                          // the state folder; empty: there is none

  // Counts a request that ended before it began.
  void count_error(Reason reason, const std::string& label) const;
  // Whether a request may begin: `input` is what was found about the caller's. Counts what ends
  // here.
  Result<void> may_begin(const Result<void>& input, const std::string& label) const;
  // Tells the user about a fault, once for each `kind`, cache and process: a loop over a
  // thousand programs must not print a thousand times that the disk is full.
  void warn_once(const std::string& kind, const std::string& text);

 private:
  struct Warned {
    std::mutex mutex;
    std::set<std::string> kinds;
  };
  base::PerProcess<Warned> warned_;
};

}  // namespace precast
