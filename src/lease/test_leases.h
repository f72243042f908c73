// For the tests of this module: a store of their own, and quick leases in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lease/leases.h"
#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::lease {

inline const std::string kKey = store::kName;
inline const std::string kOtherKey = store::kOtherName;

// Beats and polls fifty times as fast as real ones, and a silence that a busy machine does not make
// by itself.
inline Timing quick_timing() {
  return {.beat = std::chrono::milliseconds(20),
          .silence = std::chrono::milliseconds(3000),
          .poll_min = std::chrono::milliseconds(1),
          .poll_max = std::chrono::milliseconds(10),
          .follow = 1000};
}

// For tests that wait for a silence.
inline Timing impatient_timing() {
  Timing timing = quick_timing();
  timing.silence = std::chrono::milliseconds(500);
  return timing;
}

// For tests in which no silence counts: only certain death, or a verdict, explains a take-over.
inline Timing patient_timing() {
  Timing timing = quick_timing();
  timing.silence = std::chrono::hours(1);
  return timing;
}

// The names in a store's folder of leases.
inline std::vector<std::string> lease_files(const std::string& root) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/v1/leases", none)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// One opening of a store, with its leases.
struct Opened {
  explicit Opened(const std::string& root, store::FileOps& ops = store::quick_ops(),
                  Timing timing = quick_timing()) {
    auto opened = store::DirectoryStore::open(root, ops);
    if (!opened) {
      ADD_FAILURE() << opened.error().to_string();
      return;
    }
    store = *std::move(opened);
    leases = std::make_unique<Leases>(*store, timing);
  }

  // Acquired, or a failure of the test.
  Acquired acquire(const std::string& key = kKey, const WaitOptions& options = {}) const {
    auto got = leases->acquire(key, options);
    if (got) return *std::move(got);
    ADD_FAILURE() << got.error().to_string();
    return {};
  }

  std::unique_ptr<store::DirectoryStore> store;
  std::unique_ptr<Leases> leases;
};

}  // namespace precast::lease
