// Tells tests how much memory a piece of code asks for at once, and refuses it on demand. The test
// binary's operator new counts (test_allocation_probe.cc).
#pragma once

#include <cstddef>
#include <limits>

namespace precast::artifact {

// Counts the allocations of this thread while it lives; one at a time.
class AllocationProbe {
 public:
  // Any single allocation beyond `refused_above` bytes fails as if memory had run out.
  explicit AllocationProbe(std::size_t refused_above = std::numeric_limits<std::size_t>::max());
  ~AllocationProbe();
  AllocationProbe(const AllocationProbe&) = delete;
  AllocationProbe& operator=(const AllocationProbe&) = delete;

  // The largest single allocation that was asked for.
  std::size_t largest() const;
};

}  // namespace precast::artifact
