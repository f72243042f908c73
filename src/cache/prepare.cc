#include "cache/prepare.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "precast/plugin.h"

namespace precast::cache {
namespace {

std::optional<StablehloVersion> newest_stablehlo(const Plugin& plugin) {
  for (const NamedValue& attribute : plugin.attributes()) {
    if (attribute.name != "stablehlo_current_version") continue;
    const auto* parts = std::get_if<std::vector<std::int64_t>>(&attribute.value);
    if (parts == nullptr || parts->size() != 3) return std::nullopt;
    return StablehloVersion{static_cast<int>((*parts)[0]), static_cast<int>((*parts)[1]),
                            static_cast<int>((*parts)[2])};
  }
  return std::nullopt;
}

}  // namespace

std::vector<topology::DeviceFacts> device_facts(const Client& client) {
  return device_facts(client.devices());
}

std::vector<topology::DeviceFacts> device_facts(const std::vector<Device>& devices) {
  std::vector<topology::DeviceFacts> facts;
  facts.reserve(devices.size());
  for (const Device& device : devices) {
    topology::DeviceFacts fact;
    fact.id = device.id;
    fact.kind = device.kind;
    fact.process_index = device.process_index;
    fact.addressable = device.addressable;
    for (const NamedValue& attribute : device.attributes) {
      fact.attributes.emplace_back(attribute.name, attribute.value_text());
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

Result<CompileOptions> with_assignment(const Client& client, const CompileOptions& options) {
  const std::vector<topology::DeviceFacts> devices = device_facts(client);
  PRECAST_TRY(topology::validate_counts(options.replicas(), options.partitions(), devices.size()));
  if (options.portable()) return options;
  if (const std::optional<DeviceAssignment> given = options.assignment()) {
    PRECAST_TRY(topology::validate(*given, devices));
    return options;
  }
  PRECAST_ASSIGN(const DeviceAssignment assignment,
                 client.default_assignment(options.replicas(), options.partitions()));
  PRECAST_TRY(topology::validate(assignment, devices).with("in the client's default assignment"));
  CompileOptions completed = options;
  completed.set_assignment(assignment);
  return completed;
}

Result<DeviceAssignment> placed_on(const Client& client, const CompileOptions& options) {
  if (std::optional<DeviceAssignment> given = options.assignment()) return *std::move(given);
  return client.default_assignment(options.replicas(), options.partitions());
}

Result<void> check_program_version(const Plugin& plugin, const Program& program) {
  const std::optional<StablehloVersion>& wanted = program.stablehlo_version();
  const std::optional<StablehloVersion> newest = newest_stablehlo(plugin);
  if (!wanted || !newest) return {};
  // The patch number never changes what can be read.
  if (std::pair(wanted->major, wanted->minor) <= std::pair(newest->major, newest->minor)) return {};
  return Error(
      ErrorCode::invalid_argument,
      fmt::format(
          "program '{}' is StableHLO {}, but the plugin '{}' reads up to {}; export it for {} or "
          "older, or use a newer plugin",
          program.name(), wanted->to_string(), plugin.path(), newest->to_string(),
          newest->to_string()));
}

}  // namespace precast::cache
