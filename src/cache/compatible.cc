#include "cache/compatible.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cache/identity.h"
#include "cache/prepare.h"
#include "proto/executable_view.h"
#include "topology/cpu_features.h"
#include "topology/placement.h"

namespace precast::cache {
namespace {

Error incompatible(std::string message) {
  return {ErrorCode::incompatible, std::move(message)};
}

Error lacks_field(std::string_view field) {
  return {ErrorCode::corrupt, fmt::format("the artifact's key record has no field '{}'", field)};
}

// Compares a field of the record with the same field made from this process's values, item by item, and names the first
// difference.
Result<void> same_field(const KeyRecord& record, const KeyField& here) {
  const KeyField* there = record.find(here.name);
  if (there == nullptr) return lacks_field(here.name);
  if (*there == here) return {};
  const std::vector<KeyDifference> differences = diff(KeyRecord({*there}), KeyRecord({here}));
  if (differences.empty()) {
    return incompatible(fmt::format("the artifact's {} differs from the one here", here.name));
  }
  const KeyDifference& first = differences.front();
  return incompatible(fmt::format(
      "the artifact is for another {}: {} is {} there and {} here", here.name, first.item,
      first.in_left ? "'" + first.left + "'" : std::string("absent"),
      first.in_right ? "'" + first.right + "'" : std::string("absent")));
}

Result<void> has_features(std::string_view source, std::string_view triple,
                          std::string_view required, const proto::CpuTarget& here) {
  if (topology::architecture_of(triple) != topology::architecture_of(here.triple)) {
    return incompatible(fmt::format("the artifact {} code for '{}', this client runs '{}'", source,
                                    triple, here.triple));
  }
  const std::vector<std::string> missing = topology::missing_features(required, here.features);
  if (missing.empty()) return {};
  return incompatible(
      fmt::format("the artifact {} CPU features that this one ('{}') lacks: {}; compile it here, or for a "
                  "smaller instruction set (XLA_FLAGS=--xla_cpu_max_isa=…)",
                  source, here.name, fmt::join(missing, ", ")));
}

Result<void> check_cpu(const Client& client, const KeyRecord& record, BytesView executable) {
  const KeyField* cpu = record.find(kCpuField);
  if (cpu == nullptr) return lacks_field(kCpuField);
  const Bytes* triple = cpu->find(kCpuTripleItem);
  const std::optional<proto::CpuTarget> needs = proto::cpu_requirement(executable);
  if (triple == nullptr && !needs) return {};  // no host code
  PRECAST_ASSIGN(const proto::CpuTarget here, host_cpu(client));
  if (triple != nullptr) {
    PRECAST_TRY(has_features("was made for", *triple, joined_features(*cpu), here));
  }
  if (needs) PRECAST_TRY(has_features("holds code for", needs->triple, needs->features, here));
  return {};
}

}  // namespace

Result<void> check_compatible(const Client& client, const KeyRecord& record, BytesView executable,
                              const DeviceAssignment& assignment) {
  PRECAST_ASSIGN(const KeyField plugin, plugin_field(client));
  PRECAST_TRY(same_field(record, plugin));
  PRECAST_ASSIGN(const topology::Placement placement,
                 topology::place(client.platform_name(), assignment, device_facts(client)));
  PRECAST_TRY(same_field(record, placement_field(placement)));
  return check_cpu(client, record, executable);
}

}  // namespace precast::cache
