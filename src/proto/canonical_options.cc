#include "proto/canonical_options.h"

#include <array>
#include <bit>

#include "proto/canonical_items.h"
#include "proto/field_numbers.h"
#include "proto/scalar_text.h"

namespace precast::proto {
namespace {

using base::WireField;
using base::WireType;

// What becomes of a field. Absent and zero are one for all but `optional_text`: proto3 does not
// tell them apart.
enum class FieldRule {
  left_out,
  boolean,
  integer,
  float32,
  boolean_list,
  integer_list,
  optional_text,
  messages,  // raw, one item each
  digest,
  elsewhere,  // handled by its own code
};

struct NamedField {
  std::uint32_t number;
  std::string_view name;
  FieldRule rule;
};

// Left out, beside what xla_options.h lists: the device ordinal, process index and count, profile
// version and the permission to change the module in place left no trace in code or configuration
// when they were dropped (measured); the device assignment is in the placement by positions, and
// its counts stand in num_replicas and num_partitions.
constexpr auto kCompileOptions = std::to_array<NamedField>({
    {compile_options::kArgumentLayouts, "argument_layouts", FieldRule::messages},
    {compile_options::kParameterIsTupledArguments, "parameter_is_tupled_arguments",
     FieldRule::boolean},
    {compile_options::kExecutableBuildOptions, "executable_build_options", FieldRule::elsewhere},
    {compile_options::kCompilePortableExecutable, "compile_portable_executable",
     FieldRule::boolean},
    {compile_options::kProfileVersion, "profile_version", FieldRule::left_out},
    {compile_options::kSerializedMultiSliceConfig, "serialized_multi_slice_config",
     FieldRule::digest},
    {compile_options::kEnvOptionOverrides, "env_option_overrides", FieldRule::elsewhere},
    {compile_options::kTargetConfig, "target_config", FieldRule::messages},
    {compile_options::kAllowInPlaceMlirModification, "allow_in_place_mlir_modification",
     FieldRule::left_out},
    {compile_options::kMatrixUnitOperandPrecision, "matrix_unit_operand_precision",
     FieldRule::integer},
    {compile_options::kCompilerVariant, "compiler_variant", FieldRule::optional_text},
});

constexpr auto kBuildOptions = std::to_array<NamedField>({
    {build_options::kDeviceOrdinal, "device_ordinal", FieldRule::left_out},
    {build_options::kResultLayout, "result_layout", FieldRule::messages},
    {build_options::kDebugOptions, "debug_options", FieldRule::elsewhere},
    {build_options::kNumReplicas, "num_replicas", FieldRule::integer},
    {build_options::kNumPartitions, "num_partitions", FieldRule::integer},
    {build_options::kUseSpmdPartitioning, "use_spmd_partitioning", FieldRule::boolean},
    {build_options::kUseAutoSpmdPartitioning, "use_auto_spmd_partitioning", FieldRule::boolean},
    {build_options::kDeduplicateHlo, "deduplicate_hlo", FieldRule::boolean},
    {build_options::kDeviceAssignment, "device_assignment", FieldRule::left_out},
    {build_options::kAliasPassthroughParams, "alias_passthrough_params", FieldRule::boolean},
    {build_options::kRunBackendOnly, "run_backend_only", FieldRule::boolean},
    {build_options::kSpmdPropagationToOutput, "allow_spmd_sharding_propagation_to_output",
     FieldRule::boolean_list},
    {build_options::kCompEnvs, "comp_envs", FieldRule::messages},
    {build_options::kFdoProfile, "fdo_profile", FieldRule::digest},
    {build_options::kDeviceMemorySize, "device_memory_size", FieldRule::integer},
    {build_options::kAutoSpmdMeshShape, "auto_spmd_partitioning_mesh_shape",
     FieldRule::integer_list},
    {build_options::kAutoSpmdMeshIds, "auto_spmd_partitioning_mesh_ids", FieldRule::integer_list},
    {build_options::kSpmdPropagationToParameters, "allow_spmd_sharding_propagation_to_parameters",
     FieldRule::boolean_list},
    {build_options::kUseShardyPartitioner, "use_shardy_partitioner", FieldRule::boolean},
    {build_options::kExecTimeOptimizationEffort, "exec_time_optimization_effort",
     FieldRule::float32},
    {build_options::kMemoryFittingEffort, "memory_fitting_effort", FieldRule::float32},
    {build_options::kProcessIndex, "process_index", FieldRule::left_out},
    {build_options::kProcessCount, "process_count", FieldRule::left_out},
    {build_options::kOptimizationLevel, "optimization_level", FieldRule::integer},
    {build_options::kMemoryFittingLevel, "memory_fitting_level", FieldRule::integer},
    {build_options::kGpuTopology, "gpu_topology", FieldRule::messages},
});

// The wire type of a field that is not a list.
WireType wire_type_of(FieldRule rule) {
  switch (rule) {
    case FieldRule::boolean:
    case FieldRule::integer: return WireType::varint;
    case FieldRule::float32: return WireType::fixed32;
    default: return WireType::bytes;
  }
}

void add_list(CanonicalItems& items, const std::string& prefix, const NamedField& named,
              const std::vector<WireField>& fields) {
  const auto list =
      text_of_list(fields, named.rule == FieldRule::boolean_list ? text_of_bool : text_of_int64);
  if (!list) {
    for (const WireField& field : fields) items.add_raw(prefix, field);
  } else if (!list->empty()) {
    items.add(prefix + std::string(named.name), *list);
  }
}

// Of a scalar that stands twice the last counts.
void add_scalar(CanonicalItems& items, const std::string& name, FieldRule rule,
                const WireField& last) {
  switch (rule) {
    case FieldRule::boolean:
      if (last.value != 0) items.add(name, "true");
      return;
    case FieldRule::integer:
      if (last.value != 0) items.add(name, text_of_int64(last.value));
      return;
    case FieldRule::float32:
      if (last.value != 0) {
        items.add(name, float_effect(std::bit_cast<float>(static_cast<std::uint32_t>(last.value))));
      }
      return;
    case FieldRule::digest:
      if (!last.bytes.empty()) items.add_digest(name, last.bytes);
      return;
    default: items.add(name, last.bytes); return;
  }
}

void add_known(CanonicalItems& items, const std::string& prefix, const NamedField& named,
               const std::vector<WireField>& fields) {
  if (named.rule == FieldRule::left_out || named.rule == FieldRule::elsewhere) return;
  if (named.rule == FieldRule::boolean_list || named.rule == FieldRule::integer_list) {
    return add_list(items, prefix, named, fields);
  }
  const std::string name = prefix + std::string(named.name);
  const WireField* last = nullptr;
  for (const WireField& field : fields) {
    if (field.type != wire_type_of(named.rule)) {
      items.add_raw(prefix, field);
    } else if (named.rule == FieldRule::messages) {
      items.add(name, hex_of(field.bytes));
    } else {
      last = &field;
    }
  }
  if (last != nullptr) add_scalar(items, name, named.rule, *last);
}

template <std::size_t N>
void add_fields(CanonicalItems& items, const std::string& prefix,
                const std::array<NamedField, N>& known, const FieldsByNumber& by_number) {
  for (const auto& [number, fields] : by_number) {
    const NamedField* named = nullptr;
    for (const NamedField& candidate : known) {
      if (candidate.number == number) named = &candidate;
    }
    if (named != nullptr) {
      add_known(items, prefix, *named, fields);
    } else {
      for (const WireField& field : fields) items.add_raw(prefix, field);
    }
  }
}

Result<void> add_build_options(CanonicalItems& items, BytesView bytes) {
  const std::string prefix = "executable_build_options.";
  PRECAST_ASSIGN(const FieldsByNumber by_number,
                 fields_by_number(bytes, "compile options: executable_build_options"));
  add_fields(items, prefix, kBuildOptions, by_number);
  const auto debug_options = by_number.find(build_options::kDebugOptions);
  if (debug_options == by_number.end()) return {};
  // With debug options, even empty ones, XLA does not look at its flags.
  items.add(prefix + "debug_options", "present");
  for (const WireField& field : debug_options->second) {
    if (field.type == WireType::bytes) {
      PRECAST_TRY(add_debug_options(items, field.bytes));
    } else {
      items.add_raw(prefix, field);
    }
  }
  return {};
}

}  // namespace

Result<CanonicalOptions> canonicalize(const CompileOptions& options, std::string_view platform,
                                      const ContentTexts& contents) {
  CanonicalItems items(platform, contents);
  PRECAST_ASSIGN(const FieldsByNumber by_number,
                 fields_by_number(options.serialized(), "compile options"));
  add_fields(items, "", kCompileOptions, by_number);
  const auto build = by_number.find(compile_options::kExecutableBuildOptions);
  if (build != by_number.end()) {
    for (const WireField& field : build->second) {
      if (field.type == WireType::bytes) {
        PRECAST_TRY(add_build_options(items, field.bytes));
      } else {
        items.add_raw("", field);
      }
    }
  }
  const auto overrides = by_number.find(compile_options::kEnvOptionOverrides);
  if (overrides != by_number.end()) PRECAST_TRY(add_overrides(items, overrides->second));
  return std::move(items).finish();
}

}  // namespace precast::proto
