// What an executable says about itself.

#include <algorithm>
#include <cstring>

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

std::int64_t total_bytes(const std::vector<TensorType>& types) {
  std::uint64_t bytes = 0;
  for (const TensorType& type : types) bytes += type.host_bytes().value_or(0);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

void executable_destroy(PJRT_Executable_Destroy_Args& args) { delete args.executable; }

void executable_name(PJRT_Executable_Name_Args& args) {
  args.executable_name = args.executable->compiled->name.data();
  args.executable_name_size = args.executable->compiled->name.size();
}

void executable_replicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<std::size_t>(args.executable->compiled->options.replicas);
}

void executable_partitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<std::size_t>(args.executable->compiled->options.partitions);
}

void executable_outputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->compiled->results.size();
}

void executable_code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = static_cast<std::int64_t>(args.executable->compiled->code.size());
}

void executable_cost_analysis(PJRT_Executable_GetCostAnalysis_Args&) {
  fail(PJRT_Error_Code_UNIMPLEMENTED, "fake plugin: there is no cost analysis");
}

void executable_output_types(PJRT_Executable_OutputElementTypes_Args& args) {
  args.output_types = args.executable->result_types.data();
  args.num_output_types = args.executable->result_types.size();
}

void executable_output_dimensions(PJRT_Executable_OutputDimensions_Args& args) {
  args.num_outputs = args.executable->result_ranks.size();
  args.dims = args.executable->result_dimensions.data();
  args.dim_sizes = args.executable->result_ranks.data();
}

void executable_output_kinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  args.num_outputs = args.executable->result_kinds.size();
  args.memory_kinds = args.executable->result_kinds.data();
  args.memory_kind_sizes = args.executable->result_kind_sizes.data();
}

void executable_parameter_kinds(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  args.num_parameters = args.executable->parameter_kinds.size();
  args.memory_kinds = args.executable->parameter_kinds.data();
  args.memory_kind_sizes = args.executable->parameter_kind_sizes.data();
}

void executable_fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  args.executable_fingerprint = args.executable->fingerprint.data();
  args.executable_fingerprint_size = args.executable->fingerprint.size();
}

void executable_memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const Compiled& compiled = *args.executable->compiled;
  // Only what the caller has room for: the fields behind the peak are younger.
  const std::size_t known = std::min(args.struct_size, sizeof(args));
  std::memset(
      reinterpret_cast<char*>(&args) +
          offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes),
      0,
      known - offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes));
  args.generated_code_size_in_bytes = static_cast<std::int64_t>(compiled.code.size());
  args.argument_size_in_bytes = total_bytes(compiled.parameters);
  args.output_size_in_bytes = total_bytes(compiled.results);
  args.peak_memory_in_bytes = args.argument_size_in_bytes + args.output_size_in_bytes;
}

}  // namespace precast::fake
