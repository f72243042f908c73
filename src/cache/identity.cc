#include "cache/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/per_process.h"
#include "cache/flags_read_back.h"
#include "cache/gpu_parts.h"
#include "cache/prepare.h"
#include "cache/settings.h"
#include "key/build_record.h"
#include "pjrt/client_impl.h"
#include "pjrt/digest_memory.h"
#include "pjrt/mapped_file.h"
#include "pjrt/plugin_environment.h"
#include "precast/plugin.h"
#include "program/program_digest.h"
#include "proto/canonical_options.h"
#include "proto/file_options.h"
#include "topology/cpu_features.h"
#include "topology/placement.h"

namespace precast::cache {
namespace {

constexpr std::string_view kCuda = "cuda";
constexpr std::uint64_t kMaxCpuinfoBytes = std::uint64_t{64} << 20;  // a kilobyte for each CPU

// The same for a portable executable, which runs on whatever device a run names.
std::optional<KeyResult> bypass_by_portability(const Client& client) {
  if (client.platform_name() != "cpu") {
    return bypass(Reason::cannot_load,
                  "the options ask for a portable executable, which is known on CPUs alone");
  }
  for (const Device& device : client.devices()) {
    if (device.addressable && device.kind == client.devices().front().kind) continue;
    return bypass(Reason::cannot_load,
                  "the options ask for a portable executable, and the devices are of several kinds "
                  "or processes");
  }
  return std::nullopt;
}

// Why a program on these devices must not be cached, before anything costly is read.
std::optional<KeyResult> bypass_by_client(const Client& client, const CompileOptions& options) {
  const std::string& platform = client.platform_name();
  if (platform != "cpu" && platform != "cuda") {
    // What the executables of other platforms depend on beside the plugin is not known.
    return bypass(
        Reason::platform_unknown,
        "the key does not yet cover what executables of platform '" + platform + "' depend on");
  }
  const Plugin plugin = client.plugin();
  const PluginCapabilities& can = plugin.capabilities();
  if (!can.deserialize_and_load || !can.override_compile_options) {
    return bypass(
        Reason::cannot_load,
        fmt::format("the plugin's API version {} cannot load executables with other options",
                    plugin.api_version().to_string()));
  }
  const std::optional<DeviceAssignment> assignment = options.assignment();
  if (!assignment) return bypass_by_portability(client);
  for (const Device& device : client.devices()) {
    const auto& ids = assignment->device_ids;
    if (!device.addressable && std::find(ids.begin(), ids.end(), device.id) != ids.end()) {
      return bypass(
          Reason::multi_process,
          fmt::format("device {} belongs to process {}: all processes must decide together",
                      device.id, device.process_index));
    }
  }
  return std::nullopt;
}

Result<proto::CpuTarget> cpu_of_this_host() {
  struct utsname names{};
  PRECAST_ASSIGN(const Bytes text, base::read_file("/proc/cpuinfo", kMaxCpuinfoBytes));
  if (::uname(&names) == 0) {
    if (auto cpu = cpu_from_cpuinfo(text, names.machine)) return *std::move(cpu);
  }
  return Error(ErrorCode::unsupported, "/proc/cpuinfo does not say what this CPU can");
}

// The folders that options and flags name as the CUDA toolkit.
std::vector<std::string> data_dirs(const Settings& settings) {
  std::vector<std::string> found;
  for (const auto* items : {&settings.options, &settings.flags}) {
    for (const proto::OptionItem& item : *items) {
      if (item.name.ends_with("xla_gpu_cuda_data_dir")) found.push_back(item.value);
    }
  }
  return found;
}

// What of a plugin's surroundings is in its code.
Result<std::vector<std::pair<std::string, Bytes>>> parts_of(const Client& client,
                                                            const Settings& settings,
                                                            const DeviceAssignment& assignment) {
  if (client.platform_name() != kCuda) return std::vector<std::pair<std::string, Bytes>>();
  PRECAST_ASSIGN(std::string maps, pjrt::read_maps());
  return gpu_parts({
      .maps = std::move(maps),
      .plugin_path = client.plugin().path(),
      .data_dirs = data_dirs(settings),
      .cuda_home = pjrt::plugin_variable("CUDA_HOME").value_or(""),
      .path = pjrt::plugin_variable("PATH").value_or(""),
      .several_devices = assignment.device_ids.size() > 1,
      .digest =
          [](const std::string& path, const pjrt::Mapping* mapping) {
            return pjrt::digest_of_file(path, mapping, pjrt::DigestMemory::of_user());
          },
  });
}

// The plugin file alone.
Result<key::PluginIdentity> mapped_identity(const Client& client) {
  const Plugin plugin = client.plugin();
  PRECAST_ASSIGN(const PluginFile file, plugin.mapped_file());
  return key::PluginIdentity{.platform = client.platform_name(),
                             .platform_version = client.platform_version(),
                             .sha256 = file.digest,
                             .api_version = plugin.api_version(),
                             .attributes = plugin.attributes(),
                             .parts = {}};
}

// Asks a plugin that does not name the CPU in its topology: an executable that it just compiled
// does. As that reflects the flags which the plugin took at its first client, it is one answer per
// plugin and process.
Result<proto::CpuTarget> compiled_for(const Client& client) {
  constexpr BytesView kProgram =
      "module @precast_cpu { func.func public @main(%a: tensor<f32>) -> tensor<f32> {\n"
      "  return %a : tensor<f32>\n} }\n";
  PRECAST_ASSIGN(const Program program, Program::from_bytes(Bytes(kProgram), "the CPU probe"));
  PRECAST_ASSIGN(const CompiledExecutable executable, client.compile(program, CompileOptions()));
  PRECAST_ASSIGN(const Bytes bytes, executable.serialize());
  if (std::optional<proto::CpuTarget> cpu = proto::cpu_requirement(bytes)) return *std::move(cpu);
  return Error(ErrorCode::unsupported,
               "neither the plugin's topology nor its executables name the CPU");
}

struct KnownCpus {
  std::mutex mutex;  // held while one compiles
  // Plugins are never closed, so their addresses name them.
  std::map<const Plugin::Impl*, proto::CpuTarget> of;
};

base::PerProcess<KnownCpus>& known_cpus = *new base::PerProcess<KnownCpus>();

Result<proto::CpuTarget> remembered_cpu(const Client& client) {
  KnownCpus& known = known_cpus.here();
  const std::lock_guard lock(known.mutex);
  const Plugin::Impl* plugin = client.plugin().impl().get();
  if (const auto found = known.of.find(plugin); found != known.of.end()) return found->second;
  PRECAST_ASSIGN(const proto::CpuTarget cpu, compiled_for(client).with("while asking for the CPU"));
  return known.of.emplace(plugin, cpu).first->second;
}

Result<proto::CpuTarget> ask_cpu(const Client& client) {
  // A CUDA plugin makes host code too, for this CPU, and does not say so.
  if (client.platform_name() == kCuda) return cpu_of_this_host();
  PRECAST_ASSIGN(const TopologyFacts topology, client.topology());
  if (topology.serialized.empty()) {
    return Error(ErrorCode::unsupported,
                 "the plugin does not serialize its topology, which names the CPU");
  }
  PRECAST_ASSIGN(proto::CpuTarget cpu, proto::cpu_from_topology(topology.serialized));
  // Plugins before November 2025 give the CPU's features alone.
  if (cpu.triple.empty()) return remembered_cpu(client);
  return cpu;
}

}  // namespace

Result<proto::CpuTarget> host_cpu(const Client& client) {
  Client::Impl& impl = *client.impl();
  if (const proto::CpuTarget* known = impl.cpu.get()) return *known;
  PRECAST_ASSIGN(proto::CpuTarget cpu, ask_cpu(client));
  return impl.cpu.settle(std::move(cpu));
}

Result<void> check_baseline(const Client& client, const RequestOptions& request) {
  if (request.cpu_baseline.empty()) return {};
  const topology::Baseline* baseline = topology::find_baseline(request.cpu_baseline);
  if (baseline == nullptr) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("there is no CPU baseline '{}'; there are x86-64-v2, x86-64-v3 and "
                             "x86-64-v4",
                             request.cpu_baseline));
  }
  if (client.platform_name() != "cpu") {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("a CPU baseline is for platform 'cpu', and this is '{}'",
                             client.platform_name()));
  }
  PRECAST_ASSIGN(const proto::CpuTarget here, host_cpu(client));
  const std::vector<std::string> missing =
      topology::missing_features(baseline->features, here.features);
  if (topology::architecture_of(here.triple) == "x86_64" && missing.empty()) return {};
  return Error(ErrorCode::invalid_argument,
               fmt::format("this CPU ('{}', {}) does not reach {}: it lacks {}", here.name,
                           here.triple, baseline->name, fmt::join(missing, ", ")));
}

Result<key::PluginIdentity> plugin_identity(const Client& client, const CompileOptions& options) {
  PRECAST_ASSIGN(key::PluginIdentity identity, mapped_identity(client));
  if (client.platform_name() != kCuda) return identity;
  PRECAST_ASSIGN(const FlagsInForce in_force, flags_in_force(client.flags()));
  // Only the folders of the toolkit matter here, so no file that an option names is read.
  PRECAST_ASSIGN(proto::CanonicalOptions canonical, proto::canonicalize(options, kCuda));
  const Settings settings{std::move(canonical.items),
                          proto::canonical_flags(in_force.flags, in_force.text, kCuda)};
  PRECAST_ASSIGN(const DeviceAssignment assignment, placed_on(client, options));
  PRECAST_ASSIGN(identity.parts, parts_of(client, settings, assignment));
  return identity;
}

bool names_files(const KeyRecord& record) {
  for (const char* field : {"options", "flags"}) {
    const KeyField* found = record.find(field);
    if (found == nullptr) continue;
    for (const KeyItem& item : found->items) {
      // "debug_options.<option>", "override.<option>", "--<option>".
      const std::size_t begin = item.name.find("xla_");
      if (begin == std::string::npos) continue;
      const proto::FileOption* option =
          proto::find_file_option(std::string_view(item.name).substr(begin));
      if (option != nullptr && option->kind != proto::FileOptionKind::llvm_options) return true;
    }
  }
  return false;
}

Result<KeyResult> identify(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request) {
  PRECAST_TRY(check_extras(request));
  if (std::optional<KeyResult> early = bypass_by_client(client, options)) return *std::move(early);
  const Result<FlagsInForce> in_force = flags_in_force(client.flags());
  if (!in_force) return bypass(Reason::option_names_file, in_force.error().message());
  if (in_force->flags.reads_environment_again) {
    return bypass(Reason::flags_unknown,
                  "with xla_flags_reset XLA reads XLA_FLAGS again at every compile");
  }
  PRECAST_ASSIGN(auto settings, settings_of(*in_force, options, client.platform_name()));
  if (!settings.first) return bypass(Reason::option_names_file, std::move(settings.second));
  if (!client.flags().certain) {
    auto effective = flags_read_back(client, in_force->flags);
    if (!effective) return bypass(Reason::flags_unknown, effective.error().to_string());
    settings.first->flags = *std::move(effective);
  }
  program::ProgramDigest digest = program::digest_program(program);
  if (std::optional<KeyResult> early = bypass_by_calls(digest.custom_calls, false)) {
    return *std::move(early);
  }
  if (auto early = bypass_by_partitioning(digest.custom_calls, options)) return *std::move(early);
  Result<key::PluginIdentity> plugin = mapped_identity(client);
  if (!plugin) return bypass(Reason::plugin_bytes_unknown, plugin.error().to_string());
  PRECAST_ASSIGN(const DeviceAssignment assignment, placed_on(client, options));
  auto parts = parts_of(client, *settings.first, assignment);
  if (!parts) return bypass(Reason::libraries_unknown, parts.error().to_string());
  plugin->parts = *std::move(parts);
  Result<proto::CpuTarget> cpu = host_cpu(client);
  if (!cpu) return bypass(Reason::cpu_unknown, cpu.error().to_string());
  PRECAST_ASSIGN(topology::Placement placement,
                 topology::place(client.platform_name(), assignment, device_facts(client)));

  key::KeyInputs inputs{
      .program = std::move(digest),
      .options = std::move(settings.first->options),
      .flags = {std::move(settings.first->flags), client.flags().libtpu_init_args},
      .client_options = client.options(),
      .environment = environment(client.platform_name()),
      .plugin = std::move(plugin).value(),
      .placement = std::move(placement),
      .cpu = key::HostCpu{std::move(cpu).value(), client.cpu_count(), request.cpu_baseline},
      .salt = request.salt,
      .annotations = request.annotations,
      .extras = {request.extras.begin(), request.extras.end()},
  };
  return KeyResult{key::build_record(inputs), Reason::none, {}, warnings_of(in_force->flags)};
}

}  // namespace precast::cache
