#include "topology/assignment.h"

#include <algorithm>
#include <unordered_set>

#include "precast/limits.h"

namespace precast::topology {
namespace {

Error invalid(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// "0, 1, 2, 3"; of a large client the first and how many more.
std::string list_ids(const std::vector<DeviceFacts>& devices) {
  constexpr std::size_t kShown = 16;
  std::vector<std::int64_t> ids;
  ids.reserve(devices.size());
  for (const DeviceFacts& device : devices) ids.push_back(device.id);
  std::sort(ids.begin(), ids.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(ids[i]);
  }
  if (ids.size() > kShown) text += ", and " + std::to_string(ids.size() - kShown) + " more";
  return text;
}

// Requires counts of at least 1.
std::uint64_t positions_of(int replicas, int partitions) {
  return static_cast<std::uint64_t>(replicas) * static_cast<std::uint64_t>(partitions);
}

Result<void> check_counts(int replicas, int partitions) {
  if (replicas < 1 || partitions < 1) {
    return invalid("replicas and partitions must be at least 1, not " + std::to_string(replicas) +
                   " and " + std::to_string(partitions));
  }
  if (positions_of(replicas, partitions) > limits::kMaxDevices) {
    return invalid(std::to_string(replicas) + " replicas x " + std::to_string(partitions) +
                   " partitions are more than the limit of " + std::to_string(limits::kMaxDevices) +
                   " devices");
  }
  return {};
}

Result<void> check_ids(int replicas, int partitions, const std::vector<std::int64_t>& ids) {
  const std::uint64_t positions = positions_of(replicas, partitions);
  if (ids.size() != positions) {
    return invalid(plural(static_cast<std::uint64_t>(replicas), "replica") + " x " +
                   plural(static_cast<std::uint64_t>(partitions), "partition") + " need " +
                   plural(positions, "device id") + ", not " + std::to_string(ids.size()));
  }
  std::unordered_set<std::int64_t> seen;
  for (const std::int64_t id : ids) {
    if (!seen.insert(id).second) {
      return invalid("device id " + std::to_string(id) +
                     " stands twice in the assignment; each position needs a device of its own");
    }
  }
  return {};
}

}  // namespace

Result<void> validate_counts(int replicas, int partitions, std::size_t device_count) {
  PRECAST_TRY(check_counts(replicas, partitions));
  const std::uint64_t positions = positions_of(replicas, partitions);
  if (positions > device_count) {
    return invalid(plural(static_cast<std::uint64_t>(replicas), "replica") + " x " +
                   plural(static_cast<std::uint64_t>(partitions), "partition") + " need " +
                   plural(positions, "device") + ", the client has " +
                   std::to_string(device_count));
  }
  return {};
}

Result<void> validate(const DeviceAssignment& assignment, const std::vector<DeviceFacts>& devices) {
  PRECAST_TRY(validate_counts(assignment.replicas, assignment.partitions, devices.size()));
  PRECAST_TRY(check_ids(assignment.replicas, assignment.partitions, assignment.device_ids));
  std::unordered_set<std::int64_t> known;
  for (const DeviceFacts& device : devices) known.insert(device.id);
  for (const std::int64_t id : assignment.device_ids) {
    if (!known.contains(id)) {
      return invalid("the client has no device with id " + std::to_string(id) + "; its ids are " +
                     list_ids(devices));
    }
  }
  return {};
}

Result<DeviceAssignment> remap(const DeviceAssignment& assignment,
                               const std::vector<std::int64_t>& new_ids) {
  PRECAST_TRY(check_counts(assignment.replicas, assignment.partitions));
  PRECAST_TRY(check_ids(assignment.replicas, assignment.partitions, new_ids));
  return DeviceAssignment{assignment.replicas, assignment.partitions, new_ids};
}

}  // namespace precast::topology
