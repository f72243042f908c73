// Phases: how long the parts of a request took.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "precast/cache.h"

namespace precast::cache {

// Runs `work`, appends its duration to `phases` and returns what it returned. A phase that is
// entered twice (a trial load inside "prove") is its caller's business: phases do not nest.
template <typename Work>
auto timed(std::vector<Phase>& phases, std::string name, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  auto result = std::forward<Work>(work)();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  phases.push_back({std::move(name), took.count()});
  return result;
}

}  // namespace precast::cache
