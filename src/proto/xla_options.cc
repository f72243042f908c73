#include "proto/xla_options.h"

#include <algorithm>
#include <array>

namespace precast::proto {
namespace {

constexpr auto kOptions = std::to_array<XlaOption>({
#include "proto/xla_flags.inc"
});
static_assert(std::ranges::is_sorted(kOptions, {}, &XlaOption::name));

constexpr auto kByNumber = [] {
  auto sorted = kOptions;
  std::ranges::sort(sorted, {}, &XlaOption::number);
  return sorted;
}();
static_assert(std::ranges::adjacent_find(kByNumber, {}, &XlaOption::number) == kByNumber.end());

// Lists of names below are sorted. A change of any of them raises kNeutralOptionsVersion.

// Each option here was looked up where XLA reads it: it decides whether, what, where or in which
// form XLA writes a file or a log line, and nothing else. Not here although the names look like it:
// xla_embed_ir_in_executable and xla_gpu_executable_embed_debug_info (they change the executable),
// xla_hlo_profile and xla_gpu_generate_line_info (they change code), and whatever nobody looked up.
constexpr auto kDumpOptions = std::to_array<std::string_view>({
    // How many buffers a report on memory use lists.
    "xla_debug_buffer_assignment_show_max",
    // A summary in the log after a compile.
    "xla_detailed_logging",
    // What dumps of programs hold, how they are written, and where to: JAX leaves out nearly the
    // same list.
    "xla_dump_buffer_assignment_analysis",
    "xla_dump_compact_gte",
    "xla_dump_compress_protos",
    "xla_dump_disable_metadata",
    "xla_dump_emitter_re",
    "xla_dump_enable_mlir_pretty_form",
    "xla_dump_full_hlo_config",
    "xla_dump_fusion_visualization",
    "xla_dump_hlo_as_dot",
    "xla_dump_hlo_as_html",
    "xla_dump_hlo_as_long_text",
    "xla_dump_hlo_as_proto",
    "xla_dump_hlo_as_riegeli",
    "xla_dump_hlo_as_text",
    "xla_dump_hlo_as_url",
    "xla_dump_hlo_module_re",
    "xla_dump_hlo_pass_re",
    "xla_dump_hlo_pipeline_re",
    // Written at every run, from the process that runs; the code is the same.
    "xla_dump_hlo_snapshots",
    "xla_dump_hlo_to_subfolder",
    "xla_dump_hlo_unoptimized_snapshots",
    "xla_dump_include_timestamp",
    "xla_dump_large_constants",
    // The scheduler records what it did, after it did it.
    "xla_dump_latency_hiding_schedule",
    "xla_dump_max_hlo_modules",
    "xla_dump_module_metadata",
    "xla_dump_to",
    // The switch over all of the above.
    "xla_enable_dumping",
    // What autotuning found, written to files; reading such files is another option.
    "xla_gpu_dump_autotune_logs_to",
    "xla_gpu_dump_autotune_results_to",
    "xla_gpu_dump_autotuned_gemm_fusions",
    "xla_gpu_dump_autotuned_instructions",
    // The GPU compiler's intermediate results.
    "xla_gpu_dump_llvmir",
    "xla_gpu_experimental_dump_fdo_profiles",
    "xla_gpu_experimental_dump_gpu_executable",
});
static_assert(std::ranges::is_sorted(kDumpOptions));

// Read when a client is created and not by a compile (measured on the CPU plugin; JAX leaves it out
// everywhere). The number of devices itself is in the placement.
constexpr auto kClientOptions = std::to_array<std::string_view>({
    "xla_force_host_platform_device_count",
});
static_assert(std::ranges::is_sorted(kClientOptions));

}  // namespace

std::string_view to_string(OptionType type) {
  switch (type) {
    case OptionType::boolean: return "boolean";
    case OptionType::int32: return "32-bit integer";
    case OptionType::int64: return "64-bit integer";
    case OptionType::float32: return "number";
    case OptionType::text: return "text";
    case OptionType::enumeration: return "enumeration";
    case OptionType::text_list: return "list of texts";
    case OptionType::enumeration_list: return "list of enumeration values";
    case OptionType::message_list: return "list of messages";
    case OptionType::text_map: return "map of texts";
  }
  return "unknown";
}

const XlaOption* find_option(std::string_view name) {
  const auto found = std::ranges::lower_bound(kOptions, name, {}, &XlaOption::name);
  return found != kOptions.end() && found->name == name ? &*found : nullptr;
}

const XlaOption* find_option(std::uint32_t number) {
  const auto found = std::ranges::lower_bound(kByNumber, number, {}, &XlaOption::number);
  return found != kByNumber.end() && found->number == number ? &*found : nullptr;
}

std::span<const XlaOption> all_options() { return kOptions; }

bool is_dump_option(std::string_view name) {
  return std::ranges::binary_search(kDumpOptions, name);
}

bool is_neutral_option(std::string_view name) {
  return is_dump_option(name) || std::ranges::binary_search(kClientOptions, name);
}

}  // namespace precast::proto
