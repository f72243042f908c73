// The functions of the PJRT table that Precast calls or asks for.
#pragma once

#include "pjrt/c_abi.h"
#include "pjrt/call.h"

namespace precast::pjrt {

inline constexpr Function kPluginInitialize{&PJRT_Api::PJRT_Plugin_Initialize,
                                            "PJRT_Plugin_Initialize"};
inline constexpr Function kPluginAttributes{&PJRT_Api::PJRT_Plugin_Attributes,
                                            "PJRT_Plugin_Attributes"};

inline constexpr Function kEventDestroy{&PJRT_Api::PJRT_Event_Destroy, "PJRT_Event_Destroy"};
inline constexpr Function kEventAwait{&PJRT_Api::PJRT_Event_Await, "PJRT_Event_Await"};

inline constexpr Function kClientCreate{&PJRT_Api::PJRT_Client_Create, "PJRT_Client_Create"};
inline constexpr Function kClientDestroy{&PJRT_Api::PJRT_Client_Destroy, "PJRT_Client_Destroy"};
inline constexpr Function kClientPlatformName{&PJRT_Api::PJRT_Client_PlatformName,
                                              "PJRT_Client_PlatformName"};
inline constexpr Function kClientPlatformVersion{&PJRT_Api::PJRT_Client_PlatformVersion,
                                                 "PJRT_Client_PlatformVersion"};
inline constexpr Function kClientProcessIndex{&PJRT_Api::PJRT_Client_ProcessIndex,
                                              "PJRT_Client_ProcessIndex"};
inline constexpr Function kClientDevices{&PJRT_Api::PJRT_Client_Devices, "PJRT_Client_Devices"};
inline constexpr Function kClientCompile{&PJRT_Api::PJRT_Client_Compile, "PJRT_Client_Compile"};
inline constexpr Function kClientDefaultDeviceAssignment{
    &PJRT_Api::PJRT_Client_DefaultDeviceAssignment, "PJRT_Client_DefaultDeviceAssignment"};
inline constexpr Function kClientBufferFromHostBuffer{&PJRT_Api::PJRT_Client_BufferFromHostBuffer,
                                                      "PJRT_Client_BufferFromHostBuffer"};
inline constexpr Function kClientTopologyDescription{&PJRT_Api::PJRT_Client_TopologyDescription,
                                                     "PJRT_Client_TopologyDescription"};

inline constexpr Function kDeviceDescriptionId{&PJRT_Api::PJRT_DeviceDescription_Id,
                                               "PJRT_DeviceDescription_Id"};
inline constexpr Function kDeviceDescriptionProcessIndex{
    &PJRT_Api::PJRT_DeviceDescription_ProcessIndex, "PJRT_DeviceDescription_ProcessIndex"};
inline constexpr Function kDeviceDescriptionAttributes{&PJRT_Api::PJRT_DeviceDescription_Attributes,
                                                       "PJRT_DeviceDescription_Attributes"};
inline constexpr Function kDeviceDescriptionKind{&PJRT_Api::PJRT_DeviceDescription_Kind,
                                                 "PJRT_DeviceDescription_Kind"};
inline constexpr Function kDeviceDescriptionToString{&PJRT_Api::PJRT_DeviceDescription_ToString,
                                                     "PJRT_DeviceDescription_ToString"};

inline constexpr Function kDeviceGetDescription{&PJRT_Api::PJRT_Device_GetDescription,
                                                "PJRT_Device_GetDescription"};
inline constexpr Function kDeviceIsAddressable{&PJRT_Api::PJRT_Device_IsAddressable,
                                               "PJRT_Device_IsAddressable"};
inline constexpr Function kDeviceLocalHardwareId{&PJRT_Api::PJRT_Device_LocalHardwareId,
                                                 "PJRT_Device_LocalHardwareId"};
inline constexpr Function kDeviceAddressableMemories{&PJRT_Api::PJRT_Device_AddressableMemories,
                                                     "PJRT_Device_AddressableMemories"};

inline constexpr Function kMemoryKind{&PJRT_Api::PJRT_Memory_Kind, "PJRT_Memory_Kind"};

inline constexpr Function kExecutableDestroy{&PJRT_Api::PJRT_Executable_Destroy,
                                             "PJRT_Executable_Destroy"};
inline constexpr Function kExecutableName{&PJRT_Api::PJRT_Executable_Name, "PJRT_Executable_Name"};
inline constexpr Function kExecutableNumReplicas{&PJRT_Api::PJRT_Executable_NumReplicas,
                                                 "PJRT_Executable_NumReplicas"};
inline constexpr Function kExecutableNumPartitions{&PJRT_Api::PJRT_Executable_NumPartitions,
                                                   "PJRT_Executable_NumPartitions"};
inline constexpr Function kExecutableNumOutputs{&PJRT_Api::PJRT_Executable_NumOutputs,
                                                "PJRT_Executable_NumOutputs"};
inline constexpr Function kExecutableGetCostAnalysis{&PJRT_Api::PJRT_Executable_GetCostAnalysis,
                                                     "PJRT_Executable_GetCostAnalysis"};
inline constexpr Function kExecutableOutputMemoryKinds{&PJRT_Api::PJRT_Executable_OutputMemoryKinds,
                                                       "PJRT_Executable_OutputMemoryKinds"};
inline constexpr Function kExecutableParameterMemoryKinds{
    &PJRT_Api::PJRT_Executable_ParameterMemoryKinds, "PJRT_Executable_ParameterMemoryKinds"};
inline constexpr Function kExecutableOptimizedProgram{&PJRT_Api::PJRT_Executable_OptimizedProgram,
                                                      "PJRT_Executable_OptimizedProgram"};
inline constexpr Function kExecutableSerialize{&PJRT_Api::PJRT_Executable_Serialize,
                                               "PJRT_Executable_Serialize"};
inline constexpr Function kExecutableOutputElementTypes{
    &PJRT_Api::PJRT_Executable_OutputElementTypes, "PJRT_Executable_OutputElementTypes"};
inline constexpr Function kExecutableOutputDimensions{&PJRT_Api::PJRT_Executable_OutputDimensions,
                                                      "PJRT_Executable_OutputDimensions"};
inline constexpr Function kExecutableFingerprint{&PJRT_Api::PJRT_Executable_Fingerprint,
                                                 "PJRT_Executable_Fingerprint"};
inline constexpr Function kExecutableGetCompiledMemoryStats{
    &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats, "PJRT_Executable_GetCompiledMemoryStats"};
inline constexpr Function kExecutableGetCompileOptions{&PJRT_Api::PJRT_Executable_GetCompileOptions,
                                                       "PJRT_Executable_GetCompileOptions"};
inline constexpr Function kExecutableDeserializeAndLoad{
    &PJRT_Api::PJRT_Executable_DeserializeAndLoad, "PJRT_Executable_DeserializeAndLoad"};

inline constexpr Function kLoadedExecutableDestroy{&PJRT_Api::PJRT_LoadedExecutable_Destroy,
                                                   "PJRT_LoadedExecutable_Destroy"};
inline constexpr Function kLoadedExecutableGetExecutable{
    &PJRT_Api::PJRT_LoadedExecutable_GetExecutable, "PJRT_LoadedExecutable_GetExecutable"};
inline constexpr Function kLoadedExecutableAddressableDevices{
    &PJRT_Api::PJRT_LoadedExecutable_AddressableDevices,
    "PJRT_LoadedExecutable_AddressableDevices"};
inline constexpr Function kLoadedExecutableExecute{&PJRT_Api::PJRT_LoadedExecutable_Execute,
                                                   "PJRT_LoadedExecutable_Execute"};

inline constexpr Function kBufferDestroy{&PJRT_Api::PJRT_Buffer_Destroy, "PJRT_Buffer_Destroy"};
inline constexpr Function kBufferElementType{&PJRT_Api::PJRT_Buffer_ElementType,
                                             "PJRT_Buffer_ElementType"};
inline constexpr Function kBufferDimensions{&PJRT_Api::PJRT_Buffer_Dimensions,
                                            "PJRT_Buffer_Dimensions"};
inline constexpr Function kBufferGetMemoryLayout{&PJRT_Api::PJRT_Buffer_GetMemoryLayout,
                                                 "PJRT_Buffer_GetMemoryLayout"};
inline constexpr Function kBufferIsDeleted{&PJRT_Api::PJRT_Buffer_IsDeleted,
                                           "PJRT_Buffer_IsDeleted"};
inline constexpr Function kBufferToHostBuffer{&PJRT_Api::PJRT_Buffer_ToHostBuffer,
                                              "PJRT_Buffer_ToHostBuffer"};

inline constexpr Function kTopologyDescriptionSerialize{
    &PJRT_Api::PJRT_TopologyDescription_Serialize, "PJRT_TopologyDescription_Serialize"};
inline constexpr Function kTopologyDescriptionAttributes{
    &PJRT_Api::PJRT_TopologyDescription_Attributes, "PJRT_TopologyDescription_Attributes"};
inline constexpr Function kTopologyDescriptionDeserialize{
    &PJRT_Api::PJRT_TopologyDescription_Deserialize, "PJRT_TopologyDescription_Deserialize"};
inline constexpr Function kTopologyDescriptionDestroy{&PJRT_Api::PJRT_TopologyDescription_Destroy,
                                                      "PJRT_TopologyDescription_Destroy"};
inline constexpr Function kCompile{&PJRT_Api::PJRT_Compile, "PJRT_Compile"};
inline constexpr Function kTopologyDescriptionFingerprint{
    &PJRT_Api::PJRT_TopologyDescription_Fingerprint, "PJRT_TopologyDescription_Fingerprint"};

}  // namespace precast::pjrt
