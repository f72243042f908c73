#include "proto/flag_rules.h"

#include <algorithm>
#include <array>

#include "proto/xla_options.h"

namespace precast::proto {
namespace {

struct SpecialFlag {
  std::string_view name;
  FlagKind kind;
  std::string_view group;  // empty: the name
};

// Flags that are no options, or do not behave as their option's type says. A change of this table
// or of kind_of() raises kFlagRulesVersion.
constexpr auto kSpecialFlags = std::to_array<SpecialFlag>({
    // Two flags for one field: the older one is a boolean and writes one of two values.
    {"xla_cpu_enable_concurrency_optimized_scheduler", FlagKind::boolean, "xla_cpu_scheduler_type"},
    {"xla_cpu_experimental_xnn_graph_fusion_mode", FlagKind::upper_text, ""},
    {"xla_cpu_max_isa", FlagKind::upper_text, ""},
    {"xla_cpu_opt_preset", FlagKind::upper_text, ""},
    // Taken and without effect.
    {"xla_cpu_use_thunk_runtime", FlagKind::boolean, ""},
    // How often a pass may change the program: not an option, and changes code.
    {"xla_fuel", FlagKind::text, ""},
    {"xla_gpu_all_gather_mode", FlagKind::lower_text, ""},
    {"xla_gpu_collective_permute_mode", FlagKind::lower_text, ""},
    {"xla_gpu_enable_cudnn_fmha", FlagKind::boolean, ""},
    {"xla_gpu_enable_libnvjitlink", FlagKind::boolean, "xla_gpu_libnvjitlink_mode"},
    {"xla_gpu_enable_pipelined_all_gather", FlagKind::boolean, "xla_gpu_pipeline_all_gather"},
    {"xla_gpu_enable_pipelined_all_reduce", FlagKind::boolean, "xla_gpu_pipeline_all_reduce"},
    {"xla_gpu_enable_pipelined_reduce_scatter", FlagKind::boolean,
     "xla_gpu_pipeline_reduce_scatter"},
    {"xla_gpu_enable_triton_gemm_int4", FlagKind::boolean, ""},
    {"xla_gpu_enable_while_loop_unrolling", FlagKind::upper_text, ""},
    // Flags that are named otherwise than the field they write.
    {"xla_gpu_executable_terminate_timeout", FlagKind::int32,
     "xla_gpu_executable_terminate_timeout_seconds"},
    {"xla_gpu_executable_warn_stuck_timeout", FlagKind::int32,
     "xla_gpu_executable_warn_stuck_timeout_seconds"},
    {"xla_gpu_experimental_thunk_buffer_debug_filter_by_profile_annotation_re",
     FlagKind::comma_list, ""},
    {"xla_gpu_experimental_thunk_buffer_debug_filter_by_thunk_id_ranges", FlagKind::comma_list, ""},
    {"xla_gpu_graph_enable_concurrent_region", FlagKind::boolean,
     "xla_gpu_command_buffer_scheduling_mode"},
    {"xla_gpu_llvm_ir_file", FlagKind::whole_list, ""},
    {"xla_gpu_pipeline_all_gather", FlagKind::lower_text, ""},
    {"xla_gpu_pipeline_all_reduce", FlagKind::lower_text, ""},
    {"xla_gpu_pipeline_reduce_scatter", FlagKind::lower_text, ""},
    {"xla_gpu_ptx_compiler_extra_flags", FlagKind::word_list, ""},
    {"xla_gpu_ptx_file", FlagKind::whole_list, ""},
    {"xla_gpu_ragged_all_to_all_mode", FlagKind::lower_text, ""},
    {"xla_gpu_strict_conv_algorithm_picker", FlagKind::boolean, ""},
    // Adds one kernel to the list, or takes it away.
    {"xla_gpu_unsupported_use_all_reduce_one_shot_kernel", FlagKind::boolean,
     "xla_gpu_experimental_use_collective_kernels"},
    {"xla_cpu_collective_call_warn_stuck_timeout_seconds", FlagKind::int32,
     "xla_cpu_collective_call_warn_stuck_seconds"},
});

constexpr auto kSorted = [] {
  auto sorted = kSpecialFlags;
  std::ranges::sort(sorted, {}, &SpecialFlag::name);
  return sorted;
}();
static_assert(std::ranges::adjacent_find(kSorted, {}, &SpecialFlag::name) == kSorted.end());

FlagKind kind_of(OptionType type) {
  switch (type) {
    case OptionType::boolean: return FlagKind::boolean;
    case OptionType::int32: return FlagKind::int32;
    case OptionType::int64: return FlagKind::int64;
    case OptionType::float32: return FlagKind::float32;
    // Flags of enumerations take names only, and most of them in exact case.
    case OptionType::text:
    case OptionType::enumeration: return FlagKind::text;
    case OptionType::text_list: return FlagKind::comma_list;
    case OptionType::enumeration_list: return FlagKind::modified_list;
    case OptionType::message_list: return FlagKind::whole_list;
    case OptionType::text_map: return FlagKind::text_map;
  }
  return FlagKind::whole_list;
}

}  // namespace

std::optional<FlagRule> find_flag_rule(std::string_view name) {
  const auto special = std::ranges::lower_bound(kSorted, name, {}, &SpecialFlag::name);
  if (special != kSorted.end() && special->name == name) {
    return FlagRule{special->kind, special->group.empty() ? special->name : special->group};
  }
  const XlaOption* option = find_option(name);
  if (option == nullptr) return std::nullopt;
  return FlagRule{kind_of(option->type), option->name};
}

}  // namespace precast::proto
