// The functions of PJRT_Api that the fake plugin implements. Each throws a Failure where PJRT's
// function returns an error (call.h).
#pragma once

#include "pjrt/c_abi.h"

namespace precast::fake {

// errors.cc
void error_destroy(PJRT_Error_Destroy_Args* args);
void error_message(PJRT_Error_Message_Args* args);
void error_get_code(PJRT_Error_GetCode_Args& args);
void event_destroy(PJRT_Event_Destroy_Args& args);
void event_is_ready(PJRT_Event_IsReady_Args& args);
void event_error(PJRT_Event_Error_Args& args);
void event_await(PJRT_Event_Await_Args& args);
void event_on_ready(PJRT_Event_OnReady_Args& args);

// api.cc
void plugin_initialize(PJRT_Plugin_Initialize_Args& args);
void plugin_attributes(PJRT_Plugin_Attributes_Args& args);

// client.cc
void client_create(PJRT_Client_Create_Args& args);
void client_destroy(PJRT_Client_Destroy_Args& args);
void client_platform_name(PJRT_Client_PlatformName_Args& args);
void client_platform_version(PJRT_Client_PlatformVersion_Args& args);
void client_process_index(PJRT_Client_ProcessIndex_Args& args);
void client_topology(PJRT_Client_TopologyDescription_Args& args);
void client_devices(PJRT_Client_Devices_Args& args);
void client_addressable_devices(PJRT_Client_AddressableDevices_Args& args);
void client_lookup_device(PJRT_Client_LookupDevice_Args& args);
void client_lookup_addressable(PJRT_Client_LookupAddressableDevice_Args& args);
void client_addressable_memories(PJRT_Client_AddressableMemories_Args& args);
void client_default_assignment(PJRT_Client_DefaultDeviceAssignment_Args& args);

// device.cc
void description_id(PJRT_DeviceDescription_Id_Args& args);
void description_process_index(PJRT_DeviceDescription_ProcessIndex_Args& args);
void description_attributes(PJRT_DeviceDescription_Attributes_Args& args);
void description_kind(PJRT_DeviceDescription_Kind_Args& args);
void description_debug_string(PJRT_DeviceDescription_DebugString_Args& args);
void description_to_string(PJRT_DeviceDescription_ToString_Args& args);
void device_description(PJRT_Device_GetDescription_Args& args);
void device_is_addressable(PJRT_Device_IsAddressable_Args& args);
void device_local_hardware_id(PJRT_Device_LocalHardwareId_Args& args);
void device_memories(PJRT_Device_AddressableMemories_Args& args);
void device_default_memory(PJRT_Device_DefaultMemory_Args& args);
void memory_id(PJRT_Memory_Id_Args& args);
void memory_kind(PJRT_Memory_Kind_Args& args);
void memory_kind_id(PJRT_Memory_Kind_Id_Args& args);
void memory_debug_string(PJRT_Memory_DebugString_Args& args);
void memory_to_string(PJRT_Memory_ToString_Args& args);
void memory_devices(PJRT_Memory_AddressableByDevices_Args& args);

// topology.cc
void topology_platform_name(PJRT_TopologyDescription_PlatformName_Args& args);
void topology_platform_version(PJRT_TopologyDescription_PlatformVersion_Args& args);
void topology_descriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args);
void topology_serialize(PJRT_TopologyDescription_Serialize_Args& args);
void topology_attributes(PJRT_TopologyDescription_Attributes_Args& args);
void topology_fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args);

// compile.cc
void client_compile(PJRT_Client_Compile_Args& args);
void deserialize_and_load(PJRT_Executable_DeserializeAndLoad_Args& args);
void executable_serialize(PJRT_Executable_Serialize_Args& args);
void executable_compile_options(PJRT_Executable_GetCompileOptions_Args& args);
void executable_optimized_program(PJRT_Executable_OptimizedProgram_Args& args);

// executable.cc
void executable_destroy(PJRT_Executable_Destroy_Args& args);
void executable_name(PJRT_Executable_Name_Args& args);
void executable_replicas(PJRT_Executable_NumReplicas_Args& args);
void executable_partitions(PJRT_Executable_NumPartitions_Args& args);
void executable_outputs(PJRT_Executable_NumOutputs_Args& args);
void executable_code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args);
void executable_cost_analysis(PJRT_Executable_GetCostAnalysis_Args& args);
void executable_output_types(PJRT_Executable_OutputElementTypes_Args& args);
void executable_output_dimensions(PJRT_Executable_OutputDimensions_Args& args);
void executable_output_kinds(PJRT_Executable_OutputMemoryKinds_Args& args);
void executable_parameter_kinds(PJRT_Executable_ParameterMemoryKinds_Args& args);
void executable_fingerprint(PJRT_Executable_Fingerprint_Args& args);
void executable_memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args& args);

// loaded.cc
void loaded_destroy(PJRT_LoadedExecutable_Destroy_Args& args);
void loaded_executable(PJRT_LoadedExecutable_GetExecutable_Args& args);
void loaded_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args);
void loaded_devices(PJRT_LoadedExecutable_AddressableDevices_Args& args);
void loaded_delete(PJRT_LoadedExecutable_Delete_Args& args);
void loaded_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args& args);
void loaded_execute(PJRT_LoadedExecutable_Execute_Args& args);

// buffer.cc
void buffer_from_host(PJRT_Client_BufferFromHostBuffer_Args& args);
void buffer_destroy(PJRT_Buffer_Destroy_Args& args);
void buffer_element_type(PJRT_Buffer_ElementType_Args& args);
void buffer_dimensions(PJRT_Buffer_Dimensions_Args& args);
void buffer_size(PJRT_Buffer_OnDeviceSizeInBytes_Args& args);
void buffer_device(PJRT_Buffer_Device_Args& args);
void buffer_memory(PJRT_Buffer_Memory_Args& args);
void buffer_delete(PJRT_Buffer_Delete_Args& args);
void buffer_is_deleted(PJRT_Buffer_IsDeleted_Args& args);
void buffer_to_host(PJRT_Buffer_ToHostBuffer_Args& args);
void buffer_ready_event(PJRT_Buffer_ReadyEvent_Args& args);

}  // namespace precast::fake
