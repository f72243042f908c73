// Device assignments against the devices that a client has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "precast/device_assignment.h"
#include "precast/result.h"

namespace precast::topology {

// What assignment and placement need to know about a device.
struct DeviceFacts {
  std::int64_t id = 0;  // global
  std::string kind;
  int process_index = 0;
  bool addressable = true;
  // Name and value as text; placement looks for "coords", "core_on_chip" and "slice_index".
  std::vector<std::pair<std::string, std::string>> attributes;
};

// invalid_argument when a count is below 1, their product is beyond limits::kMaxDevices, or beyond
// the number of devices ("4 replicas x 2 partitions need 8 devices, the client has 4").
Result<void> validate_counts(int replicas, int partitions, std::size_t device_count);

// validate_counts, and: one id per position, every id one of the devices', none twice.
// invalid_argument names the id and the ids that exist.
Result<void> validate(const DeviceAssignment& assignment, const std::vector<DeviceFacts>& devices);

// The same replicas and partitions on other devices, by position. invalid_argument when there is
// not one id per position or one stands twice.
Result<DeviceAssignment> remap(const DeviceAssignment& assignment,
                               const std::vector<std::int64_t>& new_ids);

}  // namespace precast::topology
