// PJRT C ABI: devices, their descriptions and memories. Fields marked "out" are written by the
// plugin.

#pragma once

#include "pjrt/c_abi_base.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

struct PJRT_Memory_FunctionTable {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  size_t instance_struct_size;
  void* (*get_user_data)(PJRT_Memory* memory, const void* key);
  void (*set_user_data)(PJRT_Memory* memory, const void* key, void* data,
                        void (*deleter)(void* data));
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_FunctionTable, set_user_data);

struct PJRT_Memory {
  const PJRT_Memory_FunctionTable* vtable;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory, vtable);

struct PJRT_DeviceDescription_Id_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  int id;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_Id_Args, id);

struct PJRT_DeviceDescription_ProcessIndex_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  int process_index;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_ProcessIndex_Args, process_index);

struct PJRT_DeviceDescription_Attributes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  size_t num_attributes;              // out
  const PJRT_NamedValue* attributes;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_Attributes_Args, attributes);

struct PJRT_DeviceDescription_Kind_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  const char* device_kind;  // out
  size_t device_kind_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_Kind_Args, device_kind_size);

struct PJRT_DeviceDescription_DebugString_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  const char* debug_string;  // out
  size_t debug_string_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_DebugString_Args, debug_string_size);

struct PJRT_DeviceDescription_ToString_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_DeviceDescription* device_description;
  const char* to_string;  // out
  size_t to_string_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_DeviceDescription_ToString_Args, to_string_size);

struct PJRT_Device_GetDescription_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  PJRT_DeviceDescription* device_description;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_GetDescription_Args, device_description);

struct PJRT_Device_IsAddressable_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  bool is_addressable;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_IsAddressable_Args, is_addressable);

struct PJRT_Device_LocalHardwareId_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  int local_hardware_id;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_LocalHardwareId_Args, local_hardware_id);

struct PJRT_Device_AddressableMemories_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  PJRT_Memory* const* memories;  // out
  size_t num_memories;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_AddressableMemories_Args, num_memories);

struct PJRT_Device_DefaultMemory_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  PJRT_Memory* memory;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_DefaultMemory_Args, memory);

struct PJRT_Device_MemoryStats_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  int64_t bytes_in_use;                  // out
  int64_t peak_bytes_in_use;             // out
  bool peak_bytes_in_use_is_set;         // out
  int64_t num_allocs;                    // out
  bool num_allocs_is_set;                // out
  int64_t largest_alloc_size;            // out
  bool largest_alloc_size_is_set;        // out
  int64_t bytes_limit;                   // out
  bool bytes_limit_is_set;               // out
  int64_t bytes_reserved;                // out
  bool bytes_reserved_is_set;            // out
  int64_t peak_bytes_reserved;           // out
  bool peak_bytes_reserved_is_set;       // out
  int64_t bytes_reservable_limit;        // out
  bool bytes_reservable_limit_is_set;    // out
  int64_t largest_free_block_bytes;      // out
  bool largest_free_block_bytes_is_set;  // out
  int64_t pool_bytes;                    // out
  bool pool_bytes_is_set;                // out
  int64_t peak_pool_bytes;               // out
  bool peak_pool_bytes_is_set;           // out
  int64_t peak_allocated_bytes;          // out
  bool peak_allocated_bytes_is_set;      // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_MemoryStats_Args, peak_allocated_bytes_is_set);

struct PJRT_Device_ClearMemoryStats_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_ClearMemoryStats_Args, device);

struct PJRT_Device_PoisonExecution_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  int32_t launch_id;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
  bool poisoned;  // out
  const PJRT_NamedValue* payload;
  size_t num_payload;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_PoisonExecution_Args, num_payload);

struct PJRT_Device_GetAttributes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  const PJRT_NamedValue* attributes;                               // out
  size_t num_attributes;                                           // out
  PJRT_Device_Attributes* device_attributes;                       // out
  void (*attributes_deleter)(PJRT_Device_Attributes* attributes);  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_GetAttributes_Args, attributes_deleter);

struct PJRT_Device_CreateAsyncTrackingEvent_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Device* device;
  const char* description;
  size_t description_size;
  PJRT_AsyncTrackingEvent* event;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Device_CreateAsyncTrackingEvent_Args, event);

struct PJRT_AsyncTrackingEvent_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_AsyncTrackingEvent* event;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_AsyncTrackingEvent_Destroy_Args, event);

struct PJRT_Memory_Id_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  int id;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_Id_Args, id);

struct PJRT_Memory_Kind_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  const char* kind;  // out
  size_t kind_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_Kind_Args, kind_size);

struct PJRT_Memory_Kind_Id_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  int kind_id;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_Kind_Id_Args, kind_id);

struct PJRT_Memory_DebugString_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  const char* debug_string;  // out
  size_t debug_string_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_DebugString_Args, debug_string_size);

struct PJRT_Memory_ToString_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  const char* to_string;  // out
  size_t to_string_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_ToString_Args, to_string_size);

struct PJRT_Memory_AddressableByDevices_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Memory* memory;
  PJRT_Device* const* devices;  // out
  size_t num_devices;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Memory_AddressableByDevices_Args, num_devices);

// NOLINTEND(readability-identifier-naming)
