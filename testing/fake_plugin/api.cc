// The table of functions, and the one symbol that the plugin exports.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "testing/fake_plugin/call.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

struct Builder {
  PJRT_Api api{};
  std::map<std::string, std::size_t, std::less<>> offsets;  // of the members, by name

  template <typename Function>
  void set(std::string_view name, std::size_t offset, Function function) {
    static_assert(sizeof(function) == sizeof(void*));
    std::memcpy(reinterpret_cast<char*>(&api) + offset, &function, sizeof(function));
    offsets.emplace(name, offset);
  }
};

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the member's name is also a string.
#define PRECAST_FAKE_MEMBER(name, function)                                                   \
  static_assert(                                                                              \
      std::is_same_v<decltype(PJRT_Api::PJRT_##name), PJRT_Error* (*)(PJRT_##name##_Args*)>); \
  builder.set("PJRT_" #name, offsetof(PJRT_Api, PJRT_##name),                                 \
              &call<FunctionName("PJRT_" #name), PJRT_##name##_Args, &function>)

void add_plugin_and_client(Builder& builder) {
  builder.set("PJRT_Error_Destroy", offsetof(PJRT_Api, PJRT_Error_Destroy), &error_destroy);
  builder.set("PJRT_Error_Message", offsetof(PJRT_Api, PJRT_Error_Message), &error_message);
  PRECAST_FAKE_MEMBER(Error_GetCode, error_get_code);
  PRECAST_FAKE_MEMBER(Plugin_Initialize, plugin_initialize);
  PRECAST_FAKE_MEMBER(Plugin_Attributes, plugin_attributes);
  PRECAST_FAKE_MEMBER(Event_Destroy, event_destroy);
  PRECAST_FAKE_MEMBER(Event_IsReady, event_is_ready);
  PRECAST_FAKE_MEMBER(Event_Error, event_error);
  PRECAST_FAKE_MEMBER(Event_Await, event_await);
  PRECAST_FAKE_MEMBER(Event_OnReady, event_on_ready);
  PRECAST_FAKE_MEMBER(Client_Create, client_create);
  PRECAST_FAKE_MEMBER(Client_Destroy, client_destroy);
  PRECAST_FAKE_MEMBER(Client_PlatformName, client_platform_name);
  PRECAST_FAKE_MEMBER(Client_PlatformVersion, client_platform_version);
  PRECAST_FAKE_MEMBER(Client_ProcessIndex, client_process_index);
  PRECAST_FAKE_MEMBER(Client_TopologyDescription, client_topology);
  PRECAST_FAKE_MEMBER(Client_Devices, client_devices);
  PRECAST_FAKE_MEMBER(Client_AddressableDevices, client_addressable_devices);
  PRECAST_FAKE_MEMBER(Client_LookupDevice, client_lookup_device);
  PRECAST_FAKE_MEMBER(Client_LookupAddressableDevice, client_lookup_addressable);
  PRECAST_FAKE_MEMBER(Client_AddressableMemories, client_addressable_memories);
  PRECAST_FAKE_MEMBER(Client_DefaultDeviceAssignment, client_default_assignment);
  PRECAST_FAKE_MEMBER(Client_Compile, client_compile);
}

void add_devices_and_topology(Builder& builder) {
  PRECAST_FAKE_MEMBER(DeviceDescription_Id, description_id);
  PRECAST_FAKE_MEMBER(DeviceDescription_ProcessIndex, description_process_index);
  PRECAST_FAKE_MEMBER(DeviceDescription_Attributes, description_attributes);
  PRECAST_FAKE_MEMBER(DeviceDescription_Kind, description_kind);
  PRECAST_FAKE_MEMBER(DeviceDescription_DebugString, description_debug_string);
  PRECAST_FAKE_MEMBER(DeviceDescription_ToString, description_to_string);
  PRECAST_FAKE_MEMBER(Device_GetDescription, device_description);
  PRECAST_FAKE_MEMBER(Device_IsAddressable, device_is_addressable);
  PRECAST_FAKE_MEMBER(Device_LocalHardwareId, device_local_hardware_id);
  PRECAST_FAKE_MEMBER(Device_AddressableMemories, device_memories);
  PRECAST_FAKE_MEMBER(Device_DefaultMemory, device_default_memory);
  PRECAST_FAKE_MEMBER(Memory_Id, memory_id);
  PRECAST_FAKE_MEMBER(Memory_Kind, memory_kind);
  PRECAST_FAKE_MEMBER(Memory_Kind_Id, memory_kind_id);
  PRECAST_FAKE_MEMBER(Memory_DebugString, memory_debug_string);
  PRECAST_FAKE_MEMBER(Memory_ToString, memory_to_string);
  PRECAST_FAKE_MEMBER(Memory_AddressableByDevices, memory_devices);
  PRECAST_FAKE_MEMBER(TopologyDescription_PlatformName, topology_platform_name);
  PRECAST_FAKE_MEMBER(TopologyDescription_PlatformVersion, topology_platform_version);
  PRECAST_FAKE_MEMBER(TopologyDescription_GetDeviceDescriptions, topology_descriptions);
  PRECAST_FAKE_MEMBER(TopologyDescription_Serialize, topology_serialize);
  PRECAST_FAKE_MEMBER(TopologyDescription_Attributes, topology_attributes);
  PRECAST_FAKE_MEMBER(TopologyDescription_Fingerprint, topology_fingerprint);
}

void add_executables(Builder& builder) {
  PRECAST_FAKE_MEMBER(Executable_Destroy, executable_destroy);
  PRECAST_FAKE_MEMBER(Executable_Name, executable_name);
  PRECAST_FAKE_MEMBER(Executable_NumReplicas, executable_replicas);
  PRECAST_FAKE_MEMBER(Executable_NumPartitions, executable_partitions);
  PRECAST_FAKE_MEMBER(Executable_NumOutputs, executable_outputs);
  PRECAST_FAKE_MEMBER(Executable_SizeOfGeneratedCodeInBytes, executable_code_size);
  PRECAST_FAKE_MEMBER(Executable_GetCostAnalysis, executable_cost_analysis);
  PRECAST_FAKE_MEMBER(Executable_OutputElementTypes, executable_output_types);
  PRECAST_FAKE_MEMBER(Executable_OutputDimensions, executable_output_dimensions);
  PRECAST_FAKE_MEMBER(Executable_OutputMemoryKinds, executable_output_kinds);
  PRECAST_FAKE_MEMBER(Executable_ParameterMemoryKinds, executable_parameter_kinds);
  PRECAST_FAKE_MEMBER(Executable_Fingerprint, executable_fingerprint);
  PRECAST_FAKE_MEMBER(Executable_GetCompiledMemoryStats, executable_memory_stats);
  PRECAST_FAKE_MEMBER(Executable_OptimizedProgram, executable_optimized_program);
  PRECAST_FAKE_MEMBER(Executable_GetCompileOptions, executable_compile_options);
  PRECAST_FAKE_MEMBER(Executable_Serialize, executable_serialize);
  PRECAST_FAKE_MEMBER(Executable_DeserializeAndLoad, deserialize_and_load);
  PRECAST_FAKE_MEMBER(LoadedExecutable_Destroy, loaded_destroy);
  PRECAST_FAKE_MEMBER(LoadedExecutable_GetExecutable, loaded_executable);
  PRECAST_FAKE_MEMBER(LoadedExecutable_GetDeviceAssignment, loaded_assignment);
  PRECAST_FAKE_MEMBER(LoadedExecutable_AddressableDevices, loaded_devices);
  PRECAST_FAKE_MEMBER(LoadedExecutable_Delete, loaded_delete);
  PRECAST_FAKE_MEMBER(LoadedExecutable_IsDeleted, loaded_is_deleted);
  PRECAST_FAKE_MEMBER(LoadedExecutable_Execute, loaded_execute);
}

void add_buffers(Builder& builder) {
  PRECAST_FAKE_MEMBER(Client_BufferFromHostBuffer, buffer_from_host);
  PRECAST_FAKE_MEMBER(Buffer_Destroy, buffer_destroy);
  PRECAST_FAKE_MEMBER(Buffer_ElementType, buffer_element_type);
  PRECAST_FAKE_MEMBER(Buffer_Dimensions, buffer_dimensions);
  PRECAST_FAKE_MEMBER(Buffer_OnDeviceSizeInBytes, buffer_size);
  PRECAST_FAKE_MEMBER(Buffer_Device, buffer_device);
  PRECAST_FAKE_MEMBER(Buffer_Memory, buffer_memory);
  PRECAST_FAKE_MEMBER(Buffer_Delete, buffer_delete);
  PRECAST_FAKE_MEMBER(Buffer_IsDeleted, buffer_is_deleted);
  PRECAST_FAKE_MEMBER(Buffer_ToHostBuffer, buffer_to_host);
  PRECAST_FAKE_MEMBER(Buffer_ReadyEvent, buffer_ready_event);
}

PJRT_Api build(const Config& config) {
  Builder builder;
  add_plugin_and_client(builder);
  add_devices_and_topology(builder);
  add_executables(builder);
  add_buffers(builder);
  for (const std::string& name : config.null_members) {
    const auto found = builder.offsets.find(name);
    if (found == builder.offsets.end()) {
      fmt::print(stderr, "fake plugin: PRECAST_FAKE_NULL: there is no member {}\n", name);
      std::abort();
    }
    std::memset(reinterpret_cast<char*>(&builder.api) + found->second, 0, sizeof(void*));
  }
  builder.api.struct_size = config.struct_size;
  builder.api.pjrt_api_version.struct_size = pjrt::kStructSize<PJRT_Api_Version>;
  builder.api.pjrt_api_version.major_version = config.major;
  builder.api.pjrt_api_version.minor_version = config.minor;
  return builder.api;
}

// A table for every call of GetPjrtApi, exactly as long as it says, so that a sanitizer sees who
// reads beyond its end. Tables stay: callers keep them.
const PJRT_Api* new_table() {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<char[]>> tables;
  const auto config = reload_config();
  const PJRT_Api api = build(*config);
  auto bytes = std::make_unique<char[]>(config->struct_size);  // zeroed
  std::memcpy(bytes.get(), &api, std::min(config->struct_size, sizeof(api)));
  const std::lock_guard lock(mutex);
  tables.push_back(std::move(bytes));
  return reinterpret_cast<const PJRT_Api*>(tables.back().get());
}

}  // namespace

void plugin_initialize(PJRT_Plugin_Initialize_Args&) {}

void plugin_attributes(PJRT_Plugin_Attributes_Args& args) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<NamedValues>> handed_out;  // callers keep them
  const std::lock_guard lock(mutex);
  handed_out.push_back(std::make_unique<NamedValues>(active_config()->attributes));
  args.attributes = handed_out.back()->data();
  args.num_attributes = handed_out.back()->size();
}

}  // namespace precast::fake

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  return precast::fake::new_table();
}
