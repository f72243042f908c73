#include "cache/compatible.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <utility>

#include "cache/identity.h"
#include "cache/prepare.h"
#include "key/build_record.h"
#include "proto/executable_view.h"
#include "topology/cpu_features.h"
#include "topology/placement.h"

namespace precast::cache {
namespace {

constexpr std::string_view kFeaturePrefix = "feature.";

Error incompatible(std::string message) { return {ErrorCode::incompatible, std::move(message)}; }

// One item's value as a message shows it.
std::string shown(bool there, const Bytes& value) {
  return there ? "'" + value + "'" : std::string("absent");
}

// Where one is the backend inside a front end, and the other a plugin: which is which.
std::string kinds(const KeyField& there, const KeyField& here) {
  constexpr std::string_view kItem = "attribute.foreign_runtime";
  const bool built_in_there = there.find(kItem) != nullptr;
  if (built_in_there == (here.find(kItem) != nullptr)) return {};
  return built_in_there ? "it is the backend inside a front end there and a plugin here, "
                        : "it is a plugin there and the backend inside a front end here, ";
}

// Compares one field of the artifact's record with the same field made here, and names the first
// item that differs.
Result<void> same_field(const KeyRecord& artifact, const KeyRecord& here, std::string_view name) {
  const KeyField* left = artifact.find(name);
  const KeyField* right = here.find(name);
  if (left == nullptr || right == nullptr) {
    return Error(ErrorCode::corrupt,
                 fmt::format("the artifact's key record has no field '{}'", name));
  }
  const std::vector<KeyDifference> differences = diff(KeyRecord({*left}), KeyRecord({*right}));
  if (differences.empty()) return {};
  const KeyDifference& first = differences.front();
  return incompatible(
      fmt::format("the artifact was made for another {}: {}{} is {} there and {} here", name,
                  kinds(*left, *right), first.item, shown(first.in_left, first.left),
                  shown(first.in_right, first.right)));
}

Result<void> runs_here(const proto::CpuTarget& required, const proto::CpuTarget& here,
                       std::string_view source) {
  if (topology::architecture_of(required.triple) != topology::architecture_of(here.triple)) {
    return incompatible(fmt::format("the artifact {} '{}', this client runs '{}'", source,
                                    required.triple, here.triple));
  }
  const std::vector<std::string> missing =
      topology::missing_features(required.features, here.features);
  if (missing.empty()) return {};
  return incompatible(fmt::format(
      "the artifact {} a CPU with {}, which this one ('{}') lacks; compile the program here, or "
      "for a smaller instruction set (XLA_FLAGS=--xla_cpu_max_isa=AVX2, for example)",
      source, fmt::join(missing, ", "), here.name));
}

// The CPU that the record names; nothing when the plugin emitted no host code.
Result<std::optional<proto::CpuTarget>> recorded_cpu(const KeyRecord& record) {
  const KeyField* cpu = record.find("cpu");
  if (cpu == nullptr) {
    return Error(ErrorCode::corrupt, "the artifact's key record has no field 'cpu'");
  }
  const Bytes* triple = cpu->find("triple");
  if (triple == nullptr) return std::optional<proto::CpuTarget>();
  proto::CpuTarget target;
  target.triple = *triple;
  for (const KeyItem& item : cpu->items) {
    if (!item.name.starts_with(kFeaturePrefix)) continue;
    if (!target.features.empty()) target.features += ',';
    target.features += item.value + item.name.substr(kFeaturePrefix.size());
  }
  return std::optional(std::move(target));
}

// An artifact for a baseline runs on every CPU that reaches it.
Result<void> reaches_baseline(const KeyRecord& record, const proto::CpuTarget& here) {
  const KeyField* cpu = record.find("cpu");
  const Bytes* name = cpu == nullptr ? nullptr : cpu->find("baseline");
  if (name == nullptr) return {};
  const topology::Baseline* baseline = topology::find_baseline(*name);
  const Bytes* architecture = cpu->find("architecture");
  if (baseline == nullptr || architecture == nullptr) {
    return incompatible("the artifact was made for the baseline '" + *name +
                        "', which this version does not know");
  }
  return runs_here({*architecture, *name, std::string(baseline->features)}, here, "was made for");
}

// The plugin and its surroundings, and the placement.
Result<void> same_place(const KeyRecord& record, key::PluginIdentity plugin,
                        topology::Placement placement) {
  key::KeyInputs inputs;
  inputs.plugin = std::move(plugin);
  inputs.placement = std::move(placement);
  const KeyRecord here = key::build_record(inputs);
  PRECAST_TRY(same_field(record, here, "plugin"));
  return same_field(record, here, "placement");
}

Result<void> made_here(const Client& client, const KeyRecord& record,
                       const CompileOptions& options) {
  PRECAST_ASSIGN(key::PluginIdentity plugin, plugin_identity(client, options));
  PRECAST_ASSIGN(const DeviceAssignment assignment, placed_on(client, options));
  PRECAST_ASSIGN(topology::Placement placement,
                 topology::place(client.platform_name(), assignment, device_facts(client)));
  return same_place(record, std::move(plugin), std::move(placement));
}

// The CPU that the artifact was made for, or its baseline.
Result<void> suits_cpu(const KeyRecord& record, const proto::CpuTarget& here) {
  PRECAST_TRY(reaches_baseline(record, here));
  PRECAST_ASSIGN(const std::optional<proto::CpuTarget> recorded, recorded_cpu(record));
  return recorded ? runs_here(*recorded, here, "was made for") : Result<void>();
}

}  // namespace

Result<void> check_made_here(const KeyRecord& record, key::PluginIdentity plugin,
                             topology::Placement placement, const proto::CpuTarget& cpu) {
  PRECAST_TRY(same_place(record, std::move(plugin), std::move(placement)));
  return suits_cpu(record, cpu);
}

Result<void> runs_on(const proto::CpuTarget& here, const proto::CpuTarget& needed) {
  return runs_here(needed, here, "holds code for");
}

Result<void> check_compatible(const Client& client, const KeyRecord& record, RecordOrigin origin,
                              BytesView executable, const CompileOptions& options) {
  const bool foreign = origin == RecordOrigin::artifact;
  const std::optional<proto::CpuTarget> needed = proto::cpu_requirement(executable);
  bool names_cpu = needed.has_value();
  if (foreign) {
    PRECAST_TRY(made_here(client, record, options));
    PRECAST_ASSIGN(const std::optional<proto::CpuTarget> recorded, recorded_cpu(record));
    const KeyField* field = record.find("cpu");
    names_cpu = names_cpu || recorded || field->find("baseline") != nullptr;
  }
  if (!names_cpu) return {};
  PRECAST_ASSIGN(const proto::CpuTarget cpu, host_cpu(client));
  if (foreign) PRECAST_TRY(suits_cpu(record, cpu));
  return needed ? runs_on(cpu, *needed) : Result<void>();
}

}  // namespace precast::cache
