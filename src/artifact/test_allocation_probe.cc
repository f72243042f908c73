#include "artifact/test_allocation_probe.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t largest_request = 0;
thread_local std::size_t refused_size = std::numeric_limits<std::size_t>::max();
}  // namespace

// All the forms: a sanitizer has its own of those that are not here.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  if (size > largest_request) largest_request = size;
  return size <= refused_size ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }

namespace precast::artifact {

AllocationProbe::AllocationProbe(std::size_t refused_above) {
  largest_request = 0;
  refused_size = refused_above;
}

AllocationProbe::~AllocationProbe() { refused_size = std::numeric_limits<std::size_t>::max(); }

std::size_t AllocationProbe::largest() const { return largest_request; }

}  // namespace precast::artifact
