// Tells tests how much memory a piece of code asked for at once. The test binary's operator new
// counts (allocation_probe.cc).
#pragma once

#include <cstddef>

namespace precast::artifact {

// The largest single allocation of this thread since the object was made.
class AllocationProbe {
 public:
  AllocationProbe();
  std::size_t largest() const;
};

}  // namespace precast::artifact
