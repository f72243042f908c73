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

// For what a child found in its parent's memory and does not destroy: stays reachable, so that
// whoever looks for leaks (LeakSanitizer, Valgrind) does not take it for one. Thread-safe.
void leave_to_parent(const void* object);

// Thread-safe as far as T is.
template <typename T>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  ~PerProcess() {
    const Slot* last = current_.load(std::memory_order_acquire);
    if (last == nullptr) return;
    if (last->process == process_number()) {
      delete last;
    } else {
      leave_to_parent(last);
    }
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& here() {
    Slot* found = current_.load(std::memory_order_acquire);
    if (found != nullptr && found->process == process_number()) return found->value;
    auto fresh = std::make_unique<Slot>();
    Slot* seen = found;
    if (!current_.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel)) {
      return seen->value;
    }
    if (found != nullptr) leave_to_parent(found);
    return fresh.release()->value;
  }

 private:
  struct Slot {
    const std::uint64_t process = process_number();
    T value;
  };
  std::atomic<Slot*> current_ = nullptr;
};

}  // namespace precast::base
