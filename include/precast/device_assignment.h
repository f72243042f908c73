// DeviceAssignment: which device runs which replica and partition.
#pragma once

#include <cstdint>
#include <vector>

namespace precast {

// Global device ids in positions: the device of replica r and partition p is device_ids[r *
// partitions + p]. Both counts are at least 1 and device_ids has replicas * partitions entries.
struct DeviceAssignment {
  int replicas = 1;
  int partitions = 1;
  std::vector<std::int64_t> device_ids;

  bool operator==(const DeviceAssignment&) const = default;
};

}  // namespace precast
