// Loaded executables: on which devices they are, and running them.

#include <algorithm>
#include <cstring>

#include "testing/fake_plugin/call.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

constexpr std::string_view kMemoryKind = "device";

void fill_kinds(std::size_t number, std::vector<const char*>& kinds,
                std::vector<std::size_t>& sizes) {
  kinds.assign(number, kMemoryKind.data());
  sizes.assign(number, kMemoryKind.size());
}

template <typename T>
void add_one_to_each(const std::vector<char>& from, std::vector<char>& to) {
  for (std::size_t at = 0; at + sizeof(T) <= from.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, from.data() + at, sizeof(T));
    value = static_cast<T>(value + T{1});
    std::memcpy(to.data() + at, &value, sizeof(T));
  }
}

// The value plus one; element types that C++ has no arithmetic for are copied.
std::vector<char> plus_one(ElementType element, const std::vector<char>& from) {
  std::vector<char> to = from;
  switch (element) {
    case ElementType::s8:
    case ElementType::u8: add_one_to_each<std::uint8_t>(from, to); break;
    case ElementType::s16:
    case ElementType::u16: add_one_to_each<std::uint16_t>(from, to); break;
    case ElementType::s32:
    case ElementType::u32: add_one_to_each<std::uint32_t>(from, to); break;
    case ElementType::s64:
    case ElementType::u64: add_one_to_each<std::uint64_t>(from, to); break;
    case ElementType::f32: add_one_to_each<float>(from, to); break;
    case ElementType::f64: add_one_to_each<double>(from, to); break;
    default: break;
  }
  return to;
}

// Result k is parameter k plus one, where they have one type; else zeros plus one.
std::vector<char> compute(const Compiled& compiled, std::size_t result,
                          PJRT_Buffer* const* arguments) {
  const TensorType& type = compiled.results[result];
  if (result < compiled.parameters.size() && compiled.parameters[result] == type) {
    return plus_one(type.element, arguments[result]->data);
  }
  return plus_one(type.element, std::vector<char>(type.host_bytes().value_or(0), 0));
}

void check_argument(const TensorType& wanted, std::size_t index, const PJRT_Device* device,
                    const PJRT_Buffer& buffer) {
  if (buffer.deleted) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "argument {} has been deleted or donated", index);
  }
  if (buffer.type != wanted) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the executable takes {} as argument {} and got {}",
         wanted.to_string(), index, buffer.type.to_string());
  }
  if (buffer.device != device) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "argument {} is on device {}, the run is on device {}",
         index, buffer.device->description->id, device->description->id);
  }
}

std::vector<PJRT_Device*> devices_of_run(const PJRT_LoadedExecutable_Execute_Args& args) {
  const PJRT_LoadedExecutable& loaded = *args.executable;
  std::vector<PJRT_Device*> devices = loaded.addressable;
  if (loaded.portable != (args.execute_device != nullptr)) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "a portable executable needs an execute_device, and no other takes one");
  }
  if (loaded.portable) devices = {args.execute_device};
  if (args.num_devices != devices.size()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the run is for {} devices, the executable is on {}",
         args.num_devices, devices.size());
  }
  return devices;
}

void donate(const Compiled& compiled, const PJRT_ExecuteOptions& options,
            PJRT_Buffer* const* arguments) {
  const std::int64_t* kept = options.non_donatable_input_indices;
  const std::int64_t* kept_end = kept + options.num_non_donatable_input_indices;
  for (const std::int64_t parameter : compiled.donated) {
    if (std::find(kept, kept_end, parameter) != kept_end) continue;
    PJRT_Buffer& buffer = *arguments[parameter];
    buffer.deleted = true;
    buffer.data.clear();
  }
}

}  // namespace

void loaded_destroy(PJRT_LoadedExecutable_Destroy_Args& args) { delete args.executable; }

void loaded_executable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  auto executable = std::make_unique<PJRT_Executable>();
  executable->compiled = args.loaded_executable->compiled;
  executable->from_bytes = args.loaded_executable->from_bytes;
  const Compiled& compiled = *executable->compiled;
  executable->fingerprint = fmt::format("{:016x}", checksum(compiled.code));
  for (const TensorType& type : compiled.results) {
    executable->result_types.push_back(static_cast<PJRT_Buffer_Type>(type.element));
    executable->result_ranks.push_back(type.dimensions.size());
    executable->result_dimensions.insert(executable->result_dimensions.end(),
                                         type.dimensions.begin(), type.dimensions.end());
  }
  fill_kinds(compiled.results.size(), executable->result_kinds, executable->result_kind_sizes);
  fill_kinds(compiled.parameters.size(), executable->parameter_kinds,
             executable->parameter_kind_sizes);
  args.executable = executable.release();
}

void loaded_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  const PJRT_LoadedExecutable& loaded = *args.executable;
  const Options& options = loaded.compiled->options;
  std::string bytes;
  if (!loaded.portable) {
    bytes = encode_assignment(loaded.assignment, options.replicas, options.partitions);
  }
  args.serialized_device_assignment =
      hand_out(std::move(bytes), &args.serialized_bytes, &args.serialized_bytes_size,
               &args.serialized_device_assignment_deleter);
}

void loaded_devices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->addressable.data();
  args.num_addressable_devices = args.executable->addressable.size();
}

void loaded_delete(PJRT_LoadedExecutable_Delete_Args& args) { args.executable->deleted = true; }

void loaded_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->deleted;
}

void loaded_execute(PJRT_LoadedExecutable_Execute_Args& args) {
  check_size("PJRT_ExecuteOptions", kLeastSize<PJRT_ExecuteOptions>, args.options->struct_size);
  const Compiled& compiled = *args.executable->compiled;
  if (args.executable->deleted) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the executable has been deleted");
  }
  const std::vector<PJRT_Device*> devices = devices_of_run(args);
  if (args.num_args != compiled.parameters.size()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the executable takes {} arguments and got {}",
         compiled.parameters.size(), args.num_args);
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (std::size_t p = 0; p < args.num_args; ++p) {
      check_argument(compiled.parameters[p], p, devices[d], *args.argument_lists[d][p]);
    }
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (std::size_t r = 0; r < compiled.results.size(); ++r) {
      auto buffer = std::make_unique<PJRT_Buffer>();
      buffer->device = devices[d];
      buffer->memory = devices[d]->memory_handles.front();
      buffer->type = compiled.results[r];
      buffer->data = compute(compiled, r, args.argument_lists[d]);
      args.output_lists[d][r] = buffer.release();
    }
    donate(compiled, *args.options, args.argument_lists[d]);
    if (args.device_complete_events != nullptr) args.device_complete_events[d] = ready();
  }
}

}  // namespace precast::fake
