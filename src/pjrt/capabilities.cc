#include "pjrt/capabilities.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/functions.h"

namespace precast::pjrt {
namespace {

struct KnownExtension {
  std::string_view name;
  std::size_t
      bytes;  // of its struct at PJRT 0.114, base included; 0: it has no own, or none is known
};

// By number.
constexpr std::array<KnownExtension, 25> kExtensions = {{
    {"gpu_custom_call", 0},
    {"profiler", 40},
    {"custom_partitioner", 40},
    {"stream", 40},
    {"layouts", 80},
    {"ffi", 48},
    {"memory_descriptions", 40},
    {"triton", 32},
    {"raw_buffer", 80},
    {"phase_compile", 64},
    {"example", 0},
    {"unknown", 0},
    {"cross_host_transfers", 0},
    {"executable_metadata", 0},
    {"callback", 40},
    {"host_allocator", 0},
    {"tpu_topology", 272},
    {"tpu_executable", 88},
    {"megascale", 248},
    {"shardings", 40},
    {"abi_version", 120},
    {"collectives", 96},
    {"multi_slice", 64},
    {"host_memory_allocator", 0},
    {"xla_transform", 40},
}};

const KnownExtension* known(PJRT_Extension_Type type) {
  const int number = type;
  if (number < 0 || number >= static_cast<int>(kExtensions.size())) return nullptr;
  return &kExtensions[static_cast<std::size_t>(number)];
}

void read_extensions(const PJRT_Extension_Base* first, PluginCapabilities& can) {
  std::vector<const PJRT_Extension_Base*> seen;
  for (const auto* link = first; link != nullptr && seen.size() < kMaxExtensions;
       link = link->next) {
    if (std::find(seen.begin(), seen.end(), link) != seen.end()) break;
    seen.push_back(link);
    const KnownExtension* extension = known(link->type);
    if (extension == nullptr) {
      can.extensions.push_back("type<" + std::to_string(static_cast<int>(link->type)) + ">");
      continue;
    }
    can.extensions.emplace_back(extension->name);
    if (link->struct_size < extension->bytes) can.short_extensions.emplace_back(extension->name);
  }
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
  read_extensions(api.extensions(), can);
  return can;
}

}  // namespace precast::pjrt
