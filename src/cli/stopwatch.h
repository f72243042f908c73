// Times of phases, in milliseconds.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "precast/cache.h"

namespace precast::cli {

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Runs `work`, appends its duration to `phases` and returns what it returned.
template <typename Work>
auto timed(std::vector<Phase>& phases, std::string name, Work&& work) {
  const Stopwatch watch;
  auto result = std::forward<Work>(work)();
  phases.push_back({std::move(name), watch.ms()});
  return result;
}

}  // namespace precast::cli
