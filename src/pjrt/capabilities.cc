#include "pjrt/capabilities.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/functions.h"

namespace precast::pjrt {
namespace {

// By number.
constexpr std::array<std::string_view, 25> kExtensionNames = {
    "gpu_custom_call",
    "profiler",
    "custom_partitioner",
    "stream",
    "layouts",
    "ffi",
    "memory_descriptions",
    "triton",
    "raw_buffer",
    "phase_compile",
    "example",
    "unknown",
    "cross_host_transfers",
    "executable_metadata",
    "callback",
    "host_allocator",
    "tpu_topology",
    "tpu_executable",
    "megascale",
    "shardings",
    "abi_version",
    "collectives",
    "multi_slice",
    "host_memory_allocator",
    "xla_transform",
};

std::string name_of(PJRT_Extension_Type type) {
  const int number = type;
  if (number >= 0 && number < static_cast<int>(kExtensionNames.size())) {
    return std::string(kExtensionNames[static_cast<std::size_t>(number)]);
  }
  return "type<" + std::to_string(number) + ">";
}

std::vector<std::string> extensions_of(const PJRT_Extension_Base* first) {
  std::vector<std::string> names;
  std::vector<const PJRT_Extension_Base*> seen;
  for (const auto* link = first; link != nullptr && seen.size() < kMaxExtensions;
       link = link->next) {
    if (std::find(seen.begin(), seen.end(), link) != seen.end()) break;
    seen.push_back(link);
    names.push_back(name_of(link->type));
  }
  return names;
}

}  // namespace

PluginCapabilities capabilities_of(const Api& api) {
  PluginCapabilities can;
  const bool executable = api.has(kLoadedExecutableGetExecutable);
  can.serialize = executable && api.has(kExecutableSerialize);
  can.deserialize_and_load = api.has(kExecutableDeserializeAndLoad);
  can.override_compile_options =
      can.deserialize_and_load && api.version() >= kOverridesOptionsSince;
  can.get_compile_options = executable && api.has(kExecutableGetCompileOptions);
  can.optimized_program = executable && api.has(kExecutableOptimizedProgram);
  can.topology = api.has(kClientTopologyDescription) && api.has(kTopologyDescriptionSerialize);
  can.topology_fingerprint =
      api.has(kClientTopologyDescription) && api.has(kTopologyDescriptionFingerprint);
  can.memory_kinds_of_parameters = executable && api.has(kExecutableParameterMemoryKinds);
  can.cost_analysis = executable && api.has(kExecutableGetCostAnalysis);
  can.extensions = extensions_of(api.extensions());
  return can;
}

}  // namespace precast::pjrt
