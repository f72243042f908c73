// Clients: created from the environment's topology and the options that the CPU plugin takes.

#include "testing/fake_plugin/call.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"
#include "testing/fake_plugin/topology.h"

namespace precast::fake {
namespace {

template <typename T>
T expect(const PJRT_NamedValue& option, PJRT_NamedValue_Type type, T value) {
  if (option.type != type) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "Option passed to PJRT_Client_Create with name {} has type {} but should be {}.",
         std::string_view(option.name, option.name_size), static_cast<int>(option.type),
         static_cast<int>(type));
  }
  return value;
}

void apply_option(const PJRT_NamedValue& option, Config& config) {
  // Options stand in an array: only the size that both sides know gives the right stride.
  if (option.struct_size != pjrt::kStructSize<PJRT_NamedValue>) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "Unexpected PJRT_NamedValue size: expected {}, got {}.",
         pjrt::kStructSize<PJRT_NamedValue>, option.struct_size);
  }
  const std::string_view name(option.name, option.name_size);
  if (name == "cpu_device_count") {
    config.device_count =
        static_cast<int>(expect(option, PJRT_NamedValue_kInt64, option.int64_value));
  } else if (name == "process_id") {
    config.process_index =
        static_cast<int>(expect(option, PJRT_NamedValue_kInt64, option.int64_value));
  } else if (name == "asynchronous") {
    expect(option, PJRT_NamedValue_kBool, option.bool_value);
  } else {
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "Unexpected option name passed to PJRT_Client_Create: {}", name);
  }
}

void* memory_get_user_data(PJRT_Memory* memory, const void* key) {
  auto& fake = *static_cast<Memory*>(memory);
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.user_data.find(key);
  return found == fake.user_data.end() ? nullptr : found->second.get();
}

void memory_set_user_data(PJRT_Memory* memory, const void* key, void* data,
                          void (*deleter)(void*)) {
  auto& fake = *static_cast<Memory*>(memory);
  const std::lock_guard lock(fake.mutex);
  fake.user_data[key] = std::shared_ptr<void>(data, [deleter](void* done) {
    if (deleter != nullptr) deleter(done);
  });
}

constexpr PJRT_Memory_FunctionTable kMemoryTable = {
    pjrt::kStructSize<PJRT_Memory_FunctionTable>,
    nullptr,
    sizeof(Memory),
    &memory_get_user_data,
    &memory_set_user_data,
};

void add_memories(PJRT_Device& device) {
  for (const char* kind : {"device", "pinned_host"}) {
    auto memory = std::make_unique<Memory>();
    memory->vtable = &kMemoryTable;
    memory->kind = kind;
    memory->kind_id = static_cast<int>(checksum(kind) & 0x7fffffff);
    memory->id = device.description->id * 2 + static_cast<int>(device.memories.size());
    memory->text = fmt::format("FakeMemory(id={}, kind={})", memory->id, kind);
    memory->device = &device;
    device.memory_handles.push_back(memory.get());
    device.memories.push_back(std::move(memory));
  }
}

}  // namespace

void client_create(PJRT_Client_Create_Args& args) {
  Config config = *active_config();
  for (std::size_t i = 0; i < args.num_options; ++i) apply_option(args.create_options[i], config);
  if (config.device_count < 1) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "a client of {} devices is not possible",
         config.device_count);
  }
  auto client = std::make_unique<PJRT_Client>();
  client->process_index = config.process_index;
  fill_topology(config, client->topology);
  for (std::size_t i = 0; i < client->topology.handles.size(); ++i) {
    PJRT_DeviceDescription* description = client->topology.handles[i];
    auto& device = *client->devices.emplace_back(std::make_unique<PJRT_Device>());
    device.client = client.get();
    device.description = description;
    client->handles.push_back(&device);
    if (description->process_index != config.process_index) continue;
    device.addressable = true;
    device.local_hardware_id = client->topology.local_ids[i];
    add_memories(device);
    client->addressable.push_back(&device);
    client->memories.insert(client->memories.end(), device.memory_handles.begin(),
                            device.memory_handles.end());
  }
  client->config = std::make_shared<const Config>(std::move(config));
  args.client = client.release();
}

void client_destroy(PJRT_Client_Destroy_Args& args) { delete args.client; }

void client_platform_name(PJRT_Client_PlatformName_Args& args) {
  args.platform_name = args.client->config->platform_name.data();
  args.platform_name_size = args.client->config->platform_name.size();
}

void client_platform_version(PJRT_Client_PlatformVersion_Args& args) {
  args.platform_version = args.client->config->platform_version.data();
  args.platform_version_size = args.client->config->platform_version.size();
}

void client_process_index(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = args.client->process_index;
}

void client_topology(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
}

void client_devices(PJRT_Client_Devices_Args& args) {
  args.devices = args.client->handles.data();
  args.num_devices = args.client->handles.size();
}

void client_addressable_devices(PJRT_Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->addressable.data();
  args.num_addressable_devices = args.client->addressable.size();
}

void client_lookup_device(PJRT_Client_LookupDevice_Args& args) {
  args.device = find_device(*args.client, args.id);
}

void client_lookup_addressable(PJRT_Client_LookupAddressableDevice_Args& args) {
  for (PJRT_Device* device : args.client->addressable) {
    if (device->local_hardware_id == args.local_hardware_id) {
      args.addressable_device = device;
      return;
    }
  }
  fail(PJRT_Error_Code_INVALID_ARGUMENT, "No matching device found for local_hardware_id {}",
       args.local_hardware_id);
}

void client_addressable_memories(PJRT_Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memories.data();
  args.num_addressable_memories = args.client->memories.size();
}

void client_default_assignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const std::vector<std::int64_t> ids =
      default_assignment(*args.client, args.num_replicas, args.num_partitions);
  if (args.default_assignment_size < ids.size()) {
    fail(PJRT_Error_Code_FAILED_PRECONDITION,
         "the default assignment has {} ids, the array has room for {}", ids.size(),
         args.default_assignment_size);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    args.default_assignment[i] = static_cast<int>(ids[i]);
  }
}

PJRT_Device* find_device(const PJRT_Client& client, std::int64_t id) {
  for (PJRT_Device* device : client.handles) {
    if (device->description->id == id) return device;
  }
  fail(PJRT_Error_Code_INVALID_ARGUMENT, "No matching device found for device_id {}", id);
}

std::vector<std::int64_t> default_assignment(const PJRT_Client& client, std::int64_t replicas,
                                             std::int64_t partitions) {
  const auto devices = static_cast<std::int64_t>(client.handles.size());
  if (replicas < 1 || partitions < 1 || replicas > devices || partitions > devices / replicas) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} replicas x {} partitions do not fit {} devices",
         replicas, partitions, devices);
  }
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < replicas * partitions; ++i) {
    ids.push_back(client.handles[static_cast<std::size_t>(i)]->description->id);
  }
  return ids;
}

}  // namespace precast::fake
