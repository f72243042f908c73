#include "program/custom_calls.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "precast/limits.h"

namespace precast::program {
namespace {

struct TargetRule {
  std::string_view target;
  CustomCallClass custom_call_class;
};

constexpr TargetRule kTargets[] = {
    // JAX, callbacks by index.
    {"xla_ffi_python_cpu_callback", CustomCallClass::index_bound},
    {"xla_ffi_python_gpu_callback", CustomCallClass::index_bound},
    {"xla_ffi_partitioned_python_cpu_callback", CustomCallClass::index_bound},
    {"xla_ffi_partitioned_python_gpu_callback", CustomCallClass::index_bound},
    {"xla_buffer_python_cpu_callback", CustomCallClass::index_bound},
    {"xla_buffer_python_gpu_callback", CustomCallClass::index_bound},
    // JAX before its FFI, callbacks by the address of a descriptor.
    {"xla_python_cpu_callback", CustomCallClass::process_bound},
    {"xla_python_gpu_callback", CustomCallClass::process_bound},
    // JAX, the address of a Python object as a decimal string.
    {"CustomSPMDPartitioning", CustomCallClass::process_bound},
    {"InspectSharding", CustomCallClass::process_bound},
};

// XLA's own targets, as its partitioners know them, and kernels that are whole in their
// configuration and that partitioners replicate.
constexpr std::string_view kKnownPartitioning[] = {
    "ApproxTopK",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PadToStatic",
    "PartialReduce",
    "ResizeNearest",
    "ResizeNearestGrad",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "Sharding",
    "SliceToDynamic",
    "TopK",
    "X64Combine",
    "X64SplitHigh",
    "X64SplitLow",
    "__gpu$xla.gpu.triton",
    "annotate_device_placement",
    "tpu_custom_call",
    "triton_kernel_call",
};
constexpr std::string_view kKnownPrefixes[] = {"chlo.", "mhlo.", "stablehlo.", "xla.sdy."};

bool may_continue_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-';
}

// What stands before a name tells nothing in binary formats: a length may look like a letter.
bool occurs(BytesView bytes, std::string_view name) {
  const std::boyer_moore_horspool_searcher searcher(name.begin(), name.end());
  for (auto at = bytes.begin(); at != bytes.end();) {
    at = std::search(at, bytes.end(), searcher);
    if (at == bytes.end()) return false;
    at += static_cast<std::ptrdiff_t>(name.size());
    if (at == bytes.end() || !may_continue_a_name(*at)) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(CustomCallClass c) {
  switch (c) {
    case CustomCallClass::plain: return "plain";
    case CustomCallClass::index_bound: return "index_bound";
    case CustomCallClass::process_bound: return "process_bound";
  }
  return "unknown";
}

bool has_known_partitioning(std::string_view target) {
  return std::ranges::find(kKnownPartitioning, target) != std::end(kKnownPartitioning) ||
         std::ranges::any_of(kKnownPrefixes, [target](std::string_view prefix) {
           return target.starts_with(prefix);
         });
}

CustomCallClass classify_custom_call(std::string_view target) {
  const auto* rule = std::ranges::find(kTargets, target, &TargetRule::target);
  return rule == std::end(kTargets) ? CustomCallClass::plain : rule->custom_call_class;
}

void CustomCallScan::add(std::string_view target) {
  switch (classify_custom_call(target)) {
    case CustomCallClass::index_bound: index_bound.emplace(target); return;
    case CustomCallClass::process_bound: process_bound.emplace(target); return;
    case CustomCallClass::plain: break;
  }
  if (target.size() > limits::kMaxBytecodeNameBytes) {
    plain_truncated = true;
  } else if (plain.size() < limits::kMaxCustomCallTargets) {
    plain.emplace(target);
  } else if (!plain.contains(target)) {
    plain_truncated = true;
  }
}

CustomCallScan scan_bytes_for_custom_calls(BytesView bytes) {
  CustomCallScan scan;
  for (const TargetRule& rule : kTargets) {
    if (occurs(bytes, rule.target)) scan.add(rule.target);
  }
  return scan;
}

}  // namespace precast::program
