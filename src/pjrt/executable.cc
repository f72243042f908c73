#include "precast/executable.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "pjrt/adopt.h"
#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"
#include "pjrt/named_values.h"

namespace precast {
namespace pjrt {
namespace {

// The format in which XLA gives the optimized program: xla.HloModuleProtoWithConfig.
constexpr std::string_view kOptimizedFormat = "hlo_with_config";

Result<void> read_counts(LoadedExecutable::Impl& executable) {
  const Api& api = executable.api();
  Block<PJRT_Executable_NumReplicas_Args> replicas;
  replicas->executable = executable.executable.get();
  PRECAST_TRY(api.call(kExecutableNumReplicas, replicas));
  executable.replicas = static_cast<int>(replicas->num_replicas);

  Block<PJRT_Executable_NumPartitions_Args> partitions;
  partitions->executable = executable.executable.get();
  PRECAST_TRY(api.call(kExecutableNumPartitions, partitions));
  executable.partitions = static_cast<int>(partitions->num_partitions);

  Block<PJRT_Executable_NumOutputs_Args> outputs;
  outputs->executable = executable.executable.get();
  PRECAST_TRY(api.call(kExecutableNumOutputs, outputs));
  executable.result_count = outputs->num_outputs;
  return {};
}

Result<void> read_devices_of(LoadedExecutable::Impl& executable) {
  Block<PJRT_LoadedExecutable_AddressableDevices_Args> args;
  args->executable = executable.loaded.get();
  PRECAST_TRY(executable.api().call(kLoadedExecutableAddressableDevices, args));
  const std::vector<DeviceHandle>& handles = executable.client->handles;
  for (std::size_t i = 0; i < args->num_addressable_devices; ++i) {
    const PJRT_Device* device = args->addressable_devices[i];
    const auto found = std::find_if(handles.begin(), handles.end(),
                                    [&](const auto& handle) { return handle.device == device; });
    if (found == handles.end()) {
      return Error(ErrorCode::internal,
                   "the plugin placed an executable on a device that its client does not list");
    }
    executable.device_ids.push_back(found->id);
  }
  return {};
}

// The kinds of memory of all results, as PJRT lists them: one array of texts, one of their sizes.
std::vector<std::string> texts_of(const char* const* texts, const std::size_t* sizes,
                                  std::size_t count) {
  std::vector<std::string> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.emplace_back(texts[i], sizes[i]);
  return result;
}

}  // namespace

Result<std::shared_ptr<LoadedExecutable::Impl>> describe(std::shared_ptr<Client::Impl> client,
                                                         Handle<PJRT_LoadedExecutable> loaded) {
  auto executable = std::make_shared<LoadedExecutable::Impl>(std::move(client), std::move(loaded));
  const Api& api = executable->api();
  Block<PJRT_LoadedExecutable_GetExecutable_Args> get;
  get->loaded_executable = executable->loaded.get();
  PRECAST_TRY(api.call(kLoadedExecutableGetExecutable, get));
  executable->executable = own(api, get->executable);

  Block<PJRT_Executable_Name_Args> name;
  name->executable = executable->executable.get();
  PRECAST_TRY(api.call(kExecutableName, name));
  executable->name.assign(name->executable_name, name->executable_name_size);
  PRECAST_TRY(read_counts(*executable));
  PRECAST_TRY(read_devices_of(*executable));
  return executable;
}

Result<Bytes> optimized_program(const LoadedExecutable::Impl& executable) {
  Block<PJRT_Program> program;
  Block<PJRT_Executable_OptimizedProgram_Args> args;
  args->executable = executable.executable.get();
  args->program = program.get();
  PRECAST_TRY(executable.api().call(kExecutableOptimizedProgram, args));  // asks for the size
  const std::string_view format = program->format == nullptr
                                      ? std::string_view()
                                      : std::string_view(program->format, program->format_size);
  if (format != kOptimizedFormat) {
    return Error(ErrorCode::unsupported, "the plugin gives the optimized program as '" +
                                             std::string(format) + "', not as '" +
                                             std::string(kOptimizedFormat) + "'");
  }
  Bytes bytes(program->code_size, '\0');
  program->code = bytes.data();
  PRECAST_TRY(executable.api().call(kExecutableOptimizedProgram, args));
  bytes.resize(std::min(bytes.size(), program->code_size));
  return bytes;
}

}  // namespace pjrt

const std::string& LoadedExecutable::name() const { return impl_->name; }
int LoadedExecutable::replicas() const { return impl_->replicas; }
int LoadedExecutable::partitions() const { return impl_->partitions; }
std::size_t LoadedExecutable::result_count() const { return impl_->result_count; }
const std::vector<std::int64_t>& LoadedExecutable::device_ids() const { return impl_->device_ids; }
const std::optional<ProgramSignature>& LoadedExecutable::signature() const {
  return impl_->signature;
}

Result<MemoryStats> LoadedExecutable::memory_stats() const {
  pjrt::Block<PJRT_Executable_GetCompiledMemoryStats_Args> args;
  args->executable = impl_->executable.get();
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableGetCompiledMemoryStats, args));
  MemoryStats stats;
  stats.generated_code = args->generated_code_size_in_bytes;
  stats.arguments = args->argument_size_in_bytes;
  stats.outputs = args->output_size_in_bytes;
  stats.aliased = args->alias_size_in_bytes;
  stats.temporaries = args->temp_size_in_bytes;
  stats.peak = args->peak_memory_in_bytes;
  return stats;
}

Result<std::vector<CostItem>> LoadedExecutable::cost_analysis() const {
  pjrt::Block<PJRT_Executable_GetCostAnalysis_Args> args;
  args->executable = impl_->executable.get();
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableGetCostAnalysis, args));
  std::vector<CostItem> items;
  for (const NamedValue& property : pjrt::from_abi(args->properties, args->num_properties)) {
    if (const auto* number = std::get_if<float>(&property.value)) {
      items.push_back({property.name, static_cast<double>(*number)});
    } else if (const auto* integer = std::get_if<std::int64_t>(&property.value)) {
      items.push_back({property.name, static_cast<double>(*integer)});
    }
  }
  return items;
}

Result<std::string> LoadedExecutable::fingerprint() const {
  pjrt::Block<PJRT_Executable_Fingerprint_Args> args;
  args->executable = impl_->executable.get();
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableFingerprint, args));
  return std::string(args->executable_fingerprint, args->executable_fingerprint_size);
}

Result<std::vector<TensorType>> LoadedExecutable::result_types() const {
  pjrt::Block<PJRT_Executable_OutputElementTypes_Args> elements;
  elements->executable = impl_->executable.get();
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableOutputElementTypes, elements));
  pjrt::Block<PJRT_Executable_OutputDimensions_Args> dimensions;
  dimensions->executable = impl_->executable.get();
  dimensions->num_outputs = impl_->result_count;
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableOutputDimensions, dimensions));
  if (elements->num_output_types != dimensions->num_outputs) {
    return Error(ErrorCode::internal,
                 "the plugin names " + std::to_string(elements->num_output_types) +
                     " element types for " + std::to_string(dimensions->num_outputs) + " results");
  }
  std::vector<TensorType> types;
  const std::int64_t* next = dimensions->dims;
  for (std::size_t i = 0; i < elements->num_output_types; ++i) {
    const std::size_t rank = dimensions->dim_sizes[i];
    types.push_back({static_cast<ElementType>(elements->output_types[i]), {next, next + rank}});
    next += rank;
  }
  return types;
}

Result<std::vector<std::string>> LoadedExecutable::result_memory_kinds() const {
  pjrt::Block<PJRT_Executable_OutputMemoryKinds_Args> args;
  args->executable = impl_->executable.get();
  args->num_outputs = impl_->result_count;
  PRECAST_TRY(impl_->api().call(pjrt::kExecutableOutputMemoryKinds, args));
  return pjrt::texts_of(args->memory_kinds, args->memory_kind_sizes, args->num_outputs);
}

Result<Bytes> CompiledExecutable::serialize() const {
  return pjrt::serialized_executable(Client(impl_->client), impl_->executable.get());
}

Result<Bytes> CompiledExecutable::optimized_program() const {
  return pjrt::optimized_program(*impl_);
}

}  // namespace precast
