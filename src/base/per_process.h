// PerProcess: an object that a forked child does not share with its parent.
//
// At a fork other threads of the parent may hold the object's locks, and they do not run in the
// child: it gets an object of its own, made at first use, and leaves its parent's alone. What is
// used until a process ends is a PerProcess that is never destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/periodic.h"

namespace precast::base {

// Thread-safe as far as T is.
template <typename T>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  ~PerProcess() {
    const Slot* last = current_.load(std::memory_order_acquire);
    if (last != nullptr && last->process == process_number()) delete last;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& here() {
    Slot* found = current_.load(std::memory_order_acquire);
    if (found != nullptr && found->process == process_number()) return found->value;
    auto fresh = std::make_unique<Slot>();
    fresh->of_parent = found;
    if (current_.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
      return fresh.release()->value;
    }
    return found->value;
  }

 private:
  struct Slot {
    const std::uint64_t process = process_number();
    // Left alone, and known to whoever looks for leaks.
    const Slot* of_parent = nullptr;
    T value;
  };
  std::atomic<Slot*> current_ = nullptr;
};

}  // namespace precast::base
