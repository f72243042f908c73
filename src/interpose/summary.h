// Summary: what became of this process's compiles, in one line.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "precast/cache.h"

namespace precast::interpose {

// Thread-safe.
class Summary {
 public:
  // One compile of the host: what became of it, how long it took, and for a hit how long the
  // compile took that it saved, both in milliseconds.
  void count(Outcome outcome, Reason reason, double spent_ms, double compile_ms);

  // "summary: hits=3 misses=1 skips=0 bypasses=2 (index_bound_call 2) errors=0 spent_ms=12
  // saved_ms=340"
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<Outcome, std::uint64_t> outcomes_;
  std::map<Outcome, std::map<std::string, std::uint64_t>> reasons_;
  double spent_ms_ = 0;
  double saved_ms_ = 0;
};

}  // namespace precast::interpose
