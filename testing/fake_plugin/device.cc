// Devices, their descriptions and memories.

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

void hand_out_text(const std::string& text, const char** data, std::size_t* size) {
  *data = text.data();
  *size = text.size();
}

const Memory& as_memory(const PJRT_Memory* memory) { return *static_cast<const Memory*>(memory); }

}  // namespace

void description_id(PJRT_DeviceDescription_Id_Args& args) { args.id = args.device_description->id; }

void description_process_index(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = args.device_description->process_index;
}

void description_attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
}

void description_kind(PJRT_DeviceDescription_Kind_Args& args) {
  hand_out_text(args.device_description->kind, &args.device_kind, &args.device_kind_size);
}

void description_debug_string(PJRT_DeviceDescription_DebugString_Args& args) {
  hand_out_text(args.device_description->debug_string, &args.debug_string, &args.debug_string_size);
}

void description_to_string(PJRT_DeviceDescription_ToString_Args& args) {
  hand_out_text(args.device_description->to_string, &args.to_string, &args.to_string_size);
}

void device_description(PJRT_Device_GetDescription_Args& args) {
  args.device_description = args.device->description;
}

void device_is_addressable(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = args.device->addressable;
}

void device_local_hardware_id(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->local_hardware_id;
}

void device_memories(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memory_handles.data();
  args.num_memories = args.device->memory_handles.size();
}

void device_default_memory(PJRT_Device_DefaultMemory_Args& args) {
  if (args.device->memory_handles.empty()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "device {} is not addressable and has no memories",
         args.device->description->id);
  }
  args.memory = args.device->memory_handles.front();
}

void memory_id(PJRT_Memory_Id_Args& args) { args.id = as_memory(args.memory).id; }

void memory_kind(PJRT_Memory_Kind_Args& args) {
  hand_out_text(as_memory(args.memory).kind, &args.kind, &args.kind_size);
}

void memory_kind_id(PJRT_Memory_Kind_Id_Args& args) {
  args.kind_id = as_memory(args.memory).kind_id;
}

void memory_debug_string(PJRT_Memory_DebugString_Args& args) {
  hand_out_text(as_memory(args.memory).text, &args.debug_string, &args.debug_string_size);
}

void memory_to_string(PJRT_Memory_ToString_Args& args) {
  hand_out_text(as_memory(args.memory).text, &args.to_string, &args.to_string_size);
}

void memory_devices(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &as_memory(args.memory).device;
  args.num_devices = 1;
}

}  // namespace precast::fake
