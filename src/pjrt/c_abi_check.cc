// Holds the declarations of c_abi.h to the published layouts of PJRT 0.114 on LP64: every field's
// offset and every struct's size without padding. A layout that moved stops the build. Nothing here
// runs.

#include <cstddef>

#include "pjrt/c_abi.h"

namespace precast::pjrt {
namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): offsetof and the structs' names need the
// preprocessor.
#define AT(field, offset) (offsetof(Struct, field) == (offset))
#define BARE_LAYOUT(type, size, fields)                                    \
  struct type##_layout {                                                   \
    using Struct = type;                                                   \
    static_assert(fields, "a field of " #type " has moved");               \
    static_assert(kStructSize<type> == (size), #type " has another size"); \
  }
// The usual struct: it begins with its size and a chain of extensions.
#define LAYOUT(type, size, fields) \
  BARE_LAYOUT(type, size, AT(struct_size, 0) && AT(extension_start, 8) && fields)
// NOLINTEND(cppcoreguidelines-macro-usage)

// c_abi_base.h
BARE_LAYOUT(PJRT_Extension_Base, 24, AT(struct_size, 0) && AT(type, 8) && AT(next, 16));
LAYOUT(PJRT_Api_Version, 24, AT(major_version, 16) && AT(minor_version, 20));
LAYOUT(PJRT_NamedValue, 56,
       AT(name, 16) && AT(name_size, 24) && AT(type, 32) && AT(string_value, 40) &&
           AT(int64_value, 40) && AT(int64_array_value, 40) && AT(float_value, 40) &&
           AT(bool_value, 40) && AT(value_size, 48));

// c_abi_event.h
LAYOUT(PJRT_Error_Destroy_Args, 24, AT(error, 16));
LAYOUT(PJRT_Error_Message_Args, 40, AT(error, 16) && AT(message, 24) && AT(message_size, 32));
BARE_LAYOUT(PJRT_Error_FunctionTable, 56,
            AT(struct_size, 0) && AT(instance_size, 8) && AT(extension_start, 16) &&
                AT(destroy, 24) && AT(message, 32) && AT(get_code, 40) && AT(for_each_payload, 48));
BARE_LAYOUT(PJRT_Error, 8, AT(vtable, 0));
LAYOUT(PJRT_Error_GetCode_Args, 28, AT(error, 16) && AT(code, 24));
LAYOUT(PJRT_Error_ForEachPayload_Args, 40, AT(error, 16) && AT(visitor, 24) && AT(user_arg, 32));
BARE_LAYOUT(PJRT_Plugin_Initialize_Args, 16, AT(struct_size, 0) && AT(extension_start, 8));
LAYOUT(PJRT_Plugin_Attributes_Args, 32, AT(attributes, 16) && AT(num_attributes, 24));
LAYOUT(PJRT_Event_Destroy_Args, 24, AT(event, 16));
LAYOUT(PJRT_Event_IsReady_Args, 25, AT(event, 16) && AT(is_ready, 24));
LAYOUT(PJRT_Event_Error_Args, 24, AT(event, 16));
LAYOUT(PJRT_Event_Await_Args, 24, AT(event, 16));
LAYOUT(PJRT_Event_OnReady_Args, 40, AT(event, 16) && AT(callback, 24) && AT(user_arg, 32));
LAYOUT(PJRT_Event_Create_Args, 24, AT(event, 16));
LAYOUT(PJRT_Event_Set_Args, 48,
       AT(event, 16) && AT(error_code, 24) && AT(error_message, 32) && AT(error_message_size, 40));

// c_abi_client.h
LAYOUT(PJRT_KeyValueGetCallback_Args, 80,
       AT(key, 16) && AT(key_size, 24) && AT(timeout_in_ms, 32) && AT(callback_error, 40) &&
           AT(user_arg, 48) && AT(value, 56) && AT(value_size, 64) &&
           AT(value_deleter_callback, 72));
LAYOUT(PJRT_KeyValueTryGetCallback_Args, 72,
       AT(key, 16) && AT(key_size, 24) && AT(callback_error, 32) && AT(user_arg, 40) &&
           AT(value, 48) && AT(value_size, 56) && AT(value_deleter_callback, 64));
LAYOUT(PJRT_KeyValuePutCallback_Args, 64,
       AT(key, 16) && AT(key_size, 24) && AT(value, 32) && AT(value_size, 40) &&
           AT(callback_error, 48) && AT(user_arg, 56));
LAYOUT(PJRT_Client_Create_Args, 88,
       AT(create_options, 16) && AT(num_options, 24) && AT(kv_get_callback, 32) &&
           AT(kv_get_user_arg, 40) && AT(kv_put_callback, 48) && AT(kv_put_user_arg, 56) &&
           AT(client, 64) && AT(kv_try_get_callback, 72) && AT(kv_try_get_user_arg, 80));
LAYOUT(PJRT_Client_Destroy_Args, 24, AT(client, 16));
LAYOUT(PJRT_Client_PlatformName_Args, 40,
       AT(client, 16) && AT(platform_name, 24) && AT(platform_name_size, 32));
LAYOUT(PJRT_Client_ProcessIndex_Args, 28, AT(client, 16) && AT(process_index, 24));
LAYOUT(PJRT_Client_PlatformVersion_Args, 40,
       AT(client, 16) && AT(platform_version, 24) && AT(platform_version_size, 32));
LAYOUT(PJRT_Client_TopologyDescription_Args, 32, AT(client, 16) && AT(topology, 24));
LAYOUT(PJRT_Client_Devices_Args, 40, AT(client, 16) && AT(devices, 24) && AT(num_devices, 32));
LAYOUT(PJRT_Client_AddressableDevices_Args, 40,
       AT(client, 16) && AT(addressable_devices, 24) && AT(num_addressable_devices, 32));
LAYOUT(PJRT_Client_LookupDevice_Args, 40, AT(client, 16) && AT(id, 24) && AT(device, 32));
LAYOUT(PJRT_Client_LookupAddressableDevice_Args, 40,
       AT(client, 16) && AT(local_hardware_id, 24) && AT(addressable_device, 32));
BARE_LAYOUT(PJRT_ProcessInfo, 48,
            AT(struct_size, 0) && AT(task_id, 8) && AT(incarnation_id, 16) && AT(state, 24) &&
                AT(error_code, 28) && AT(error_message, 32) && AT(error_message_size, 40));
LAYOUT(PJRT_Client_UpdateGlobalProcessInfo_Args, 40,
       AT(client, 16) && AT(process_infos, 24) && AT(num_process_infos, 32));
LAYOUT(PJRT_Client_AddressableMemories_Args, 40,
       AT(client, 16) && AT(addressable_memories, 24) && AT(num_addressable_memories, 32));
LAYOUT(PJRT_Program, 48,
       AT(code, 16) && AT(code_size, 24) && AT(format, 32) && AT(format_size, 40));
LAYOUT(PJRT_Client_Compile_Args, 56,
       AT(client, 16) && AT(program, 24) && AT(compile_options, 32) &&
           AT(compile_options_size, 40) && AT(executable, 48));
LAYOUT(PJRT_Client_Load_Args, 56,
       AT(client, 16) && AT(executable, 24) && AT(compile_options, 32) &&
           AT(compile_options_size, 40) && AT(loaded_executable, 48));
LAYOUT(PJRT_Client_DefaultDeviceAssignment_Args, 48,
       AT(client, 16) && AT(num_replicas, 24) && AT(num_partitions, 28) &&
           AT(default_assignment_size, 32) && AT(default_assignment, 40));

// c_abi_device.h
LAYOUT(PJRT_Memory_FunctionTable, 40,
       AT(instance_struct_size, 16) && AT(get_user_data, 24) && AT(set_user_data, 32));
BARE_LAYOUT(PJRT_Memory, 8, AT(vtable, 0));
LAYOUT(PJRT_DeviceDescription_Id_Args, 28, AT(device_description, 16) && AT(id, 24));
LAYOUT(PJRT_DeviceDescription_ProcessIndex_Args, 28,
       AT(device_description, 16) && AT(process_index, 24));
LAYOUT(PJRT_DeviceDescription_Attributes_Args, 40,
       AT(device_description, 16) && AT(num_attributes, 24) && AT(attributes, 32));
LAYOUT(PJRT_DeviceDescription_Kind_Args, 40,
       AT(device_description, 16) && AT(device_kind, 24) && AT(device_kind_size, 32));
LAYOUT(PJRT_DeviceDescription_DebugString_Args, 40,
       AT(device_description, 16) && AT(debug_string, 24) && AT(debug_string_size, 32));
LAYOUT(PJRT_DeviceDescription_ToString_Args, 40,
       AT(device_description, 16) && AT(to_string, 24) && AT(to_string_size, 32));
LAYOUT(PJRT_Device_GetDescription_Args, 32, AT(device, 16) && AT(device_description, 24));
LAYOUT(PJRT_Device_IsAddressable_Args, 25, AT(device, 16) && AT(is_addressable, 24));
LAYOUT(PJRT_Device_LocalHardwareId_Args, 28, AT(device, 16) && AT(local_hardware_id, 24));
LAYOUT(PJRT_Device_AddressableMemories_Args, 40,
       AT(device, 16) && AT(memories, 24) && AT(num_memories, 32));
LAYOUT(PJRT_Device_DefaultMemory_Args, 32, AT(device, 16) && AT(memory, 24));
LAYOUT(PJRT_Device_MemoryStats_Args, 201,
       AT(device, 16) && AT(bytes_in_use, 24) && AT(peak_bytes_in_use, 32) &&
           AT(peak_bytes_in_use_is_set, 40) && AT(num_allocs, 48) && AT(num_allocs_is_set, 56) &&
           AT(largest_alloc_size, 64) && AT(largest_alloc_size_is_set, 72) && AT(bytes_limit, 80) &&
           AT(bytes_limit_is_set, 88) && AT(bytes_reserved, 96) && AT(bytes_reserved_is_set, 104) &&
           AT(peak_bytes_reserved, 112) && AT(peak_bytes_reserved_is_set, 120) &&
           AT(bytes_reservable_limit, 128) && AT(bytes_reservable_limit_is_set, 136) &&
           AT(largest_free_block_bytes, 144) && AT(largest_free_block_bytes_is_set, 152) &&
           AT(pool_bytes, 160) && AT(pool_bytes_is_set, 168) && AT(peak_pool_bytes, 176) &&
           AT(peak_pool_bytes_is_set, 184) && AT(peak_allocated_bytes, 192) &&
           AT(peak_allocated_bytes_is_set, 200));
LAYOUT(PJRT_Device_ClearMemoryStats_Args, 24, AT(device, 16));
LAYOUT(PJRT_Device_PoisonExecution_Args, 72,
       AT(device, 16) && AT(launch_id, 24) && AT(error_code, 28) && AT(error_message, 32) &&
           AT(error_message_size, 40) && AT(poisoned, 48) && AT(payload, 56) &&
           AT(num_payload, 64));
LAYOUT(PJRT_Device_GetAttributes_Args, 56,
       AT(device, 16) && AT(attributes, 24) && AT(num_attributes, 32) &&
           AT(device_attributes, 40) && AT(attributes_deleter, 48));
LAYOUT(PJRT_Device_CreateAsyncTrackingEvent_Args, 48,
       AT(device, 16) && AT(description, 24) && AT(description_size, 32) && AT(event, 40));
LAYOUT(PJRT_AsyncTrackingEvent_Destroy_Args, 24, AT(event, 16));
LAYOUT(PJRT_Memory_Id_Args, 28, AT(memory, 16) && AT(id, 24));
LAYOUT(PJRT_Memory_Kind_Args, 40, AT(memory, 16) && AT(kind, 24) && AT(kind_size, 32));
LAYOUT(PJRT_Memory_Kind_Id_Args, 28, AT(memory, 16) && AT(kind_id, 24));
LAYOUT(PJRT_Memory_DebugString_Args, 40,
       AT(memory, 16) && AT(debug_string, 24) && AT(debug_string_size, 32));
LAYOUT(PJRT_Memory_ToString_Args, 40,
       AT(memory, 16) && AT(to_string, 24) && AT(to_string_size, 32));
LAYOUT(PJRT_Memory_AddressableByDevices_Args, 40,
       AT(memory, 16) && AT(devices, 24) && AT(num_devices, 32));

// c_abi_buffer.h
LAYOUT(PJRT_Buffer_MemoryLayout_Tiled, 56,
       AT(minor_to_major, 16) && AT(minor_to_major_size, 24) && AT(tile_dims, 32) &&
           AT(tile_dim_sizes, 40) && AT(num_tiles, 48));
LAYOUT(PJRT_Buffer_MemoryLayout_Strides, 32, AT(byte_strides, 16) && AT(num_byte_strides, 24));
LAYOUT(PJRT_Buffer_MemoryLayout, 76, AT(tiled, 16) && AT(strides, 16) && AT(type, 72));
LAYOUT(PJRT_Client_CreateUninitializedBuffer_Args, 80,
       AT(client, 16) && AT(shape_dims, 24) && AT(shape_num_dims, 32) &&
           AT(shape_element_type, 40) && AT(shape_layout, 48) && AT(device, 56) && AT(memory, 64) &&
           AT(buffer, 72));
LAYOUT(PJRT_Client_CreateErrorBuffer_Args, 112,
       AT(client, 16) && AT(error_code, 24) && AT(error_message, 32) &&
           AT(error_message_size, 40) && AT(shape_dims, 48) && AT(shape_num_dims, 56) &&
           AT(shape_element_type, 64) && AT(shape_layout, 72) && AT(memory, 80) && AT(buffer, 88) &&
           AT(payload, 96) && AT(num_payload, 104));
LAYOUT(PJRT_Client_CreateAliasBuffer_Args, 80,
       AT(client, 16) && AT(memory, 24) && AT(shape_dims, 32) && AT(shape_num_dims, 40) &&
           AT(shape_element_type, 48) && AT(shape_layout, 56) && AT(alias_buffer, 64) &&
           AT(fulfill_alias_buffer_cb, 72));
LAYOUT(PJRT_Client_FulfillAliasBuffer_Args, 64,
       AT(client, 16) && AT(buffer, 24) && AT(status_code, 32) && AT(error_message, 40) &&
           AT(error_message_size, 48) && AT(fulfill_alias_buffer_cb, 56));
LAYOUT(PJRT_Client_BufferFromHostBuffer_Args, 120,
       AT(client, 16) && AT(data, 24) && AT(type, 32) && AT(dims, 40) && AT(num_dims, 48) &&
           AT(byte_strides, 56) && AT(num_byte_strides, 64) && AT(host_buffer_semantics, 72) &&
           AT(device, 80) && AT(memory, 88) && AT(device_layout, 96) &&
           AT(done_with_host_buffer, 104) && AT(buffer, 112));
LAYOUT(PJRT_Client_CreateViewOfDeviceBuffer_Args, 112,
       AT(client, 16) && AT(device_buffer_ptr, 24) && AT(dims, 32) && AT(num_dims, 40) &&
           AT(element_type, 48) && AT(layout, 56) && AT(device, 64) && AT(on_delete_callback, 72) &&
           AT(on_delete_callback_arg, 80) && AT(stream, 88) && AT(buffer, 96) && AT(memory, 104));
LAYOUT(PJRT_Buffer_Destroy_Args, 24, AT(buffer, 16));
LAYOUT(PJRT_Buffer_ElementType_Args, 28, AT(buffer, 16) && AT(type, 24));
LAYOUT(PJRT_Buffer_Dimensions_Args, 40, AT(buffer, 16) && AT(dims, 24) && AT(num_dims, 32));
LAYOUT(PJRT_Buffer_UnpaddedDimensions_Args, 40,
       AT(buffer, 16) && AT(unpadded_dims, 24) && AT(num_dims, 32));
LAYOUT(PJRT_Buffer_DynamicDimensionIndices_Args, 40,
       AT(buffer, 16) && AT(dynamic_dim_indices, 24) && AT(num_dynamic_dims, 32));
LAYOUT(PJRT_Buffer_GetMemoryLayout_Args, 104, AT(buffer, 16) && AT(layout, 24));
LAYOUT(PJRT_Buffer_ToHostBuffer_Args, 56,
       AT(src, 16) && AT(host_layout, 24) && AT(dst, 32) && AT(dst_size, 40) && AT(event, 48));
LAYOUT(PJRT_Buffer_OnDeviceSizeInBytes_Args, 32, AT(buffer, 16) && AT(on_device_size_in_bytes, 24));
LAYOUT(PJRT_Buffer_Delete_Args, 24, AT(buffer, 16));
LAYOUT(PJRT_Buffer_IsDeleted_Args, 25, AT(buffer, 16) && AT(is_deleted, 24));
LAYOUT(PJRT_Buffer_CopyRawToHost_Args, 56,
       AT(buffer, 16) && AT(dst, 24) && AT(offset, 32) && AT(transfer_size, 40) && AT(event, 48));
BARE_LAYOUT(PJRT_Buffer_CopyRawToHostFuture_Callback_Args, 48,
            AT(struct_size, 0) && AT(callback_data, 8) && AT(error_code, 16) &&
                AT(error_message, 24) && AT(error_message_size, 32) && AT(dst, 40));
LAYOUT(PJRT_Buffer_CopyRawToHostFuture_Args, 64,
       AT(buffer, 16) && AT(offset, 24) && AT(transfer_size, 32) && AT(event, 40) &&
           AT(callback_data, 48) && AT(future_ready_callback, 56));
LAYOUT(PJRT_Buffer_CopyToDevice_Args, 40,
       AT(buffer, 16) && AT(dst_device, 24) && AT(dst_buffer, 32));
LAYOUT(PJRT_Buffer_CopyToMemory_Args, 40,
       AT(buffer, 16) && AT(dst_memory, 24) && AT(dst_buffer, 32));
LAYOUT(PJRT_Buffer_Bitcast_Args, 64,
       AT(buffer, 16) && AT(element_type, 24) && AT(dims, 32) && AT(num_dims, 40) &&
           AT(device_layout, 48) && AT(out_buffer, 56));
LAYOUT(PJRT_Buffer_IsOnCpu_Args, 25, AT(buffer, 16) && AT(is_on_cpu, 24));
LAYOUT(PJRT_Buffer_Device_Args, 32, AT(buffer, 16) && AT(device, 24));
LAYOUT(PJRT_Buffer_Memory_Args, 32, AT(buffer, 16) && AT(memory, 24));
LAYOUT(PJRT_Buffer_ReadyEvent_Args, 32, AT(buffer, 16) && AT(event, 24));
LAYOUT(PJRT_Buffer_UnsafePointer_Args, 32, AT(buffer, 16) && AT(buffer_pointer, 24));
LAYOUT(PJRT_Buffer_IncreaseExternalReferenceCount_Args, 24, AT(buffer, 16));
LAYOUT(PJRT_Buffer_DecreaseExternalReferenceCount_Args, 24, AT(buffer, 16));
LAYOUT(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, 32,
       AT(buffer, 16) && AT(device_memory_ptr, 24));
BARE_LAYOUT(PJRT_Buffer_DonateWithControlDependency_Callback_Args, 40,
            AT(struct_size, 0) && AT(callback_data, 8) && AT(error_code, 16) &&
                AT(error_message, 24) && AT(error_message_size, 32));
LAYOUT(PJRT_Buffer_DonateWithControlDependency_Args, 48,
       AT(buffer, 16) && AT(callback_data, 24) && AT(dependency_ready_callback, 32) &&
           AT(out_buffer, 40));

// c_abi_transfer.h
LAYOUT(PJRT_Client_DmaMap_Args, 40, AT(client, 16) && AT(data, 24) && AT(size, 32));
LAYOUT(PJRT_Client_DmaUnmap_Args, 32, AT(client, 16) && AT(data, 24));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args, 24, AT(transfer_manager, 16));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args, 72,
       AT(transfer_manager, 16) && AT(buffer_index, 24) && AT(data, 32) && AT(offset, 40) &&
           AT(transfer_size, 48) && AT(is_last_transfer, 56) && AT(done_with_h2d_transfer, 64));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, 40,
       AT(transfer_manager, 16) && AT(buffer_index, 24) && AT(buffer_out, 32));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_Device_Args, 32,
       AT(transfer_manager, 16) && AT(device_out, 24));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args, 32,
       AT(transfer_manager, 16) && AT(buffer_count, 24));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args, 40,
       AT(transfer_manager, 16) && AT(buffer_index, 24) && AT(buffer_size, 32));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, 48,
       AT(transfer_manager, 16) && AT(buffer_index, 24) && AT(error_code, 28) &&
           AT(error_message, 32) && AT(error_message_size, 40));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args, 40,
       AT(transfer_manager, 16) && AT(transfer_metadata, 24) && AT(num_metadata, 32));
LAYOUT(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args, 80,
       AT(transfer_manager, 16) && AT(buffer_index, 24) && AT(data, 32) && AT(shape_dims, 40) &&
           AT(shape_num_dims, 48) && AT(shape_element_type, 56) && AT(shape_layout, 64) &&
           AT(done_with_h2d_transfer, 72));
LAYOUT(PJRT_ShapeSpec, 36, AT(dims, 16) && AT(num_dims, 24) && AT(element_type, 32));
LAYOUT(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, 72,
       AT(client, 16) && AT(shape_specs, 24) && AT(num_shape_specs, 32) && AT(device_layouts, 40) &&
           AT(num_device_layouts, 48) && AT(memory, 56) && AT(transfer_manager, 64));
BARE_LAYOUT(PJRT_Chunk, 32, AT(data, 0) && AT(size, 8) && AT(deleter, 16) && AT(deleter_arg, 24));
LAYOUT(PJRT_CopyToDeviceStream_Destroy_Args, 24, AT(stream, 16));
LAYOUT(PJRT_CopyToDeviceStream_AddChunk_Args, 40,
       AT(stream, 16) && AT(chunk, 24) && AT(transfer_complete, 32));
LAYOUT(PJRT_CopyToDeviceStream_TotalBytes_Args, 32, AT(stream, 16) && AT(total_bytes, 24));
LAYOUT(PJRT_CopyToDeviceStream_GranuleSize_Args, 32,
       AT(stream, 16) && AT(granule_size_in_bytes, 24));
LAYOUT(PJRT_CopyToDeviceStream_CurrentBytes_Args, 32, AT(stream, 16) && AT(current_bytes, 24));

// c_abi_executable.h
LAYOUT(PJRT_ExecuteContext_Create_Args, 24, AT(context, 16));
LAYOUT(PJRT_ExecuteContext_Destroy_Args, 24, AT(context, 16));
LAYOUT(PJRT_Executable_Destroy_Args, 24, AT(executable, 16));
LAYOUT(PJRT_LoadedExecutable_Destroy_Args, 24, AT(executable, 16));
LAYOUT(PJRT_LoadedExecutable_GetExecutable_Args, 32,
       AT(loaded_executable, 16) && AT(executable, 24));
LAYOUT(PJRT_LoadedExecutable_GetDeviceAssignment_Args, 56,
       AT(executable, 16) && AT(serialized_bytes, 24) && AT(serialized_bytes_size, 32) &&
           AT(serialized_device_assignment, 40) && AT(serialized_device_assignment_deleter, 48));
LAYOUT(PJRT_Executable_Name_Args, 40,
       AT(executable, 16) && AT(executable_name, 24) && AT(executable_name_size, 32));
LAYOUT(PJRT_Executable_NumReplicas_Args, 32, AT(executable, 16) && AT(num_replicas, 24));
LAYOUT(PJRT_Executable_NumPartitions_Args, 32, AT(executable, 16) && AT(num_partitions, 24));
BARE_LAYOUT(PJRT_LogicalDeviceIds, 8, AT(replica, 0) && AT(partition, 4));
LAYOUT(PJRT_LoadedExecutable_AddressableDevices_Args, 40,
       AT(executable, 16) && AT(addressable_devices, 24) && AT(num_addressable_devices, 32));
LAYOUT(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args, 40,
       AT(executable, 16) && AT(addressable_device_logical_ids, 24) &&
           AT(num_addressable_device_logical_ids, 32));
LAYOUT(PJRT_Executable_OptimizedProgram_Args, 32, AT(executable, 16) && AT(program, 24));
LAYOUT(PJRT_LoadedExecutable_Delete_Args, 24, AT(executable, 16));
LAYOUT(PJRT_LoadedExecutable_IsDeleted_Args, 25, AT(executable, 16) && AT(is_deleted, 24));
BARE_LAYOUT(PJRT_SendCallbackInfo, 24,
            AT(channel_id, 0) && AT(user_arg, 8) && AT(send_callback, 16));
BARE_LAYOUT(PJRT_RecvCallbackInfo, 24,
            AT(channel_id, 0) && AT(user_arg, 8) && AT(recv_callback, 16));
BARE_LAYOUT(PJRT_HloOutputCallbackInfo, 32,
            AT(user_arg, 0) && AT(callback, 8) && AT(callback_id, 16) && AT(num_operands, 24));
LAYOUT(PJRT_ExecuteOptions, 144,
       AT(send_callbacks, 16) && AT(recv_callbacks, 24) && AT(num_send_ops, 32) &&
           AT(num_recv_ops, 40) && AT(launch_id, 48) && AT(non_donatable_input_indices, 56) &&
           AT(num_non_donatable_input_indices, 64) && AT(context, 72) && AT(call_location, 80) &&
           AT(num_tasks, 88) && AT(task_ids, 96) && AT(incarnation_ids, 104) &&
           AT(multi_slice_config, 112) && AT(use_major_to_minor_data_layout_for_callbacks, 120) &&
           AT(hlo_output_callbacks, 128) && AT(num_hlo_output_callbacks, 136));
LAYOUT(PJRT_LoadedExecutable_Execute_Args, 80,
       AT(executable, 16) && AT(options, 24) && AT(argument_lists, 32) && AT(num_devices, 40) &&
           AT(num_args, 48) && AT(output_lists, 56) && AT(device_complete_events, 64) &&
           AT(execute_device, 72));
LAYOUT(PJRT_Executable_NumOutputs_Args, 32, AT(executable, 16) && AT(num_outputs, 24));
LAYOUT(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, 32,
       AT(executable, 16) && AT(size_in_bytes, 24));
LAYOUT(PJRT_Executable_Fingerprint_Args, 40,
       AT(executable, 16) && AT(executable_fingerprint, 24) && AT(executable_fingerprint_size, 32));
LAYOUT(PJRT_Executable_GetCostAnalysis_Args, 40,
       AT(executable, 16) && AT(num_properties, 24) && AT(properties, 32));
LAYOUT(PJRT_Executable_GetCompiledMemoryStats_Args, 144,
       AT(executable, 16) && AT(generated_code_size_in_bytes, 24) &&
           AT(argument_size_in_bytes, 32) && AT(output_size_in_bytes, 40) &&
           AT(alias_size_in_bytes, 48) && AT(temp_size_in_bytes, 56) &&
           AT(host_generated_code_size_in_bytes, 64) && AT(host_argument_size_in_bytes, 72) &&
           AT(host_output_size_in_bytes, 80) && AT(host_alias_size_in_bytes, 88) &&
           AT(host_temp_size_in_bytes, 96) && AT(peak_memory_in_bytes, 104) &&
           AT(total_size_in_bytes, 112) && AT(total_allocation_bytes, 120) &&
           AT(indefinite_allocations, 128) && AT(peak_unpadded_heap_bytes, 136));
LAYOUT(PJRT_Executable_OutputElementTypes_Args, 40,
       AT(executable, 16) && AT(output_types, 24) && AT(num_output_types, 32));
LAYOUT(PJRT_Executable_OutputDimensions_Args, 48,
       AT(executable, 16) && AT(num_outputs, 24) && AT(dims, 32) && AT(dim_sizes, 40));
LAYOUT(PJRT_Executable_ParameterMemoryKinds_Args, 48,
       AT(executable, 16) && AT(num_parameters, 24) && AT(memory_kinds, 32) &&
           AT(memory_kind_sizes, 40));
LAYOUT(PJRT_Executable_OutputMemoryKinds_Args, 48,
       AT(executable, 16) && AT(num_outputs, 24) && AT(memory_kinds, 32) &&
           AT(memory_kind_sizes, 40));
LAYOUT(PJRT_Executable_Serialize_Args, 56,
       AT(executable, 16) && AT(serialized_bytes, 24) && AT(serialized_bytes_size, 32) &&
           AT(serialized_executable, 40) && AT(serialized_executable_deleter, 48));
LAYOUT(PJRT_Executable_GetCompileOptions_Args, 56,
       AT(executable, 16) && AT(serialized_bytes, 24) && AT(serialized_bytes_size, 32) &&
           AT(serialized_compile_options, 40) && AT(serialized_compile_options_deleter, 48));
BARE_LAYOUT(PJRT_LoadOptions, 32,
            AT(struct_size, 0) && AT(computation_origin, 8) && AT(computation_origin_size, 16) &&
                AT(multi_slice_config, 24));
LAYOUT(PJRT_Executable_DeserializeAndLoad_Args, 72,
       AT(client, 16) && AT(serialized_executable, 24) && AT(serialized_executable_size, 32) &&
           AT(loaded_executable, 40) && AT(overridden_serialized_compile_options, 48) &&
           AT(overridden_serialized_compile_options_size, 56) && AT(load_options, 64));
LAYOUT(PJRT_LoadedExecutable_Fingerprint_Args, 40,
       AT(executable, 16) && AT(executable_fingerprint, 24) && AT(executable_fingerprint_size, 32));

// c_abi_topology.h
LAYOUT(PJRT_TopologyDescription_Create_Args, 56,
       AT(topology_name, 16) && AT(topology_name_size, 24) && AT(create_options, 32) &&
           AT(num_options, 40) && AT(topology, 48));
LAYOUT(PJRT_TopologyDescription_Destroy_Args, 24, AT(topology, 16));
LAYOUT(PJRT_TopologyDescription_PlatformVersion_Args, 40,
       AT(topology, 16) && AT(platform_version, 24) && AT(platform_version_size, 32));
LAYOUT(PJRT_TopologyDescription_PlatformName_Args, 40,
       AT(topology, 16) && AT(platform_name, 24) && AT(platform_name_size, 32));
LAYOUT(PJRT_TopologyDescription_GetDeviceDescriptions_Args, 40,
       AT(topology, 16) && AT(descriptions, 24) && AT(num_descriptions, 32));
LAYOUT(PJRT_TopologyDescription_Serialize_Args, 56,
       AT(topology, 16) && AT(serialized_bytes, 24) && AT(serialized_bytes_size, 32) &&
           AT(serialized_topology, 40) && AT(serialized_topology_deleter, 48));
LAYOUT(PJRT_TopologyDescription_Deserialize_Args, 40,
       AT(serialized_topology, 16) && AT(serialized_topology_size, 24) && AT(topology, 32));
LAYOUT(PJRT_TopologyDescription_Attributes_Args, 40,
       AT(topology, 16) && AT(attributes, 24) && AT(num_attributes, 32));
LAYOUT(PJRT_TopologyDescription_Fingerprint_Args, 32, AT(topology, 16) && AT(fingerprint, 24));
LAYOUT(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args, 88,
       AT(topology, 16) && AT(memory_space_kind_id, 24) && AT(dims, 32) && AT(num_dims, 40) &&
           AT(element_type, 48) && AT(layout, 56) && AT(serialized_shape, 64) &&
           AT(serialized_shape_size, 72) && AT(serialized_shape_deleter, 80));
LAYOUT(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args, 40,
       AT(topology, 16) && AT(memory_space_kind_ids, 24) && AT(num_memory_space_kind_ids, 32));
LAYOUT(PJRT_Compile_Args, 64,
       AT(topology, 16) && AT(program, 24) && AT(compile_options, 32) &&
           AT(compile_options_size, 40) && AT(client, 48) && AT(executable, 56));

// c_abi.h: member k stands at 40 + 8 k.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): offsetof takes a member's name.
#define MEMBER(name, index) \
  static_assert(offsetof(PJRT_Api, PJRT_##name) == 40 + 8 * (index), "PJRT_" #name " has moved")

static_assert(offsetof(PJRT_Api, struct_size) == 0);
static_assert(offsetof(PJRT_Api, extension_start) == 8);
static_assert(offsetof(PJRT_Api, pjrt_api_version) == 16);
static_assert(kStructSize<PJRT_Api> == 1144);

MEMBER(Error_Destroy, 0);
MEMBER(Error_Message, 1);
MEMBER(Error_GetCode, 2);
MEMBER(Plugin_Initialize, 3);
MEMBER(Plugin_Attributes, 4);
MEMBER(Event_Destroy, 5);
MEMBER(Event_IsReady, 6);
MEMBER(Event_Error, 7);
MEMBER(Event_Await, 8);
MEMBER(Event_OnReady, 9);
MEMBER(Client_Create, 10);
MEMBER(Client_Destroy, 11);
MEMBER(Client_PlatformName, 12);
MEMBER(Client_ProcessIndex, 13);
MEMBER(Client_PlatformVersion, 14);
MEMBER(Client_Devices, 15);
MEMBER(Client_AddressableDevices, 16);
MEMBER(Client_LookupDevice, 17);
MEMBER(Client_LookupAddressableDevice, 18);
MEMBER(Client_AddressableMemories, 19);
MEMBER(Client_Compile, 20);
MEMBER(Client_DefaultDeviceAssignment, 21);
MEMBER(Client_BufferFromHostBuffer, 22);
MEMBER(DeviceDescription_Id, 23);
MEMBER(DeviceDescription_ProcessIndex, 24);
MEMBER(DeviceDescription_Attributes, 25);
MEMBER(DeviceDescription_Kind, 26);
MEMBER(DeviceDescription_DebugString, 27);
MEMBER(DeviceDescription_ToString, 28);
MEMBER(Device_GetDescription, 29);
MEMBER(Device_IsAddressable, 30);
MEMBER(Device_LocalHardwareId, 31);
MEMBER(Device_AddressableMemories, 32);
MEMBER(Device_DefaultMemory, 33);
MEMBER(Device_MemoryStats, 34);
MEMBER(Memory_Id, 35);
MEMBER(Memory_Kind, 36);
MEMBER(Memory_DebugString, 37);
MEMBER(Memory_ToString, 38);
MEMBER(Memory_AddressableByDevices, 39);
MEMBER(Executable_Destroy, 40);
MEMBER(Executable_Name, 41);
MEMBER(Executable_NumReplicas, 42);
MEMBER(Executable_NumPartitions, 43);
MEMBER(Executable_NumOutputs, 44);
MEMBER(Executable_SizeOfGeneratedCodeInBytes, 45);
MEMBER(Executable_GetCostAnalysis, 46);
MEMBER(Executable_OutputMemoryKinds, 47);
MEMBER(Executable_OptimizedProgram, 48);
MEMBER(Executable_Serialize, 49);
MEMBER(LoadedExecutable_Destroy, 50);
MEMBER(LoadedExecutable_GetExecutable, 51);
MEMBER(LoadedExecutable_AddressableDevices, 52);
MEMBER(LoadedExecutable_Delete, 53);
MEMBER(LoadedExecutable_IsDeleted, 54);
MEMBER(LoadedExecutable_Execute, 55);
MEMBER(Executable_DeserializeAndLoad, 56);
MEMBER(LoadedExecutable_Fingerprint, 57);
MEMBER(Buffer_Destroy, 58);
MEMBER(Buffer_ElementType, 59);
MEMBER(Buffer_Dimensions, 60);
MEMBER(Buffer_UnpaddedDimensions, 61);
MEMBER(Buffer_DynamicDimensionIndices, 62);
MEMBER(Buffer_GetMemoryLayout, 63);
MEMBER(Buffer_OnDeviceSizeInBytes, 64);
MEMBER(Buffer_Device, 65);
MEMBER(Buffer_Memory, 66);
MEMBER(Buffer_Delete, 67);
MEMBER(Buffer_IsDeleted, 68);
MEMBER(Buffer_CopyToDevice, 69);
MEMBER(Buffer_ToHostBuffer, 70);
MEMBER(Buffer_IsOnCpu, 71);
MEMBER(Buffer_ReadyEvent, 72);
MEMBER(Buffer_UnsafePointer, 73);
MEMBER(Buffer_IncreaseExternalReferenceCount, 74);
MEMBER(Buffer_DecreaseExternalReferenceCount, 75);
MEMBER(Buffer_OpaqueDeviceMemoryDataPointer, 76);
MEMBER(CopyToDeviceStream_Destroy, 77);
MEMBER(CopyToDeviceStream_AddChunk, 78);
MEMBER(CopyToDeviceStream_TotalBytes, 79);
MEMBER(CopyToDeviceStream_GranuleSize, 80);
MEMBER(CopyToDeviceStream_CurrentBytes, 81);
MEMBER(TopologyDescription_Create, 82);
MEMBER(TopologyDescription_Destroy, 83);
MEMBER(TopologyDescription_PlatformName, 84);
MEMBER(TopologyDescription_PlatformVersion, 85);
MEMBER(TopologyDescription_GetDeviceDescriptions, 86);
MEMBER(TopologyDescription_Serialize, 87);
MEMBER(TopologyDescription_Attributes, 88);
MEMBER(Compile, 89);
MEMBER(Executable_OutputElementTypes, 90);
MEMBER(Executable_OutputDimensions, 91);
MEMBER(Buffer_CopyToMemory, 92);
MEMBER(Client_CreateViewOfDeviceBuffer, 93);
MEMBER(Executable_Fingerprint, 94);
MEMBER(Client_TopologyDescription, 95);
MEMBER(Executable_GetCompiledMemoryStats, 96);
MEMBER(Memory_Kind_Id, 97);
MEMBER(ExecuteContext_Create, 98);
MEMBER(ExecuteContext_Destroy, 99);
MEMBER(Buffer_CopyRawToHost, 100);
MEMBER(AsyncHostToDeviceTransferManager_Destroy, 101);
MEMBER(AsyncHostToDeviceTransferManager_TransferData, 102);
MEMBER(Client_CreateBuffersForAsyncHostToDevice, 103);
MEMBER(AsyncHostToDeviceTransferManager_RetrieveBuffer, 104);
MEMBER(AsyncHostToDeviceTransferManager_Device, 105);
MEMBER(AsyncHostToDeviceTransferManager_BufferCount, 106);
MEMBER(AsyncHostToDeviceTransferManager_BufferSize, 107);
MEMBER(AsyncHostToDeviceTransferManager_SetBufferError, 108);
MEMBER(AsyncHostToDeviceTransferManager_AddMetadata, 109);
MEMBER(Client_DmaMap, 110);
MEMBER(Client_DmaUnmap, 111);
MEMBER(Client_CreateUninitializedBuffer, 112);
MEMBER(Client_UpdateGlobalProcessInfo, 113);
MEMBER(TopologyDescription_Deserialize, 114);
MEMBER(Client_CreateAliasBuffer, 115);
MEMBER(Client_FulfillAliasBuffer, 116);
MEMBER(LoadedExecutable_GetDeviceAssignment, 117);
MEMBER(Client_CreateErrorBuffer, 118);
MEMBER(AsyncHostToDeviceTransferManager_TransferLiteral, 119);
MEMBER(Buffer_CopyRawToHostFuture, 120);
MEMBER(Device_PoisonExecution, 121);
MEMBER(Device_CreateAsyncTrackingEvent, 122);
MEMBER(AsyncTrackingEvent_Destroy, 123);
MEMBER(Executable_GetCompileOptions, 124);
MEMBER(Buffer_DonateWithControlDependency, 125);
MEMBER(Event_Create, 126);
MEMBER(Event_Set, 127);
MEMBER(Device_GetAttributes, 128);
MEMBER(Client_Load, 129);
MEMBER(LoadedExecutable_AddressableDeviceLogicalIds, 130);
MEMBER(Buffer_Bitcast, 131);
MEMBER(Error_ForEachPayload, 132);
MEMBER(TopologyDescription_Fingerprint, 133);
MEMBER(Executable_ParameterMemoryKinds, 134);
MEMBER(Device_ClearMemoryStats, 135);
MEMBER(TopologyDescription_MakeCanonicalShapeForMemorySpace, 136);
MEMBER(TopologyDescription_GetMemorySpaceKindIds, 137);

}  // namespace
}  // namespace precast::pjrt
