#include "cache/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/prepare.h"
#include "key/build_record.h"
#include "pjrt/plugin_environment.h"
#include "precast/plugin.h"
#include "program/program_digest.h"
#include "proto/canonical_options.h"
#include "topology/placement.h"

namespace precast::cache {
namespace {

KeyResult bypass(Reason reason, std::string detail) {
  return {std::nullopt, reason, std::move(detail)};
}

// What the plugin will read when it compiles.
std::vector<std::pair<std::string, std::string>> environment(std::string_view platform) {
  std::vector<std::pair<std::string, std::string>> set;
  for (const std::string_view name : key::environment_names(platform)) {
    std::string variable(name);
    if (std::optional<std::string> value = pjrt::plugin_variable(variable.c_str())) {
      set.emplace_back(std::move(variable), *std::move(value));
    }
  }
  return set;
}

// Why a program on these devices must not be cached, before anything costly is read.
std::optional<KeyResult> bypass_by_client(const Client& client, const CompileOptions& options) {
  const std::string& platform = client.platform_name();
  if (platform != "cpu") {
    // The executables of other platforms depend on libraries beside the plugin (CUDA, cuDNN, the
    // PTX compiler).
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
  if (!assignment) {
    return bypass(Reason::cannot_load, "the options ask for a portable executable");
  }
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

std::optional<KeyResult> bypass_by_flags(const Client& client,
                                         const proto::CanonicalOptions& options) {
  const std::string& flags = client.flags().xla_flags;
  if (proto::names_flags_file(flags)) {
    return bypass(Reason::option_names_file, "XLA_FLAGS names a file of flags: '" + flags + "'");
  }
  std::vector<std::string> names = options.file_options;
  for (std::string& name : proto::file_options_in_flags(flags, client.platform_name())) {
    names.push_back(std::move(name));
  }
  if (names.empty()) return std::nullopt;
  return bypass(Reason::option_names_file,
                fmt::format("the key does not see the content of the file named by {}",
                            fmt::join(names, ", ")));
}

std::optional<KeyResult> bypass_by_calls(const program::CustomCallScan& calls) {
  if (!calls.process_bound.empty()) {
    return bypass(Reason::process_bound_call,
                  fmt::format("the program calls {}, whose configuration holds an address of the "
                              "process that made it",
                              fmt::join(calls.process_bound, ", ")));
  }
  if (!calls.index_bound.empty()) {
    return bypass(Reason::index_bound_call,
                  fmt::format("the program calls {}, whose function is not in the program; only a "
                              "front end that binds it again may cache it",
                              fmt::join(calls.index_bound, ", ")));
  }
  return std::nullopt;
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

Result<proto::CpuTarget> remembered_cpu(const Client& client) {
  static std::mutex mutex;
  // Plugins are never closed, so their addresses name them.
  static std::map<const Plugin::Impl*, proto::CpuTarget>& known =
      *new std::map<const Plugin::Impl*, proto::CpuTarget>;
  const std::lock_guard lock(mutex);
  const Plugin::Impl* plugin = client.plugin().impl().get();
  if (const auto found = known.find(plugin); found != known.end()) return found->second;
  PRECAST_ASSIGN(const proto::CpuTarget cpu, compiled_for(client).with("while asking for the CPU"));
  return known.emplace(plugin, cpu).first->second;
}

}  // namespace

Result<proto::CpuTarget> host_cpu(const Client& client) {
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

Result<key::PluginIdentity> plugin_identity(const Client& client) {
  const Plugin plugin = client.plugin();
  PRECAST_ASSIGN(const PluginFile file, plugin.mapped_file());
  return key::PluginIdentity{.platform = client.platform_name(),
                             .platform_version = client.platform_version(),
                             .sha256 = file.digest,
                             .api_version = plugin.api_version(),
                             .attributes = plugin.attributes()};
}

Result<KeyResult> identify(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request) {
  if (std::optional<KeyResult> early = bypass_by_client(client, options)) return *std::move(early);
  PRECAST_ASSIGN(proto::CanonicalOptions canonical,
                 proto::canonicalize(options, client.platform_name()));
  if (std::optional<KeyResult> early = bypass_by_flags(client, canonical)) return *std::move(early);
  program::ProgramDigest digest = program::digest_program(program);
  if (std::optional<KeyResult> early = bypass_by_calls(digest.custom_calls)) {
    return *std::move(early);
  }
  Result<key::PluginIdentity> plugin = plugin_identity(client);
  if (!plugin) return bypass(Reason::plugin_bytes_unknown, plugin.error().to_string());
  Result<proto::CpuTarget> cpu = host_cpu(client);
  if (!cpu) return bypass(Reason::cpu_unknown, cpu.error().to_string());
  PRECAST_ASSIGN(
      topology::Placement placement,
      topology::place(client.platform_name(), *options.assignment(), device_facts(client)));

  key::KeyInputs inputs{
      .program = std::move(digest),
      .options = std::move(canonical.items),
      .flags = {client.flags().xla_flags, client.flags().libtpu_init_args},
      .client_options = client.options(),
      .environment = environment(client.platform_name()),
      .plugin = std::move(plugin).value(),
      .placement = std::move(placement),
      .cpu = key::HostCpu{std::move(cpu).value(), client.cpu_count()},
      .salt = request.salt,
  };
  return KeyResult{key::build_record(inputs), Reason::none, {}};
}

}  // namespace precast::cache
