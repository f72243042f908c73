// Field numbers of the XLA messages that Precast reads (August 2026). Protobuf never renumbers.
#pragma once

#include <cstdint>

namespace precast::proto {

namespace compile_options {  // xla.CompileOptionsProto
inline constexpr std::uint32_t kArgumentLayouts = 1;
inline constexpr std::uint32_t kParameterIsTupledArguments = 2;
inline constexpr std::uint32_t kExecutableBuildOptions = 3;
inline constexpr std::uint32_t kCompilePortableExecutable = 4;
inline constexpr std::uint32_t kProfileVersion = 5;
inline constexpr std::uint32_t kSerializedMultiSliceConfig = 6;
inline constexpr std::uint32_t kEnvOptionOverrides = 7;
inline constexpr std::uint32_t kTargetConfig = 8;
inline constexpr std::uint32_t kAllowInPlaceMlirModification = 9;
inline constexpr std::uint32_t kMatrixUnitOperandPrecision = 10;
inline constexpr std::uint32_t kCompilerVariant = 11;
}  // namespace compile_options

namespace build_options {  // xla.ExecutableBuildOptionsProto
inline constexpr std::uint32_t kDeviceOrdinal = 1;
inline constexpr std::uint32_t kResultLayout = 2;
inline constexpr std::uint32_t kDebugOptions = 3;
inline constexpr std::uint32_t kNumReplicas = 4;
inline constexpr std::uint32_t kNumPartitions = 5;
inline constexpr std::uint32_t kUseSpmdPartitioning = 6;
inline constexpr std::uint32_t kUseAutoSpmdPartitioning = 7;
inline constexpr std::uint32_t kDeduplicateHlo = 8;
inline constexpr std::uint32_t kDeviceAssignment = 9;
inline constexpr std::uint32_t kAliasPassthroughParams = 10;
inline constexpr std::uint32_t kRunBackendOnly = 11;
inline constexpr std::uint32_t kSpmdPropagationToOutput = 12;
inline constexpr std::uint32_t kCompEnvs = 13;
inline constexpr std::uint32_t kFdoProfile = 14;
inline constexpr std::uint32_t kDeviceMemorySize = 15;
inline constexpr std::uint32_t kAutoSpmdMeshShape = 16;
inline constexpr std::uint32_t kAutoSpmdMeshIds = 17;
inline constexpr std::uint32_t kSpmdPropagationToParameters = 18;
inline constexpr std::uint32_t kUseShardyPartitioner = 19;
inline constexpr std::uint32_t kExecTimeOptimizationEffort = 20;
inline constexpr std::uint32_t kMemoryFittingEffort = 21;
inline constexpr std::uint32_t kProcessIndex = 22;
inline constexpr std::uint32_t kProcessCount = 23;
inline constexpr std::uint32_t kOptimizationLevel = 24;
inline constexpr std::uint32_t kMemoryFittingLevel = 25;
inline constexpr std::uint32_t kGpuTopology = 27;
}  // namespace build_options

namespace executable_and_options {  // xla.ExecutableAndOptionsProto
inline constexpr std::uint32_t kSerializedExecutable = 1;
inline constexpr std::uint32_t kCompileOptions = 2;
inline constexpr std::uint32_t kClientName = 3;
}  // namespace executable_and_options

namespace compilation_result {  // xla.cpu.CompilationResultProto
inline constexpr std::uint32_t kHloModule = 1;
inline constexpr std::uint32_t kTargetMachineOptions = 9;
}  // namespace compilation_result

namespace module_with_config {  // xla.HloModuleProtoWithConfig
inline constexpr std::uint32_t kModule = 1;
inline constexpr std::uint32_t kConfig = 2;
}  // namespace module_with_config

namespace module_config {  // xla.HloModuleConfigProto
inline constexpr std::uint32_t kDebugOptions = 14;
}  // namespace module_config

namespace map_entry {  // any map
inline constexpr std::uint32_t kKey = 1;
inline constexpr std::uint32_t kValue = 2;
}  // namespace map_entry

namespace option_override {  // xla.OptionOverrideProto, a oneof
inline constexpr std::uint32_t kText = 1;
inline constexpr std::uint32_t kBool = 2;
inline constexpr std::uint32_t kInt = 3;
inline constexpr std::uint32_t kDouble = 4;
}  // namespace option_override

namespace device_assignment {  // xla.DeviceAssignmentProto
inline constexpr std::uint32_t kReplicaCount = 1;
inline constexpr std::uint32_t kComputationCount = 2;
inline constexpr std::uint32_t kComputationDevices = 3;
inline constexpr std::uint32_t kReplicaDeviceIds = 1;  // of a ComputationDevice
}  // namespace device_assignment

}  // namespace precast::proto
