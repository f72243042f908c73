#include "testing/fake_plugin_driver.h"

#include <dlfcn.h>

#include <stdexcept>

namespace precast::testing {

Driver::Driver() {
  library_ = ::dlopen(PRECAST_FAKE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw std::runtime_error(::dlerror());
  const auto entry = reinterpret_cast<pjrt::EntryPoint>(::dlsym(library_, pjrt::kEntryPoint));
  if (entry == nullptr) throw std::runtime_error(::dlerror());
  api_ = entry();
}

Driver::~Driver() {
  if (library_ != nullptr) ::dlclose(library_);
}

Outcome Driver::outcome(PJRT_Error* error) const {
  if (error == nullptr) return {};
  auto code = make_args<PJRT_Error_GetCode_Args>();
  code.error = error;
  api_->PJRT_Error_GetCode(&code);
  auto message = make_args<PJRT_Error_Message_Args>();
  message.error = error;
  api_->PJRT_Error_Message(&message);
  Outcome result{code.code, std::string(message.message, message.message_size)};
  auto destroy = make_args<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  api_->PJRT_Error_Destroy(&destroy);
  return result;
}

bool Driver::check(PJRT_Error* error) {
  const Outcome result = outcome(error);
  if (!result.ok() && failure.ok()) failure = result;
  return result.ok();
}

PJRT_Client* Driver::create_client(std::vector<PJRT_NamedValue> options) {
  auto args = make_args<PJRT_Client_Create_Args>();
  args.create_options = options.data();
  args.num_options = options.size();
  return check(api_->PJRT_Client_Create(&args)) ? args.client : nullptr;
}

PJRT_LoadedExecutable* Driver::compile(PJRT_Client* client, std::string_view program,
                                       std::string_view options) {
  std::string code(program);
  auto unit = make_args<PJRT_Program>();
  unit.code = code.data();
  unit.code_size = code.size();
  unit.format = "mlir";
  unit.format_size = 4;
  auto args = make_args<PJRT_Client_Compile_Args>();
  args.client = client;
  args.program = &unit;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  return check(api_->PJRT_Client_Compile(&args)) ? args.executable : nullptr;
}

std::string Driver::serialize(PJRT_LoadedExecutable* executable) {
  auto get = make_args<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = executable;
  if (!check(api_->PJRT_LoadedExecutable_GetExecutable(&get))) return {};
  auto args = make_args<PJRT_Executable_Serialize_Args>();
  args.executable = get.executable;
  std::string bytes;
  if (check(api_->PJRT_Executable_Serialize(&args))) {
    bytes.assign(args.serialized_bytes, args.serialized_bytes_size);
    args.serialized_executable_deleter(args.serialized_executable);
  }
  auto destroy = make_args<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  check(api_->PJRT_Executable_Destroy(&destroy));
  return bytes;
}

PJRT_LoadedExecutable* Driver::load(PJRT_Client* client, std::string_view bytes,
                                    std::string_view options) {
  auto args = make_args<PJRT_Executable_DeserializeAndLoad_Args>();
  args.client = client;
  args.serialized_executable = bytes.data();
  args.serialized_executable_size = bytes.size();
  args.overridden_serialized_compile_options = options.data();
  args.overridden_serialized_compile_options_size = options.size();
  return check(api_->PJRT_Executable_DeserializeAndLoad(&args)) ? args.loaded_executable : nullptr;
}

std::vector<std::vector<float>> Driver::run(PJRT_Client* client, PJRT_LoadedExecutable* executable,
                                            const std::vector<PJRT_Device*>& devices,
                                            const std::vector<std::vector<float>>& inputs,
                                            std::vector<bool>* consumed,
                                            const std::vector<std::int64_t>& not_donated) {
  const std::size_t count = devices.size();
  std::vector<std::vector<PJRT_Buffer*>> buffers(count);
  std::vector<PJRT_Buffer* const*> argument_lists(count);
  std::vector<PJRT_Buffer*> results(count);
  std::vector<PJRT_Buffer**> result_lists(count);
  std::vector<PJRT_Event*> done(count);
  for (std::size_t d = 0; d < count; ++d) {
    for (const auto& input : inputs) buffers[d].push_back(to_device(client, devices[d], input));
    argument_lists[d] = buffers[d].data();
    result_lists[d] = &results[d];
  }
  auto options = make_args<PJRT_ExecuteOptions>();
  options.non_donatable_input_indices = not_donated.data();
  options.num_non_donatable_input_indices = not_donated.size();
  auto args = make_args<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = &options;
  args.argument_lists = argument_lists.data();
  args.num_devices = count;
  args.num_args = inputs.size();
  args.output_lists = result_lists.data();
  args.device_complete_events = done.data();
  std::vector<std::vector<float>> values;
  const bool ran = check(api_->PJRT_LoadedExecutable_Execute(&args));
  for (std::size_t d = 0; d < count; ++d) {
    for (PJRT_Buffer* buffer : buffers[d]) {
      if (d == 0 && consumed != nullptr) consumed->push_back(is_deleted(buffer));
      destroy(buffer);
    }
    if (!ran) continue;
    finish(done[d]);
    values.push_back(to_host(results[d]));
    destroy(results[d]);
  }
  return values;
}

PJRT_Device* Driver::device(PJRT_Client* client, std::size_t index) {
  auto args = make_args<PJRT_Client_Devices_Args>();
  args.client = client;
  return check(api_->PJRT_Client_Devices(&args)) && index < args.num_devices ? args.devices[index]
                                                                             : nullptr;
}

PJRT_Buffer* Driver::to_device(PJRT_Client* client, PJRT_Device* device,
                               const std::vector<float>& data) {
  const auto size = static_cast<std::int64_t>(data.size());
  auto args = make_args<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client;
  args.data = data.data();
  args.type = PJRT_Buffer_Type_F32;
  args.dims = &size;
  args.num_dims = 1;
  args.device = device;
  if (!check(api_->PJRT_Client_BufferFromHostBuffer(&args))) return nullptr;
  finish(args.done_with_host_buffer);
  return args.buffer;
}

std::vector<float> Driver::to_host(PJRT_Buffer* buffer) {
  auto args = make_args<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  if (!check(api_->PJRT_Buffer_ToHostBuffer(&args))) return {};
  std::vector<float> values(args.dst_size / sizeof(float));
  args.dst = values.data();
  if (check(api_->PJRT_Buffer_ToHostBuffer(&args))) finish(args.event);
  return values;
}

void Driver::destroy(PJRT_LoadedExecutable* executable) {
  auto args = make_args<PJRT_LoadedExecutable_Destroy_Args>();
  args.executable = executable;
  check(api_->PJRT_LoadedExecutable_Destroy(&args));
}

void Driver::destroy(PJRT_Client* client) {
  auto args = make_args<PJRT_Client_Destroy_Args>();
  args.client = client;
  check(api_->PJRT_Client_Destroy(&args));
}

void Driver::finish(PJRT_Event* event) {
  auto wait = make_args<PJRT_Event_Await_Args>();
  wait.event = event;
  check(api_->PJRT_Event_Await(&wait));
  auto args = make_args<PJRT_Event_Destroy_Args>();
  args.event = event;
  check(api_->PJRT_Event_Destroy(&args));
}

void Driver::destroy(PJRT_Buffer* buffer) {
  auto args = make_args<PJRT_Buffer_Destroy_Args>();
  args.buffer = buffer;
  check(api_->PJRT_Buffer_Destroy(&args));
}

bool Driver::is_deleted(PJRT_Buffer* buffer) {
  auto args = make_args<PJRT_Buffer_IsDeleted_Args>();
  args.buffer = buffer;
  return check(api_->PJRT_Buffer_IsDeleted(&args)) && args.is_deleted;
}

std::string compile_options(int replicas, int partitions, const std::vector<int>& device_ids) {
  // Counts and ids are below 128, so every number is one byte.
  const auto number = [](int value) { return static_cast<char>(value); };
  std::string build = {0x20, number(replicas), 0x28, number(partitions)};  // fields 4 and 5
  if (!device_ids.empty()) {
    std::string assignment = {0x08, number(replicas), 0x10, number(partitions)};  // 1 and 2
    for (int partition = 0; partition < partitions; ++partition) {
      std::string ids = {0x0a, number(replicas)};  // field 1, packed
      for (int replica = 0; replica < replicas; ++replica) {
        ids += number(device_ids[static_cast<std::size_t>(replica * partitions + partition)]);
      }
      assignment += '\x1a';  // field 3
      assignment += number(static_cast<int>(ids.size()));
      assignment += ids;
    }
    build += '\x4a';  // field 9
    build += number(static_cast<int>(assignment.size()));
    build += assignment;
  }
  return std::string{0x1a, number(static_cast<int>(build.size()))} + build;  // field 3
}

}  // namespace precast::testing
