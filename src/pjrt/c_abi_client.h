// PJRT C ABI: creating a client, asking it, compiling with it. Fields marked "out" are written by
// the plugin.

#pragma once

#include "pjrt/c_abi_base.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

struct PJRT_KeyValueGetCallback_Args;
struct PJRT_KeyValueTryGetCallback_Args;
struct PJRT_KeyValuePutCallback_Args;

// The key-value store of a multi-process client, answered by the caller. PJRT uses it only when all
// three are given.
using PJRT_KeyValueGetCallback = PJRT_Error* (*)(PJRT_KeyValueGetCallback_Args* args);
using PJRT_KeyValueGetCallback_ValueDeleter = void (*)(char* value);
using PJRT_KeyValueTryGetCallback = PJRT_Error* (*)(PJRT_KeyValueTryGetCallback_Args* args);
using PJRT_KeyValueTryGetCallback_ValueDeleter = void (*)(char* value);
using PJRT_KeyValuePutCallback = PJRT_Error* (*)(PJRT_KeyValuePutCallback_Args* args);

struct PJRT_KeyValueGetCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  int timeout_in_ms;
  PJRT_CallbackError* callback_error;
  void* user_arg;
  char* value;                                                   // out
  size_t value_size;                                             // out
  PJRT_KeyValueGetCallback_ValueDeleter value_deleter_callback;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_KeyValueGetCallback_Args, value_deleter_callback);

struct PJRT_KeyValueTryGetCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  PJRT_CallbackError* callback_error;
  void* user_arg;
  char* value;                                                      // out
  size_t value_size;                                                // out
  PJRT_KeyValueTryGetCallback_ValueDeleter value_deleter_callback;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_KeyValueTryGetCallback_Args, value_deleter_callback);

struct PJRT_KeyValuePutCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  PJRT_CallbackError* callback_error;
  void* user_arg;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_KeyValuePutCallback_Args, user_arg);

struct PJRT_Client_Create_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_NamedValue* create_options;
  size_t num_options;
  PJRT_KeyValueGetCallback kv_get_callback;
  void* kv_get_user_arg;
  PJRT_KeyValuePutCallback kv_put_callback;
  void* kv_put_user_arg;
  PJRT_Client* client;  // out
  PJRT_KeyValueTryGetCallback kv_try_get_callback;
  void* kv_try_get_user_arg;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_Create_Args, kv_try_get_user_arg);

struct PJRT_Client_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_Destroy_Args, client);

struct PJRT_Client_PlatformName_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  const char* platform_name;  // out
  size_t platform_name_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_PlatformName_Args, platform_name_size);

struct PJRT_Client_ProcessIndex_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  int process_index;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_ProcessIndex_Args, process_index);

struct PJRT_Client_PlatformVersion_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  const char* platform_version;  // out
  size_t platform_version_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_PlatformVersion_Args, platform_version_size);

struct PJRT_Client_TopologyDescription_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_TopologyDescription* topology;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_TopologyDescription_Args, topology);

struct PJRT_Client_Devices_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_Device* const* devices;  // out
  size_t num_devices;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_Devices_Args, num_devices);

struct PJRT_Client_AddressableDevices_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_Device* const* addressable_devices;  // out
  size_t num_addressable_devices;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_AddressableDevices_Args, num_addressable_devices);

struct PJRT_Client_LookupDevice_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  int id;
  PJRT_Device* device;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_LookupDevice_Args, device);

struct PJRT_Client_LookupAddressableDevice_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  int local_hardware_id;
  PJRT_Device* addressable_device;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_LookupAddressableDevice_Args, addressable_device);

struct PJRT_ProcessInfo {
  size_t struct_size;
  int task_id;
  uint64_t incarnation_id;
  PJRT_ProcessState state;
  int error_code;
  const char* error_message;
  size_t error_message_size;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_ProcessInfo, error_message_size);

struct PJRT_Client_UpdateGlobalProcessInfo_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_ProcessInfo* process_infos;
  size_t num_process_infos;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_UpdateGlobalProcessInfo_Args, num_process_infos);

struct PJRT_Client_AddressableMemories_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_Memory* const* addressable_memories;  // out
  size_t num_addressable_memories;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_AddressableMemories_Args, num_addressable_memories);

struct PJRT_Program {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  char* code;  // out in OptimizedProgram: null there asks for the size
  size_t code_size;
  const char* format;
  size_t format_size;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Program, format_size);

struct PJRT_Client_Compile_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  const PJRT_Program* program;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_LoadedExecutable* executable;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_Compile_Args, executable);

struct PJRT_Client_Load_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_Executable* executable;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_LoadedExecutable* loaded_executable;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_Load_Args, loaded_executable);

struct PJRT_Client_DefaultDeviceAssignment_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  int num_replicas;
  int num_partitions;
  size_t default_assignment_size;
  int* default_assignment;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Client_DefaultDeviceAssignment_Args, default_assignment);

// NOLINTEND(readability-identifier-naming)
