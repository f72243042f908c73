#include "base/per_process.h"

namespace precast::base {

namespace {

struct Left {
  const void* object = nullptr;
  const Left* next = nullptr;
};

std::atomic<const Left*> all_left = nullptr;

}  // namespace

void leave_to_parent(const void* object) {
  auto* left = new Left{object, all_left.load(std::memory_order_relaxed)};
  while (!all_left.compare_exchange_weak(left->next, left, std::memory_order_release)) {
  }
}

}  // namespace precast::base
