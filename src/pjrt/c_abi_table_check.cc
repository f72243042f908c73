// Holds the order of PJRT_Api to the published table of PJRT 0.114: member k stands at 40 + 8 k.
// Nothing here runs.

#include <cstddef>

#include "pjrt/c_abi.h"

namespace precast::pjrt {
namespace {

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
