// PJRT C ABI: topologies and compiling for one without a client. Fields marked "out" are written by
// the plugin.

#pragma once

#include "pjrt/c_abi_base.h"
#include "pjrt/c_abi_buffer.h"
#include "pjrt/c_abi_client.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

struct PJRT_TopologyDescription_Create_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* topology_name;
  size_t topology_name_size;
  const PJRT_NamedValue* create_options;
  size_t num_options;
  PJRT_TopologyDescription* topology;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Create_Args, topology);

struct PJRT_TopologyDescription_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_TopologyDescription* topology;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Destroy_Args, topology);

struct PJRT_TopologyDescription_PlatformVersion_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_TopologyDescription* topology;
  const char* platform_version;  // out
  size_t platform_version_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_PlatformVersion_Args, platform_version_size);

struct PJRT_TopologyDescription_PlatformName_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  const char* platform_name;  // out
  size_t platform_name_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_PlatformName_Args, platform_name_size);

struct PJRT_TopologyDescription_GetDeviceDescriptions_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  PJRT_DeviceDescription* const* descriptions;  // out
  size_t num_descriptions;                      // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_GetDeviceDescriptions_Args, num_descriptions);

struct PJRT_TopologyDescription_Serialize_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_TopologyDescription* topology;
  const char* serialized_bytes;                                            // out
  size_t serialized_bytes_size;                                            // out
  PJRT_SerializedTopology* serialized_topology;                            // out
  void (*serialized_topology_deleter)(PJRT_SerializedTopology* topology);  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Serialize_Args, serialized_topology_deleter);

struct PJRT_TopologyDescription_Deserialize_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* serialized_topology;
  size_t serialized_topology_size;
  PJRT_TopologyDescription* topology;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Deserialize_Args, topology);

struct PJRT_TopologyDescription_Attributes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_TopologyDescription* topology;
  const PJRT_NamedValue* attributes;  // out
  size_t num_attributes;              // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Attributes_Args, num_attributes);

struct PJRT_TopologyDescription_Fingerprint_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  uint64_t fingerprint;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_Fingerprint_Args, fingerprint);

struct PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  int memory_space_kind_id;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
  const PJRT_Buffer_MemoryLayout* layout;
  const char* serialized_shape;                   // out
  size_t serialized_shape_size;                   // out
  PJRT_UntypedFunction serialized_shape_deleter;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args,
                         serialized_shape_deleter);

struct PJRT_TopologyDescription_GetMemorySpaceKindIds_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  const int* memory_space_kind_ids;  // out
  size_t num_memory_space_kind_ids;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args,
                         num_memory_space_kind_ids);

struct PJRT_Compile_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_TopologyDescription* topology;
  const PJRT_Program* program;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_Client* client;
  PJRT_Executable* executable;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Compile_Args, executable);

// NOLINTEND(readability-identifier-naming)
