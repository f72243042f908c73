#include "topology/placement.h"

#include <array>
#include <unordered_map>
#include <unordered_set>

namespace precast::topology {
namespace {

// What stands for a device's id.
enum class IdRule {
  position,             // nothing: only where it stands counts
  coordinates_else_id,  // its place in the machine
  id,
};

bool one_process(const std::vector<DeviceFacts>& devices) {
  std::unordered_set<int> processes;
  for (const DeviceFacts& device : devices) processes.insert(device.process_index);
  return processes.size() <= 1;
}

// The devices of a CPU client, and of one host's CUDA client, are interchangeable to the compiler.
// Across hosts the links between devices matter, so the place of each counts. For a platform that
// nobody measured nothing is assumed.
IdRule rule_of(std::string_view platform, const std::vector<DeviceFacts>& devices) {
  if (platform == "cpu") return IdRule::position;
  if (platform == "cuda") {
    return one_process(devices) ? IdRule::position : IdRule::coordinates_else_id;
  }
  if (platform == "tpu") return IdRule::coordinates_else_id;
  return IdRule::id;
}

std::vector<std::pair<std::string, std::string>> coordinates_of(const DeviceFacts& device) {
  static constexpr std::array<std::string_view, 3> kNames = {"coords", "core_on_chip",
                                                             "slice_index"};
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string_view name : kNames) {
    for (const auto& attribute : device.attributes) {
      if (attribute.first == name) {
        found.push_back(attribute);
        break;
      }
    }
  }
  return found;
}

}  // namespace

Result<Placement> place(std::string_view platform, const DeviceAssignment& assignment,
                        const std::vector<DeviceFacts>& devices) {
  PRECAST_TRY(validate(assignment, devices));
  const IdRule rule = rule_of(platform, devices);
  std::unordered_map<std::int64_t, const DeviceFacts*> by_id;
  for (const DeviceFacts& device : devices) by_id.emplace(device.id, &device);

  Placement placement{assignment.replicas, assignment.partitions, {}};
  placement.positions.reserve(assignment.device_ids.size());
  std::unordered_map<int, int> process_numbers;
  for (const std::int64_t id : assignment.device_ids) {
    const DeviceFacts& device = *by_id.at(id);
    PlacedDevice placed;
    placed.kind = device.kind;
    placed.process =
        process_numbers.emplace(device.process_index, static_cast<int>(process_numbers.size()))
            .first->second;
    if (rule == IdRule::coordinates_else_id) placed.coordinates = coordinates_of(device);
    const bool has_place = !placed.coordinates.empty();
    if (rule == IdRule::id || (rule == IdRule::coordinates_else_id && !has_place)) placed.id = id;
    placement.positions.push_back(std::move(placed));
  }
  return placement;
}

}  // namespace precast::topology
