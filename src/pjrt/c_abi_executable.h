// PJRT C ABI: executables, loaded executables and running them. Fields marked "out" are written by
// the plugin.

#pragma once

#include "pjrt/c_abi_base.h"
#include "pjrt/c_abi_client.h"
#include "pjrt/c_abi_transfer.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

struct PJRT_ExecuteContext_Create_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_ExecuteContext* context;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_ExecuteContext_Create_Args, context);

struct PJRT_ExecuteContext_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_ExecuteContext* context;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_ExecuteContext_Destroy_Args, context);

struct PJRT_Executable_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_Destroy_Args, executable);

struct PJRT_LoadedExecutable_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_Destroy_Args, executable);

struct PJRT_LoadedExecutable_GetExecutable_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* loaded_executable;
  PJRT_Executable* executable;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_GetExecutable_Args, executable);

struct PJRT_LoadedExecutable_GetDeviceAssignment_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  PJRT_DeviceAssignmentSerialized* serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(PJRT_DeviceAssignmentSerialized* assignment);  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_GetDeviceAssignment_Args,
                         serialized_device_assignment_deleter);

struct PJRT_Executable_Name_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  const char* executable_name;  // out
  size_t executable_name_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_Name_Args, executable_name_size);

struct PJRT_Executable_NumReplicas_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_replicas;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_NumReplicas_Args, num_replicas);

struct PJRT_Executable_NumPartitions_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_partitions;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_NumPartitions_Args, num_partitions);

struct PJRT_LogicalDeviceIds {
  int replica;
  int partition;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LogicalDeviceIds, partition);

struct PJRT_LoadedExecutable_AddressableDevices_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  PJRT_Device* const* addressable_devices;  // out
  size_t num_addressable_devices;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_AddressableDevices_Args, num_addressable_devices);

struct PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  PJRT_LogicalDeviceIds* addressable_device_logical_ids;  // out
  size_t num_addressable_device_logical_ids;              // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args,
                         num_addressable_device_logical_ids);

struct PJRT_Executable_OptimizedProgram_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  PJRT_Program* program;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_OptimizedProgram_Args, program);

struct PJRT_LoadedExecutable_Delete_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_Delete_Args, executable);

struct PJRT_LoadedExecutable_IsDeleted_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  bool is_deleted;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_IsDeleted_Args, is_deleted);

// Returns an error made with `callback_error`, or null. The callback frees `chunk` with its own
// deleter.
using PJRT_SendCallback = PJRT_Error* (*)(PJRT_Chunk* chunk, PJRT_CallbackError* callback_error,
                                          size_t total_size_in_bytes, bool done, void* user_arg);
using PJRT_RecvCallback = void (*)(PJRT_CopyToDeviceStream* stream, void* user_arg);
using PJRT_HloOutputCallback = PJRT_UntypedFunction;

struct PJRT_SendCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  PJRT_SendCallback send_callback;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_SendCallbackInfo, send_callback);

struct PJRT_RecvCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  PJRT_RecvCallback recv_callback;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_RecvCallbackInfo, recv_callback);

struct PJRT_HloOutputCallbackInfo {
  void* user_arg;
  PJRT_HloOutputCallback callback;
  int64_t callback_id;
  size_t num_operands;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_HloOutputCallbackInfo, num_operands);

struct PJRT_ExecuteOptions {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_SendCallbackInfo** send_callbacks;
  PJRT_RecvCallbackInfo** recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  PJRT_MultiSlice_Config* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  PJRT_HloOutputCallbackInfo* hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_ExecuteOptions, num_hlo_output_callbacks);

struct PJRT_LoadedExecutable_Execute_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  PJRT_ExecuteOptions* options;
  PJRT_Buffer* const* const* argument_lists;
  size_t num_devices;
  size_t num_args;
  PJRT_Buffer** const* output_lists;    // out
  PJRT_Event** device_complete_events;  // out
  PJRT_Device* execute_device;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_Execute_Args, execute_device);

struct PJRT_Executable_NumOutputs_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_outputs;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_NumOutputs_Args, num_outputs);

struct PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  int64_t size_in_bytes;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, size_in_bytes);

struct PJRT_Executable_Fingerprint_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  const char* executable_fingerprint;  // out
  size_t executable_fingerprint_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_Fingerprint_Args, executable_fingerprint_size);

struct PJRT_Executable_GetCostAnalysis_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_properties;              // out
  const PJRT_NamedValue* properties;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_GetCostAnalysis_Args, properties);

struct PJRT_Executable_GetCompiledMemoryStats_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  int64_t generated_code_size_in_bytes;       // out
  int64_t argument_size_in_bytes;             // out
  int64_t output_size_in_bytes;               // out
  int64_t alias_size_in_bytes;                // out
  int64_t temp_size_in_bytes;                 // out
  int64_t host_generated_code_size_in_bytes;  // out
  int64_t host_argument_size_in_bytes;        // out
  int64_t host_output_size_in_bytes;          // out
  int64_t host_alias_size_in_bytes;           // out
  int64_t host_temp_size_in_bytes;            // out
  int64_t peak_memory_in_bytes;               // out
  int64_t total_size_in_bytes;                // out
  int64_t total_allocation_bytes;             // out
  int64_t indefinite_allocations;             // out
  int64_t peak_unpadded_heap_bytes;           // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_GetCompiledMemoryStats_Args, peak_unpadded_heap_bytes);

struct PJRT_Executable_OutputElementTypes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  PJRT_Buffer_Type* output_types;  // out
  size_t num_output_types;         // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_OutputElementTypes_Args, num_output_types);

struct PJRT_Executable_OutputDimensions_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_outputs;
  const int64_t* dims;      // out
  const size_t* dim_sizes;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_OutputDimensions_Args, dim_sizes);

struct PJRT_Executable_ParameterMemoryKinds_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_parameters;
  const char* const* memory_kinds;  // out
  const size_t* memory_kind_sizes;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_ParameterMemoryKinds_Args, memory_kind_sizes);

struct PJRT_Executable_OutputMemoryKinds_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t num_outputs;
  const char* const* memory_kinds;  // out
  const size_t* memory_kind_sizes;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_OutputMemoryKinds_Args, memory_kind_sizes);

struct PJRT_Executable_Serialize_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_Executable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  PJRT_SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)(PJRT_SerializedExecutable* executable);  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_Serialize_Args, serialized_executable_deleter);

struct PJRT_Executable_GetCompileOptions_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  PJRT_SerializedCompileOptions* serialized_compile_options;
  void (*serialized_compile_options_deleter)(PJRT_SerializedCompileOptions* options);  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_GetCompileOptions_Args,
                         serialized_compile_options_deleter);

struct PJRT_LoadOptions {
  size_t struct_size;
  const int32_t* computation_origin;
  size_t computation_origin_size;
  PJRT_MultiSlice_Config* multi_slice_config;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadOptions, multi_slice_config);

struct PJRT_Executable_DeserializeAndLoad_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  PJRT_LoadedExecutable* loaded_executable;  // out
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
  PJRT_LoadOptions* load_options;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Executable_DeserializeAndLoad_Args, load_options);

struct PJRT_LoadedExecutable_Fingerprint_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_LoadedExecutable* executable;
  const char* executable_fingerprint;  // out
  size_t executable_fingerprint_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_Fingerprint_Args, executable_fingerprint_size);

// NOLINTEND(readability-identifier-naming)
