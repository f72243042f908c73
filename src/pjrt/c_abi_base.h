// The words every part of the PJRT C ABI uses: versions, the extension chain, named values,
// handles, enumerations.
//
// The names are the ABI's own, global, and spelled as PJRT spells them. The layouts are those of
// PJRT 0.114 on LP64, written down from published figures; c_abi_check.cc holds every offset to
// them at compile time. New versions of PJRT only append fields, and functions at the end of
// PJRT_Api, so that the layouts serve newer and older plugins.

#pragma once

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

// The version these declarations were written for. A plugin's own version stands in
// PJRT_Api::pjrt_api_version.
inline constexpr int PJRT_API_MAJOR = 0;
inline constexpr int PJRT_API_MINOR = 114;

namespace precast::pjrt {

// The size of an ABI struct as PJRT counts it: the end of its last field, without the padding that
// sizeof adds. A plugin refuses an args struct whose `struct_size` is smaller than what it knows.
template <typename Struct>
extern const std::size_t kStructSize;

}  // namespace precast::pjrt

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): offsetof takes a member's name.
#define PRECAST_PJRT_STRUCT_SIZE(type, last_field)                \
  template <>                                                     \
  inline constexpr std::size_t precast::pjrt::kStructSize<type> = \
      offsetof(type, last_field) + sizeof(type::last_field)

// Handles. Only the plugin knows what is inside.
struct PJRT_AsyncHostToDeviceTransferManager;
struct PJRT_AsyncTrackingEvent;
struct PJRT_Buffer;
struct PJRT_Client;
struct PJRT_CopyToDeviceStream;
struct PJRT_Device;
struct PJRT_Device_Attributes;
struct PJRT_DeviceAssignmentSerialized;
struct PJRT_DeviceDescription;
struct PJRT_Event;
struct PJRT_Executable;
struct PJRT_ExecuteContext;
struct PJRT_FulfillAliasBufferCallback;
struct PJRT_LoadedExecutable;
struct PJRT_MultiSlice_Config;
struct PJRT_SerializedCompileOptions;
struct PJRT_SerializedExecutable;
struct PJRT_SerializedTopology;
struct PJRT_TopologyDescription;

// Since 0.105 (PJRT_Memory) and 0.107 (PJRT_Error) a plugin puts a table of functions first in
// these two. Callers go on treating them as opaque; who implements a plugin fills the table
// (c_abi_event.h, c_abi_device.h).
struct PJRT_Error;
struct PJRT_Memory;

// A function pointer whose arguments nothing here depends on.
using PJRT_UntypedFunction = void (*)();

enum PJRT_Error_Code : int {
  PJRT_Error_Code_OK = 0,
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN = 2,
  PJRT_Error_Code_INVALID_ARGUMENT = 3,
  PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
  PJRT_Error_Code_NOT_FOUND = 5,
  PJRT_Error_Code_ALREADY_EXISTS = 6,
  PJRT_Error_Code_PERMISSION_DENIED = 7,
  PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
  PJRT_Error_Code_FAILED_PRECONDITION = 9,
  PJRT_Error_Code_ABORTED = 10,
  PJRT_Error_Code_OUT_OF_RANGE = 11,
  PJRT_Error_Code_UNIMPLEMENTED = 12,
  PJRT_Error_Code_INTERNAL = 13,
  PJRT_Error_Code_UNAVAILABLE = 14,
  PJRT_Error_Code_DATA_LOSS = 15,
  PJRT_Error_Code_UNAUTHENTICATED = 16,
};

enum PJRT_Buffer_Type : int {
  PJRT_Buffer_Type_INVALID = 0,
  PJRT_Buffer_Type_PRED = 1,
  PJRT_Buffer_Type_S8 = 2,
  PJRT_Buffer_Type_S16 = 3,
  PJRT_Buffer_Type_S32 = 4,
  PJRT_Buffer_Type_S64 = 5,
  PJRT_Buffer_Type_U8 = 6,
  PJRT_Buffer_Type_U16 = 7,
  PJRT_Buffer_Type_U32 = 8,
  PJRT_Buffer_Type_U64 = 9,
  PJRT_Buffer_Type_F16 = 10,
  PJRT_Buffer_Type_F32 = 11,
  PJRT_Buffer_Type_F64 = 12,
  PJRT_Buffer_Type_BF16 = 13,
  PJRT_Buffer_Type_C64 = 14,
  PJRT_Buffer_Type_C128 = 15,
  PJRT_Buffer_Type_F8E5M2 = 16,
  PJRT_Buffer_Type_F8E4M3FN = 17,
  PJRT_Buffer_Type_F8E4M3B11FNUZ = 18,
  PJRT_Buffer_Type_F8E5M2FNUZ = 19,
  PJRT_Buffer_Type_F8E4M3FNUZ = 20,
  PJRT_Buffer_Type_S4 = 21,
  PJRT_Buffer_Type_U4 = 22,
  PJRT_Buffer_Type_TOKEN = 23,
  PJRT_Buffer_Type_S2 = 24,
  PJRT_Buffer_Type_U2 = 25,
  PJRT_Buffer_Type_F8E4M3 = 26,
  PJRT_Buffer_Type_F8E3M4 = 27,
  PJRT_Buffer_Type_F8E8M0FNU = 28,
  PJRT_Buffer_Type_F4E2M1FN = 29,
  PJRT_Buffer_Type_S1 = 30,
  PJRT_Buffer_Type_U1 = 31,
  PJRT_Buffer_Type_F6E2M3FN = 32,
  PJRT_Buffer_Type_F6E3M2FN = 33,
};

enum PJRT_HostBufferSemantics : int {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
  PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
  PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
};

enum PJRT_NamedValue_Type : int {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64 = 1,
  PJRT_NamedValue_kInt64List = 2,
  PJRT_NamedValue_kFloat = 3,
  PJRT_NamedValue_kBool = 4,
};

enum PJRT_ProcessState : int {
  PJRT_ProcessState_kUnspecified = 0,
  PJRT_ProcessState_kUninitialized = 1,
  PJRT_ProcessState_kDisconnected = 2,
  PJRT_ProcessState_kConnected = 3,
  PJRT_ProcessState_kError = 4,
};

// Kinds of PJRT_Extension_Base. The chain starts at PJRT_Api::extension_start; its order means
// nothing.
enum PJRT_Extension_Type : int {
  PJRT_Extension_Type_Gpu_Custom_Call = 0,
  PJRT_Extension_Type_Profiler = 1,
  PJRT_Extension_Type_Custom_Partitioner = 2,
  PJRT_Extension_Type_Stream = 3,
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_MemoryDescriptions = 6,
  PJRT_Extension_Type_Triton = 7,
  PJRT_Extension_Type_RawBuffer = 8,
  PJRT_Extension_Type_PhaseCompile = 9,
  PJRT_Extension_Type_Example = 10,
  PJRT_Extension_Type_Unknown = 11,
  PJRT_Extension_Type_CrossHostTransfers = 12,
  PJRT_Extension_Type_ExecutableMetadata = 13,
  PJRT_Extension_Type_Callback = 14,
  PJRT_Extension_Type_HostAllocator = 15,
  PJRT_Extension_Type_TpuTopology = 16,
  PJRT_Extension_Type_TpuExecutable = 17,
  PJRT_Extension_Type_Megascale = 18,
  PJRT_Extension_Type_Shardings = 19,
  PJRT_Extension_Type_AbiVersion = 20,
  PJRT_Extension_Type_Collectives = 21,
  PJRT_Extension_Type_MultiSlice = 22,
  PJRT_Extension_Type_HostMemoryAllocator = 23,
  PJRT_Extension_Type_XlaTransform = 24,
};

struct PJRT_Extension_Base {
  size_t struct_size;
  PJRT_Extension_Type type;
  PJRT_Extension_Base* next;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Extension_Base, next);

struct PJRT_Api_Version {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  int major_version;  // out
  int minor_version;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Api_Version, minor_version);

// One attribute or option. `value_size` is the length of a string or list, and 1 for scalars.
struct PJRT_NamedValue {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* name;
  size_t name_size;
  PJRT_NamedValue_Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_NamedValue, value_size);

// Makes an error on PJRT's side. Callbacks create their errors with it and never by hand.
using PJRT_CallbackError = PJRT_Error* (*)(PJRT_Error_Code code, const char* message,
                                           size_t message_size);

// NOLINTEND(readability-identifier-naming)
