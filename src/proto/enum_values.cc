#include "proto/enum_values.h"

#include <algorithm>
#include <array>
#include <span>

namespace precast::proto {
namespace {

struct Value {
  std::string_view name;
  std::int32_t number;
};

// A name and its number count as one value, so only pairs that never changed may stand here. Each
// pair was compared over every month of XLA's xla.proto from June 2024 to August 2026. Left out:
// xla_gpu_enable_command_buffer, whose values were numbered anew in that time, beyond its first
// four, and xla_gpu_experimental_autotune_backends, which changed its enumeration. A name that is
// missing costs a second compile for who writes both the name and the number, never a wrong hit.
constexpr Value kAutotuneCacheMode[] = {{"AUTOTUNE_CACHE_MODE_UNSPECIFIED", 0},
                                        {"AUTOTUNE_CACHE_MODE_UPDATE", 1},
                                        {"AUTOTUNE_CACHE_MODE_READ", 2}};
constexpr Value kCollectiveKernel[] = {{"COLLECTIVE_KERNEL_INVALID", 0},
                                       {"COLLECTIVE_KERNEL_ALL_REDUCE", 1},
                                       {"COLLECTIVE_KERNEL_ALL_GATHER", 2}};
constexpr Value kCollectiveOp[] = {{"NOOP", 0},           {"ALLREDUCE", 1},
                                   {"ALLGATHER", 2},      {"REDUCESCATTER", 3},
                                   {"ALLTOALL", 5},       {"COLLECTIVEPERMUTE", 6},
                                   {"RAGGEDALLTOALL", 7}, {"COLLECTIVEBROADCAST", 4},
                                   {"ALLCOLLECTIVES", 8}};
constexpr Value kCollectivePipelining[] = {{"COLLECTIVE_PIPELINING_MODE_DEFAULT", 0},
                                           {"COLLECTIVE_PIPELINING_MODE_OFF", 1},
                                           {"COLLECTIVE_PIPELINING_MODE_ON", 2},
                                           {"COLLECTIVE_PIPELINING_MODE_EXPLICIT", 3}};
constexpr Value kCollectivesMode[] = {{"COLLECTIVES_MODE_INVALID", 0},
                                      {"COLLECTIVES_PRIVATE_MEMORY", 1},
                                      {"COLLECTIVES_SYMMETRIC_MEMORY", 2},
                                      {"COLLECTIVES_PEER_MEMORY", 3}};
constexpr Value kCommandBufferCmd[] = {
    {"FUSION", 1}, {"CUBLAS", 2}, {"CUDNN", 3}, {"COLLECTIVES", 4}};
constexpr Value kCommandBufferScheduling[] = {
    {"SERIALIZE", 0}, {"CONCURRENT", 1}, {"LHS", 2}, {"CONCURRENT_REGIONS", 3}};
constexpr Value kCommandBufferUpdate[] = {{"ALWAYS_UPDATE", 0}, {"SKIP_PROFILED", 2}};
constexpr Value kCpuOptPreset[] = {{"CPU_OPT_PRESET_DEFAULT", 0},
                                   {"CPU_OPT_PRESET_FAST_RUNTIME", 1},
                                   {"CPU_OPT_PRESET_FAST_COMPILE", 2}};
constexpr Value kCpuScheduler[] = {{"CPU_SCHEDULER_TYPE_DEFAULT", 0},
                                   {"CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED", 1},
                                   {"CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED", 2}};
constexpr Value kCudnnDeviceless[] = {{"CUDNN_DEVICELESS_COMPILATION_UNSET", 0},
                                      {"CUDNN_DEVICELESS_COMPILATION_DISABLED", 1},
                                      {"CUDNN_DEVICELESS_COMPILATION_AUTO", 2},
                                      {"CUDNN_DEVICELESS_COMPILATION_ALWAYS", 3}};
constexpr Value kDetectionMode[] = {{"DETECTION_MODE_NONE", 0},
                                    {"DETECTION_MODE_WARNING", 1},
                                    {"DETECTION_MODE_FAIL", 2},
                                    {"DETECTION_MODE_DUMP", 3}};
constexpr Value kDevicelessCub[] = {{"DEVICELESS_CUB_UNSET", 0},
                                    {"DEVICELESS_CUB_DISABLED", 1},
                                    {"DEVICELESS_CUB_WITH_FALLBACK", 2},
                                    {"DEVICELESS_CUB_NO_FALLBACK", 3},
                                    {"DEVICELESS_CUB_FORCE_ON_NO_FALLBACK", 4}};
constexpr Value kLibraryFusion[] = {
    {"LIBRARY_FUSION_TYPE_INVALID", 0},        {"LIBRARY_FUSION_TYPE_DOT", 1},
    {"LIBRARY_FUSION_TYPE_ELTWISE", 2},        {"LIBRARY_FUSION_TYPE_REDUCE", 3},
    {"LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT", 4}, {"LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION", 5}};
constexpr Value kLibNvJitLink[] = {{"LIB_NV_JIT_LINK_MODE_AUTO", 0},
                                   {"LIB_NV_JIT_LINK_MODE_DISABLED", 1},
                                   {"LIB_NV_JIT_LINK_MODE_ENABLED", 2}};
constexpr Value kPartitioning[] = {{"PARTITIONING_ALGORITHM_NOOP", 0},
                                   {"PARTITIONING_ALGORITHM_EXP0", 1},
                                   {"PARTITIONING_ALGORITHM_EXP1", 2},
                                   {"PARTITIONING_ALGORITHM_EXP2", 3}};
constexpr Value kPgleStrictness[] = {{"PGLE_STRICTNESS_LEVEL_OFF", 0},
                                     {"PGLE_STRICTNESS_LEVEL_WARN", 1},
                                     {"PGLE_STRICTNESS_LEVEL_ERROR", 2}};
constexpr Value kPipelineParallelism[] = {{"PIPELINE_PARALLELISM_OPT_LEVEL_DISABLE", 0},
                                          {"PIPELINE_PARALLELISM_OPT_LEVEL_ENABLE", 1}};
constexpr Value kShapeChecks[] = {{"IGNORE", 0}, {"RUNTIME", 1}, {"COMPILE_TIME", 2}};
constexpr Value kStepMarker[] = {{"STEP_MARK_AT_ENTRY", 0},
                                 {"STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP", 1},
                                 {"STEP_MARK_AT_SECOND_LEVEL_WHILE_LOOP", 3},
                                 {"STEP_MARK_NONE", 2}};
constexpr Value kWhileLoopUnrolling[] = {{"WHILE_LOOP_UNROLLING_NO_UNROLL", 0},
                                         {"WHILE_LOOP_UNROLLING_DOUBLE_BUFFER", 1},
                                         {"WHILE_LOOP_UNROLLING_FULL_UNROLL", 2},
                                         {"WHILE_LOOP_UNROLLING_AUTO_UNROLL", 3},
                                         {"WHILE_LOOP_UNROLLING_MANUAL_UNROLL", 4}};
constexpr Value kXnnGraphFusion[] = {{"XNN_GRAPH_FUSION_MODE_DISABLED", 0},
                                     {"XNN_GRAPH_FUSION_MODE_GREEDY", 1},
                                     {"XNN_GRAPH_FUSION_MODE_GREEDY_SLINKY", 2},
                                     {"XNN_GRAPH_FUSION_MODE_BYPASS_COST_MODEL", 3}};

struct OptionValues {
  std::string_view option;
  std::span<const Value> values;
};

constexpr auto kOptionValues = std::to_array<OptionValues>({
    {"xla_cpu_experimental_onednn_fusion_type", kLibraryFusion},
    {"xla_cpu_experimental_xnn_fusion_type", kLibraryFusion},
    {"xla_cpu_experimental_xnn_graph_fusion_mode", kXnnGraphFusion},
    {"xla_cpu_experimental_ynn_fusion_type", kLibraryFusion},
    {"xla_cpu_opt_preset", kCpuOptPreset},
    {"xla_cpu_scheduler_type", kCpuScheduler},
    {"xla_detect_unstable_reductions", kDetectionMode},
    {"xla_detect_unstable_reductions_post_optimizations", kDetectionMode},
    {"xla_gpu_all_gather_mode", kCollectivesMode},
    {"xla_gpu_collective_permute_mode", kCollectivesMode},
    {"xla_gpu_command_buffer_scheduling_mode", kCommandBufferScheduling},
    {"xla_gpu_command_buffer_update_mode", kCommandBufferUpdate},
    {"xla_gpu_cudnn_deviceless_compilation_mode", kCudnnDeviceless},
    {"xla_gpu_detect_inf", kDetectionMode},
    {"xla_gpu_detect_nan", kDetectionMode},
    {"xla_gpu_deviceless_cub_mode", kDevicelessCub},
    {"xla_gpu_disable_async_collectives", kCollectiveOp},
    {"xla_gpu_enable_collectives_command_buffer_filter", kCollectiveOp},
    {"xla_gpu_enable_command_buffer", kCommandBufferCmd},
    {"xla_gpu_enable_while_loop_unrolling", kWhileLoopUnrolling},
    {"xla_gpu_experimental_autotune_cache_mode", kAutotuneCacheMode},
    {"xla_gpu_experimental_pipeline_parallelism_opt_level", kPipelineParallelism},
    {"xla_gpu_experimental_use_collective_kernels", kCollectiveKernel},
    {"xla_gpu_libnvjitlink_mode", kLibNvJitLink},
    {"xla_gpu_pgle_accuracy_checker", kPgleStrictness},
    {"xla_gpu_pipeline_all_gather", kCollectivePipelining},
    {"xla_gpu_pipeline_all_reduce", kCollectivePipelining},
    {"xla_gpu_pipeline_reduce_scatter", kCollectivePipelining},
    {"xla_gpu_ragged_all_to_all_mode", kCollectivesMode},
    {"xla_gpu_shape_checks", kShapeChecks},
    {"xla_partitioning_algorithm", kPartitioning},
    {"xla_step_marker_location", kStepMarker},
});
static_assert(std::ranges::is_sorted(kOptionValues, {}, &OptionValues::option));

}  // namespace

std::optional<std::int32_t> enum_value(std::string_view option, std::string_view name) {
  const auto found = std::ranges::lower_bound(kOptionValues, option, {}, &OptionValues::option);
  if (found == kOptionValues.end() || found->option != option) return std::nullopt;
  const auto value = std::ranges::find(found->values, name, &Value::name);
  if (value == found->values.end()) return std::nullopt;
  return value->number;
}

}  // namespace precast::proto
