#include "precast/client.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "pjrt/adopt.h"
#include "pjrt/client_impl.h"
#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"
#include "pjrt/internal.h"
#include "pjrt/named_values.h"
#include "pjrt/plugin_environment.h"

namespace precast {
namespace pjrt {
namespace {

Result<void> read_platform(Client::Impl& client) {
  const Api& api = client.api();
  Block<PJRT_Client_PlatformName_Args> name;
  name->client = client.client.get();
  PRECAST_TRY(api.call(kClientPlatformName, name));
  client.platform_name.assign(name->platform_name, name->platform_name_size);

  Block<PJRT_Client_PlatformVersion_Args> version;
  version->client = client.client.get();
  PRECAST_TRY(api.call(kClientPlatformVersion, version));
  client.platform_version.assign(version->platform_version, version->platform_version_size);

  Block<PJRT_Client_ProcessIndex_Args> process;
  process->client = client.client.get();
  PRECAST_TRY(api.call(kClientProcessIndex, process));
  client.process_index = process->process_index;
  return {};
}

Result<void> read_facts(Client::Impl& client) {
  PRECAST_TRY(read_platform(client));
  return read_devices(client);
}

}  // namespace

Result<Client> create_client(const Plugin& plugin, const std::vector<NamedValue>& options) {
  auto client = std::make_shared<Client::Impl>(plugin);
  client->options = options;
  // Both before the plugin looks, so that what is recorded is what it saw.
  client->flags = flags_before(*plugin.impl());
  client->cpu_count_at_creation = effective_cpu_count();

  const std::vector<PJRT_NamedValue> abi = to_abi(client->options);
  Block<PJRT_Client_Create_Args> args;
  args->create_options = abi.data();
  args->num_options = abi.size();
  PRECAST_TRY(client->api().call(kClientCreate, args).with("while creating a client"));
  keep_flags(*plugin.impl(), client->flags);
  client->client = own(client->api(), args->client);
  PRECAST_TRY(read_facts(*client));
  return Client(std::move(client));
}

BeforeClient before_client(const Plugin& plugin) {
  return {flags_before(*plugin.impl()), effective_cpu_count()};
}

void keep(const Plugin& plugin, const BeforeClient& before) {
  keep_flags(*plugin.impl(), before.flags);
}

Result<Client> adopt_client(const Plugin& plugin, PJRT_Client* client,
                            std::vector<NamedValue> options, BeforeClient before) {
  Plugin::Impl& owner = *plugin.impl();
  PRECAST_TRY(read_attributes(owner));
  auto adopted = std::make_shared<Client::Impl>(plugin);
  adopted->options = std::move(options);
  adopted->flags = std::move(before.flags);
  adopted->cpu_count_at_creation = before.cpu_count;
  adopted->client = borrow(client);
  PRECAST_TRY(read_facts(*adopted));
  return Client(std::move(adopted));
}

Result<void> check_options(const Client::Impl& client, const CompileOptions& options) {
  if (options.serialized().empty()) {
    return Error(ErrorCode::invalid_argument,
                 "there are no compile options; at least the counts of replicas and partitions "
                 "must be there, or XLA ends the process");
  }
  if (const std::optional<DeviceAssignment> assignment = options.assignment()) {
    return topology::validate(*assignment, client.facts);
  }
  return {};
}

Result<CompiledExecutable> describe_compiled(const Client& client,
                                             Handle<PJRT_LoadedExecutable> loaded,
                                             const Program& program,
                                             const CompileOptions& options) {
  PRECAST_ASSIGN(std::shared_ptr<LoadedExecutable::Impl> executable,
                 describe(client.impl(), std::move(loaded)));
  CompiledExecutable compiled(std::move(executable));
  // Here and not in the cache: without it, run() would send inputs in the wrong layout.
  set_signature(compiled, read_signature(compiled));
  note_layout_wishes(compiled, &program, options);
  return compiled;
}

Result<Bytes> serialized_topology(const Plugin& plugin, const PJRT_TopologyDescription* topology) {
  Block<PJRT_TopologyDescription_Serialize_Args> args;
  args->topology = const_cast<PJRT_TopologyDescription*>(topology);  // NOLINT: it is only read
  PRECAST_TRY(plugin.impl()->api.call(kTopologyDescriptionSerialize, args));
  return take_bytes(args->serialized_bytes, args->serialized_bytes_size, args->serialized_topology,
                    args->serialized_topology_deleter);
}

Result<Bytes> serialized_executable(const Client& client, const PJRT_Executable* executable) {
  Block<PJRT_Executable_Serialize_Args> args;
  args->executable = executable;
  PRECAST_TRY(client.impl()->api().call(kExecutableSerialize, args));
  Bytes bytes = take_bytes(args->serialized_bytes, args->serialized_bytes_size,
                           args->serialized_executable, args->serialized_executable_deleter);
  if (bytes.empty()) {
    return Error(ErrorCode::unsupported, "the plugin serialized the executable to no bytes");
  }
  return bytes;
}

PJRT_LoadedExecutable* release(const LoadedExecutable& executable) {
  return executable.impl()->loaded.release();
}

Result<LoadedExecutable> deserialize_and_load(const Client& client, BytesView executable,
                                              BytesView options) {
  const Client::Impl& impl = *client.impl();
  const PluginCapabilities& can = impl.plugin.capabilities();
  if (can.deserialize_and_load && !can.override_compile_options) {
    return Error(ErrorCode::unsupported,
                 "the plugin speaks version " + impl.plugin.api_version().to_string() +
                     " of the PJRT C API and loads executables only with the options and devices "
                     "they were compiled with");
  }
  PRECAST_ASSIGN(const CompileOptions checked, CompileOptions::from_serialized(Bytes(options)));
  PRECAST_TRY(check_options(impl, checked));
  Block<PJRT_Executable_DeserializeAndLoad_Args> args;
  args->client = impl.client.get();
  args->serialized_executable = executable.data();
  args->serialized_executable_size = executable.size();
  args->overridden_serialized_compile_options = checked.serialized().data();
  args->overridden_serialized_compile_options_size = checked.serialized().size();
  PRECAST_TRY(impl.api().call(kExecutableDeserializeAndLoad, args));
  PRECAST_ASSIGN(std::shared_ptr<LoadedExecutable::Impl> loaded,
                 describe(client.impl(), own(impl.api(), args->loaded_executable)));
  return LoadedExecutable(std::move(loaded));
}

}  // namespace pjrt

const std::string& Client::platform_name() const { return impl_->platform_name; }
const std::string& Client::platform_version() const { return impl_->platform_version; }
int Client::process_index() const { return impl_->process_index; }
const std::vector<Device>& Client::devices() const { return impl_->devices; }
const std::vector<NamedValue>& Client::options() const { return impl_->options; }
Plugin Client::plugin() const { return impl_->plugin; }
const Client::FlagSnapshot& Client::flags() const { return impl_->flags; }

int Client::cpu_count() const {
  return std::min(impl_->cpu_count_at_creation, pjrt::effective_cpu_count());
}

Result<TopologyFacts> Client::topology() const {
  const pjrt::Api& api = impl_->api();
  TopologyFacts facts;
  pjrt::Block<PJRT_Client_TopologyDescription_Args> get;
  get->client = impl_->client.get();
  if (const auto called = api.call(pjrt::kClientTopologyDescription, get); !called) {
    if (pjrt::is_lacking(called.error())) return facts;
    return called.error();
  }

  if (auto serialized = pjrt::serialized_topology(impl_->plugin, get->topology); serialized) {
    facts.serialized = *std::move(serialized);
  } else if (!pjrt::is_lacking(serialized.error())) {
    return serialized.error();
  }

  pjrt::Block<PJRT_TopologyDescription_Fingerprint_Args> fingerprint;
  fingerprint->topology = get->topology;
  if (const auto called = api.call(pjrt::kTopologyDescriptionFingerprint, fingerprint); called) {
    facts.fingerprint = fingerprint->fingerprint;
  } else if (!pjrt::is_lacking(called.error())) {
    return called.error();
  }

  pjrt::Block<PJRT_TopologyDescription_Attributes_Args> attributes;
  attributes->topology = get->topology;
  if (const auto called = api.call(pjrt::kTopologyDescriptionAttributes, attributes); called) {
    facts.attributes = pjrt::from_abi(attributes->attributes, attributes->num_attributes);
  } else if (!pjrt::is_lacking(called.error())) {
    return called.error();
  }
  return facts;
}

Result<DeviceAssignment> Client::default_assignment(int replicas, int partitions) const {
  // Plugins do not check: counts below one end the process, and more positions than devices get ids
  // that no device has.
  PRECAST_TRY(topology::validate_counts(replicas, partitions, impl_->devices.size()));
  const std::size_t count =
      static_cast<std::size_t>(replicas) * static_cast<std::size_t>(partitions);
  std::vector<int> ids(count);
  pjrt::Block<PJRT_Client_DefaultDeviceAssignment_Args> args;
  args->client = impl_->client.get();
  args->num_replicas = replicas;
  args->num_partitions = partitions;
  args->default_assignment_size = ids.size();
  args->default_assignment = ids.data();
  PRECAST_TRY(impl_->api().call(pjrt::kClientDefaultDeviceAssignment, args));
  return DeviceAssignment{replicas, partitions, {ids.begin(), ids.end()}};
}

Result<CompiledExecutable> Client::compile(const Program& program,
                                           const CompileOptions& options) const {
  PRECAST_TRY(pjrt::check_options(*impl_, options));
  // What the plugin calls "mlir" is text as well as bytecode.
  const std::string_view format = program.format() == ProgramFormat::hlo_proto ? "hlo" : "mlir";
  pjrt::Block<PJRT_Program> abi;
  abi->code =
      const_cast<char*>(program.bytes().data());  // NOLINT: written only by OptimizedProgram
  abi->code_size = program.bytes().size();
  abi->format = format.data();
  abi->format_size = format.size();
  pjrt::Block<PJRT_Client_Compile_Args> args;
  args->client = impl_->client.get();
  args->program = abi.get();
  args->compile_options = options.serialized().data();
  args->compile_options_size = options.serialized().size();
  PRECAST_TRY(impl_->api().call(pjrt::kClientCompile, args));
  return pjrt::describe_compiled(*this, pjrt::own(impl_->api(), args->executable), program,
                                 options);
}

}  // namespace precast
