#include <algorithm>
#include <cstddef>
#include <utility>

#include "pjrt/client_impl.h"
#include "pjrt/functions.h"
#include "pjrt/named_values.h"

namespace precast::pjrt {
namespace {

std::string text_of(const char* text, std::size_t size) {
  return text == nullptr ? std::string() : std::string(text, size);
}

Result<void> read_description(const Api& api, PJRT_Device* handle, Device& device) {
  Block<PJRT_Device_GetDescription_Args> get;
  get->device = handle;
  PRECAST_TRY(api.call(kDeviceGetDescription, get));
  PJRT_DeviceDescription* const description = get->device_description;

  Block<PJRT_DeviceDescription_Id_Args> id;
  id->device_description = description;
  PRECAST_TRY(api.call(kDeviceDescriptionId, id));
  device.id = id->id;

  Block<PJRT_DeviceDescription_ProcessIndex_Args> process;
  process->device_description = description;
  PRECAST_TRY(api.call(kDeviceDescriptionProcessIndex, process));
  device.process_index = process->process_index;

  Block<PJRT_DeviceDescription_Kind_Args> kind;
  kind->device_description = description;
  PRECAST_TRY(api.call(kDeviceDescriptionKind, kind));
  device.kind = text_of(kind->device_kind, kind->device_kind_size);

  Block<PJRT_DeviceDescription_ToString_Args> text;
  text->device_description = description;
  if (const auto called = api.call(kDeviceDescriptionToString, text); called) {
    device.text = text_of(text->to_string, text->to_string_size);
  } else if (!is_lacking(called.error())) {
    return called.error();
  }

  Block<PJRT_DeviceDescription_Attributes_Args> attributes;
  attributes->device_description = description;
  if (const auto called = api.call(kDeviceDescriptionAttributes, attributes); called) {
    device.attributes = from_abi(attributes->attributes, attributes->num_attributes);
  } else if (!is_lacking(called.error())) {
    return called.error();
  }
  return {};
}

// What only addressable devices have.
Result<void> read_local_facts(const Api& api, DeviceHandle& handle, Device& device) {
  Block<PJRT_Device_LocalHardwareId_Args> local;
  local->device = handle.device;
  if (const auto called = api.call(kDeviceLocalHardwareId, local); called) {
    device.local_hardware_id = local->local_hardware_id;
  } else if (!is_lacking(called.error())) {
    return called.error();
  }

  Block<PJRT_Device_AddressableMemories_Args> memories;
  memories->device = handle.device;
  if (const auto called = api.call(kDeviceAddressableMemories, memories); !called) {
    if (is_lacking(called.error())) return {};
    return called.error();
  }
  for (std::size_t i = 0; i < memories->num_memories; ++i) {
    Block<PJRT_Memory_Kind_Args> kind;
    kind->memory = memories->memories[i];
    PRECAST_TRY(api.call(kMemoryKind, kind));
    std::string name = text_of(kind->kind, kind->kind_size);
    device.memory_kinds.push_back(name);
    handle.memories.emplace_back(std::move(name), memories->memories[i]);
  }
  return {};
}

}  // namespace

Result<void> read_devices(Client::Impl& client) {
  const Api& api = client.api();
  Block<PJRT_Client_Devices_Args> args;
  args->client = client.client.get();
  PRECAST_TRY(api.call(kClientDevices, args));

  std::vector<std::pair<Device, DeviceHandle>> read;
  for (std::size_t i = 0; i < args->num_devices; ++i) {
    Device device;
    DeviceHandle handle;
    handle.device = args->devices[i];
    PRECAST_TRY(read_description(api, handle.device, device));
    handle.id = device.id;
    Block<PJRT_Device_IsAddressable_Args> addressable;
    addressable->device = handle.device;
    PRECAST_TRY(api.call(kDeviceIsAddressable, addressable));
    device.addressable = addressable->is_addressable;
    if (device.addressable) PRECAST_TRY(read_local_facts(api, handle, device));
    read.emplace_back(std::move(device), std::move(handle));
  }
  std::sort(read.begin(), read.end(),
            [](const auto& a, const auto& b) { return a.first.id < b.first.id; });
  for (auto& [device, handle] : read) {
    topology::DeviceFacts facts;
    facts.id = device.id;
    facts.kind = device.kind;
    facts.process_index = device.process_index;
    facts.addressable = device.addressable;
    client.facts.push_back(std::move(facts));
    client.devices.push_back(std::move(device));
    client.handles.push_back(std::move(handle));
  }
  return {};
}

Result<const DeviceHandle*> addressable_device(const Client::Impl& client, std::int64_t id) {
  const auto found = std::lower_bound(
      client.devices.begin(), client.devices.end(), id,
      [](const Device& device, std::int64_t wanted) { return device.id < wanted; });
  if (found == client.devices.end() || found->id != id) {
    std::string ids;
    for (const Device& device : client.devices) {
      ids += (ids.empty() ? "" : ", ") + std::to_string(device.id);
    }
    return Error(ErrorCode::invalid_argument, "the client has no device " + std::to_string(id) +
                                                  "; its devices are " +
                                                  (ids.empty() ? "none" : ids));
  }
  if (!found->addressable) {
    return Error(ErrorCode::invalid_argument,
                 "device " + std::to_string(id) + " belongs to process " +
                     std::to_string(found->process_index) + " and cannot be addressed from here");
  }
  return &client.handles[static_cast<std::size_t>(found - client.devices.begin())];
}

}  // namespace precast::pjrt
