#include "artifact/test_allocation_probe.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t largest_request = 0;
thread_local std::size_t refused_size = std::numeric_limits<std::size_t>::max();
}  // namespace

void* operator new(std::size_t size) {
  if (size > largest_request) largest_request = size;
  if (size <= refused_size) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace precast::artifact {

AllocationProbe::AllocationProbe(std::size_t refused_above) {
  largest_request = 0;
  refused_size = refused_above;
}

AllocationProbe::~AllocationProbe() { refused_size = std::numeric_limits<std::size_t>::max(); }

std::size_t AllocationProbe::largest() const { return largest_request; }

}  // namespace precast::artifact
