// Placement: where a program runs, as far as it matters to the compiler. A plain value for the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/device_assignment.h"
#include "precast/result.h"
#include "topology/assignment.h"

namespace precast::topology {

// One position of the assignment (replica * partitions + partition).
struct PlacedDevice {
  std::string kind;
  // Processes are numbered 0, 1, ... by their first position, so which hosts they are does not
  // count.
  int process = 0;
  // The global id, only where nothing better tells the devices apart.
  std::optional<std::int64_t> id;
  // "coords", "core_on_chip", "slice_index", those that the device has, in this order.
  std::vector<std::pair<std::string, std::string>> coordinates;
  bool operator==(const PlacedDevice&) const = default;
};

struct Placement {
  int replicas = 1;
  int partitions = 1;
  std::vector<PlacedDevice> positions;
  bool operator==(const Placement&) const = default;
};

// Ids do not count on "cpu", and on "cuda" when all devices are of one process. On "tpu", and on
// "cuda" with several processes, a position has its coordinates, and its id where it has none. On
// any other platform ids count as they are. Errors as validate().
Result<Placement> place(std::string_view platform, const DeviceAssignment& assignment,
                        const std::vector<DeviceFacts>& devices);

}  // namespace precast::topology
