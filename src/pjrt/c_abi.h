// PJRT's C ABI whole: the table of functions that a plugin's GetPjrtApi returns, and every struct
// they take.
//
// Member k of the table exists only when PJRT_Api::struct_size reaches past it, and even then it
// may be null.

#pragma once

#include "pjrt/c_abi_base.h"
#include "pjrt/c_abi_buffer.h"
#include "pjrt/c_abi_client.h"
#include "pjrt/c_abi_device.h"
#include "pjrt/c_abi_event.h"
#include "pjrt/c_abi_executable.h"
#include "pjrt/c_abi_topology.h"
#include "pjrt/c_abi_transfer.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

// Order is ABI: append only.
struct PJRT_Api {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Api_Version pjrt_api_version;

  void (*PJRT_Error_Destroy)(PJRT_Error_Destroy_Args*);
  void (*PJRT_Error_Message)(PJRT_Error_Message_Args*);
  PJRT_Error* (*PJRT_Error_GetCode)(PJRT_Error_GetCode_Args*);
  PJRT_Error* (*PJRT_Plugin_Initialize)(PJRT_Plugin_Initialize_Args*);
  PJRT_Error* (*PJRT_Plugin_Attributes)(PJRT_Plugin_Attributes_Args*);
  PJRT_Error* (*PJRT_Event_Destroy)(PJRT_Event_Destroy_Args*);
  PJRT_Error* (*PJRT_Event_IsReady)(PJRT_Event_IsReady_Args*);
  PJRT_Error* (*PJRT_Event_Error)(PJRT_Event_Error_Args*);
  PJRT_Error* (*PJRT_Event_Await)(PJRT_Event_Await_Args*);
  PJRT_Error* (*PJRT_Event_OnReady)(PJRT_Event_OnReady_Args*);
  PJRT_Error* (*PJRT_Client_Create)(PJRT_Client_Create_Args*);
  PJRT_Error* (*PJRT_Client_Destroy)(PJRT_Client_Destroy_Args*);
  PJRT_Error* (*PJRT_Client_PlatformName)(PJRT_Client_PlatformName_Args*);
  PJRT_Error* (*PJRT_Client_ProcessIndex)(PJRT_Client_ProcessIndex_Args*);
  PJRT_Error* (*PJRT_Client_PlatformVersion)(PJRT_Client_PlatformVersion_Args*);
  PJRT_Error* (*PJRT_Client_Devices)(PJRT_Client_Devices_Args*);
  PJRT_Error* (*PJRT_Client_AddressableDevices)(PJRT_Client_AddressableDevices_Args*);
  PJRT_Error* (*PJRT_Client_LookupDevice)(PJRT_Client_LookupDevice_Args*);
  PJRT_Error* (*PJRT_Client_LookupAddressableDevice)(PJRT_Client_LookupAddressableDevice_Args*);
  PJRT_Error* (*PJRT_Client_AddressableMemories)(PJRT_Client_AddressableMemories_Args*);
  PJRT_Error* (*PJRT_Client_Compile)(PJRT_Client_Compile_Args*);
  PJRT_Error* (*PJRT_Client_DefaultDeviceAssignment)(PJRT_Client_DefaultDeviceAssignment_Args*);
  PJRT_Error* (*PJRT_Client_BufferFromHostBuffer)(PJRT_Client_BufferFromHostBuffer_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_Id)(PJRT_DeviceDescription_Id_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_ProcessIndex)(PJRT_DeviceDescription_ProcessIndex_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_Attributes)(PJRT_DeviceDescription_Attributes_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_Kind)(PJRT_DeviceDescription_Kind_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_DebugString)(PJRT_DeviceDescription_DebugString_Args*);
  PJRT_Error* (*PJRT_DeviceDescription_ToString)(PJRT_DeviceDescription_ToString_Args*);
  PJRT_Error* (*PJRT_Device_GetDescription)(PJRT_Device_GetDescription_Args*);
  PJRT_Error* (*PJRT_Device_IsAddressable)(PJRT_Device_IsAddressable_Args*);
  PJRT_Error* (*PJRT_Device_LocalHardwareId)(PJRT_Device_LocalHardwareId_Args*);
  PJRT_Error* (*PJRT_Device_AddressableMemories)(PJRT_Device_AddressableMemories_Args*);
  PJRT_Error* (*PJRT_Device_DefaultMemory)(PJRT_Device_DefaultMemory_Args*);
  PJRT_Error* (*PJRT_Device_MemoryStats)(PJRT_Device_MemoryStats_Args*);
  PJRT_Error* (*PJRT_Memory_Id)(PJRT_Memory_Id_Args*);
  PJRT_Error* (*PJRT_Memory_Kind)(PJRT_Memory_Kind_Args*);
  PJRT_Error* (*PJRT_Memory_DebugString)(PJRT_Memory_DebugString_Args*);
  PJRT_Error* (*PJRT_Memory_ToString)(PJRT_Memory_ToString_Args*);
  PJRT_Error* (*PJRT_Memory_AddressableByDevices)(PJRT_Memory_AddressableByDevices_Args*);
  PJRT_Error* (*PJRT_Executable_Destroy)(PJRT_Executable_Destroy_Args*);
  PJRT_Error* (*PJRT_Executable_Name)(PJRT_Executable_Name_Args*);
  PJRT_Error* (*PJRT_Executable_NumReplicas)(PJRT_Executable_NumReplicas_Args*);
  PJRT_Error* (*PJRT_Executable_NumPartitions)(PJRT_Executable_NumPartitions_Args*);
  PJRT_Error* (*PJRT_Executable_NumOutputs)(PJRT_Executable_NumOutputs_Args*);
  PJRT_Error* (*PJRT_Executable_SizeOfGeneratedCodeInBytes)(
      PJRT_Executable_SizeOfGeneratedCodeInBytes_Args*);
  PJRT_Error* (*PJRT_Executable_GetCostAnalysis)(PJRT_Executable_GetCostAnalysis_Args*);
  PJRT_Error* (*PJRT_Executable_OutputMemoryKinds)(PJRT_Executable_OutputMemoryKinds_Args*);
  PJRT_Error* (*PJRT_Executable_OptimizedProgram)(PJRT_Executable_OptimizedProgram_Args*);
  PJRT_Error* (*PJRT_Executable_Serialize)(PJRT_Executable_Serialize_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_Destroy)(PJRT_LoadedExecutable_Destroy_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_GetExecutable)(PJRT_LoadedExecutable_GetExecutable_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_AddressableDevices)(
      PJRT_LoadedExecutable_AddressableDevices_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_Delete)(PJRT_LoadedExecutable_Delete_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_IsDeleted)(PJRT_LoadedExecutable_IsDeleted_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_Execute)(PJRT_LoadedExecutable_Execute_Args*);
  PJRT_Error* (*PJRT_Executable_DeserializeAndLoad)(PJRT_Executable_DeserializeAndLoad_Args*);
  PJRT_Error* (*PJRT_LoadedExecutable_Fingerprint)(PJRT_LoadedExecutable_Fingerprint_Args*);
  PJRT_Error* (*PJRT_Buffer_Destroy)(PJRT_Buffer_Destroy_Args*);
  PJRT_Error* (*PJRT_Buffer_ElementType)(PJRT_Buffer_ElementType_Args*);
  PJRT_Error* (*PJRT_Buffer_Dimensions)(PJRT_Buffer_Dimensions_Args*);
  PJRT_Error* (*PJRT_Buffer_UnpaddedDimensions)(PJRT_Buffer_UnpaddedDimensions_Args*);
  PJRT_Error* (*PJRT_Buffer_DynamicDimensionIndices)(PJRT_Buffer_DynamicDimensionIndices_Args*);
  PJRT_Error* (*PJRT_Buffer_GetMemoryLayout)(PJRT_Buffer_GetMemoryLayout_Args*);
  PJRT_Error* (*PJRT_Buffer_OnDeviceSizeInBytes)(PJRT_Buffer_OnDeviceSizeInBytes_Args*);
  PJRT_Error* (*PJRT_Buffer_Device)(PJRT_Buffer_Device_Args*);
  PJRT_Error* (*PJRT_Buffer_Memory)(PJRT_Buffer_Memory_Args*);
  PJRT_Error* (*PJRT_Buffer_Delete)(PJRT_Buffer_Delete_Args*);
  PJRT_Error* (*PJRT_Buffer_IsDeleted)(PJRT_Buffer_IsDeleted_Args*);
  PJRT_Error* (*PJRT_Buffer_CopyToDevice)(PJRT_Buffer_CopyToDevice_Args*);
  PJRT_Error* (*PJRT_Buffer_ToHostBuffer)(PJRT_Buffer_ToHostBuffer_Args*);
  PJRT_Error* (*PJRT_Buffer_IsOnCpu)(PJRT_Buffer_IsOnCpu_Args*);
  PJRT_Error* (*PJRT_Buffer_ReadyEvent)(PJRT_Buffer_ReadyEvent_Args*);
  PJRT_Error* (*PJRT_Buffer_UnsafePointer)(PJRT_Buffer_UnsafePointer_Args*);
  PJRT_Error* (*PJRT_Buffer_IncreaseExternalReferenceCount)(
      PJRT_Buffer_IncreaseExternalReferenceCount_Args*);
  PJRT_Error* (*PJRT_Buffer_DecreaseExternalReferenceCount)(
      PJRT_Buffer_DecreaseExternalReferenceCount_Args*);
  PJRT_Error* (*PJRT_Buffer_OpaqueDeviceMemoryDataPointer)(
      PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args*);
  PJRT_Error* (*PJRT_CopyToDeviceStream_Destroy)(PJRT_CopyToDeviceStream_Destroy_Args*);
  PJRT_Error* (*PJRT_CopyToDeviceStream_AddChunk)(PJRT_CopyToDeviceStream_AddChunk_Args*);
  PJRT_Error* (*PJRT_CopyToDeviceStream_TotalBytes)(PJRT_CopyToDeviceStream_TotalBytes_Args*);
  PJRT_Error* (*PJRT_CopyToDeviceStream_GranuleSize)(PJRT_CopyToDeviceStream_GranuleSize_Args*);
  PJRT_Error* (*PJRT_CopyToDeviceStream_CurrentBytes)(PJRT_CopyToDeviceStream_CurrentBytes_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_Create)(PJRT_TopologyDescription_Create_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_Destroy)(PJRT_TopologyDescription_Destroy_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_PlatformName)(PJRT_TopologyDescription_PlatformName_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_PlatformVersion)(
      PJRT_TopologyDescription_PlatformVersion_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_GetDeviceDescriptions)(
      PJRT_TopologyDescription_GetDeviceDescriptions_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_Serialize)(PJRT_TopologyDescription_Serialize_Args*);
  PJRT_Error* (*PJRT_TopologyDescription_Attributes)(PJRT_TopologyDescription_Attributes_Args*);
  PJRT_Error* (*PJRT_Compile)(PJRT_Compile_Args*);
  PJRT_Error* (*PJRT_Executable_OutputElementTypes)(PJRT_Executable_OutputElementTypes_Args*);
  PJRT_Error* (*PJRT_Executable_OutputDimensions)(PJRT_Executable_OutputDimensions_Args*);
  PJRT_Error* (*PJRT_Buffer_CopyToMemory)(PJRT_Buffer_CopyToMemory_Args*);
  PJRT_Error* (*PJRT_Client_CreateViewOfDeviceBuffer)(PJRT_Client_CreateViewOfDeviceBuffer_Args*);
  PJRT_Error* (*PJRT_Executable_Fingerprint)(PJRT_Executable_Fingerprint_Args*);
  PJRT_Error* (*PJRT_Client_TopologyDescription)(PJRT_Client_TopologyDescription_Args*);
  PJRT_Error* (*PJRT_Executable_GetCompiledMemoryStats)(
      PJRT_Executable_GetCompiledMemoryStats_Args*);
  PJRT_Error* (*PJRT_Memory_Kind_Id)(PJRT_Memory_Kind_Id_Args*);
  PJRT_Error* (*PJRT_ExecuteContext_Create)(PJRT_ExecuteContext_Create_Args*);
  PJRT_Error* (*PJRT_ExecuteContext_Destroy)(PJRT_ExecuteContext_Destroy_Args*);
  PJRT_Error* (*PJRT_Buffer_CopyRawToHost)(PJRT_Buffer_CopyRawToHost_Args*);
  // since 0.60
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_Destroy)(
      PJRT_AsyncHostToDeviceTransferManager_Destroy_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_TransferData)(
      PJRT_AsyncHostToDeviceTransferManager_TransferData_Args*);
  PJRT_Error* (*PJRT_Client_CreateBuffersForAsyncHostToDevice)(
      PJRT_Client_CreateBuffersForAsyncHostToDevice_Args*);
  // since 0.62
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer)(
      PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_Device)(
      PJRT_AsyncHostToDeviceTransferManager_Device_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_BufferCount)(
      PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_BufferSize)(
      PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_SetBufferError)(
      PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args*);
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_AddMetadata)(
      PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args*);
  // since 0.67
  PJRT_Error* (*PJRT_Client_DmaMap)(PJRT_Client_DmaMap_Args*);
  PJRT_Error* (*PJRT_Client_DmaUnmap)(PJRT_Client_DmaUnmap_Args*);
  // since 0.69
  PJRT_Error* (*PJRT_Client_CreateUninitializedBuffer)(PJRT_Client_CreateUninitializedBuffer_Args*);
  // since 0.73
  PJRT_Error* (*PJRT_Client_UpdateGlobalProcessInfo)(PJRT_Client_UpdateGlobalProcessInfo_Args*);
  // since 0.75
  PJRT_Error* (*PJRT_TopologyDescription_Deserialize)(PJRT_TopologyDescription_Deserialize_Args*);
  // since 0.77
  PJRT_Error* (*PJRT_Client_CreateAliasBuffer)(PJRT_Client_CreateAliasBuffer_Args*);
  PJRT_Error* (*PJRT_Client_FulfillAliasBuffer)(PJRT_Client_FulfillAliasBuffer_Args*);
  // since 0.79
  PJRT_Error* (*PJRT_LoadedExecutable_GetDeviceAssignment)(
      PJRT_LoadedExecutable_GetDeviceAssignment_Args*);
  // since 0.82
  PJRT_Error* (*PJRT_Client_CreateErrorBuffer)(PJRT_Client_CreateErrorBuffer_Args*);
  // since 0.83
  PJRT_Error* (*PJRT_AsyncHostToDeviceTransferManager_TransferLiteral)(
      PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args*);
  // since 0.84
  PJRT_Error* (*PJRT_Buffer_CopyRawToHostFuture)(PJRT_Buffer_CopyRawToHostFuture_Args*);
  // since 0.85
  PJRT_Error* (*PJRT_Device_PoisonExecution)(PJRT_Device_PoisonExecution_Args*);
  // since 0.86
  PJRT_Error* (*PJRT_Device_CreateAsyncTrackingEvent)(PJRT_Device_CreateAsyncTrackingEvent_Args*);
  PJRT_Error* (*PJRT_AsyncTrackingEvent_Destroy)(PJRT_AsyncTrackingEvent_Destroy_Args*);
  // since 0.87
  PJRT_Error* (*PJRT_Executable_GetCompileOptions)(PJRT_Executable_GetCompileOptions_Args*);
  // since 0.88
  PJRT_Error* (*PJRT_Buffer_DonateWithControlDependency)(
      PJRT_Buffer_DonateWithControlDependency_Args*);
  // since 0.89
  PJRT_Error* (*PJRT_Event_Create)(PJRT_Event_Create_Args*);
  PJRT_Error* (*PJRT_Event_Set)(PJRT_Event_Set_Args*);
  // since 0.92
  PJRT_Error* (*PJRT_Device_GetAttributes)(PJRT_Device_GetAttributes_Args*);
  // since 0.95
  PJRT_Error* (*PJRT_Client_Load)(PJRT_Client_Load_Args*);
  // since 0.96
  PJRT_Error* (*PJRT_LoadedExecutable_AddressableDeviceLogicalIds)(
      PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args*);
  // since 0.98
  PJRT_Error* (*PJRT_Buffer_Bitcast)(PJRT_Buffer_Bitcast_Args*);
  // since 0.99
  PJRT_Error* (*PJRT_Error_ForEachPayload)(PJRT_Error_ForEachPayload_Args*);
  // since 0.101
  PJRT_Error* (*PJRT_TopologyDescription_Fingerprint)(PJRT_TopologyDescription_Fingerprint_Args*);
  // since 0.102
  PJRT_Error* (*PJRT_Executable_ParameterMemoryKinds)(PJRT_Executable_ParameterMemoryKinds_Args*);
  // since 0.106
  PJRT_Error* (*PJRT_Device_ClearMemoryStats)(PJRT_Device_ClearMemoryStats_Args*);
  // since 0.109
  PJRT_Error* (*PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace)(
      PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args*);
  // since 0.110
  PJRT_Error* (*PJRT_TopologyDescription_GetMemorySpaceKindIds)(
      PJRT_TopologyDescription_GetMemorySpaceKindIds_Args*);
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Api, PJRT_TopologyDescription_GetMemorySpaceKindIds);

// NOLINTEND(readability-identifier-naming)

namespace precast::pjrt {

// The one symbol a plugin exports, and its type.
inline constexpr char kEntryPoint[] = "GetPjrtApi";
using EntryPoint = const PJRT_Api* (*)();

}  // namespace precast::pjrt
