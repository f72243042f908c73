// Settled: a fact that is found out once and never changes.
//
// It is read without a lock, so that a forked child has what its parent had found out, and never
// meets a lock that another thread of its parent held. Two threads that ask at once may both find
// it out; the first one's is kept. What is too costly for that, or may change, is a PerProcess.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace precast::base {

// Thread-safe, but for its end.
template <typename T>
class Settled {
 public:
  constexpr Settled() = default;
  ~Settled() { delete value_.load(std::memory_order_acquire); }
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;

  // Null while nobody has found it out. Stays valid.
  const T* get() const { return value_.load(std::memory_order_acquire); }

  // What is kept: `found`, or what another thread had found before.
  const T& settle(T found) {
    auto fresh = std::make_unique<const T>(std::move(found));
    const T* before = nullptr;
    if (value_.compare_exchange_strong(before, fresh.get(), std::memory_order_acq_rel)) {
      return *fresh.release();
    }
    return *before;
  }

 private:
  std::atomic<const T*> value_ = nullptr;
};

}  // namespace precast::base
