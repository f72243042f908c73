#include <algorithm>
#include <chrono>
#include <utility>

#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"
#include "pjrt/layout.h"

namespace precast {
namespace pjrt {
namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds since `start`, which moves to now.
double lap_ms(Clock::time_point& start) {
  const Clock::time_point now = Clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - start).count();
  start = now;
  return ms;
}

std::string inputs_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " input" : " inputs");
}

Result<void> check_input(const HostTensorView& input, const TensorSpec* spec,
                         const std::string& parameter) {
  if (spec != nullptr && input.type != spec->type) {
    return Error(ErrorCode::invalid_argument, parameter + " takes " + spec->type.to_string() +
                                                  " but the input is " + input.type.to_string());
  }
  if (spec != nullptr && spec->has_tiles) {
    return Error(ErrorCode::unsupported, parameter + " takes " + spec->to_string() +
                                             ", whose tiled layout cannot be asked for");
  }
  const std::optional<std::uint64_t> bytes = input.type.host_bytes();
  if (!bytes) {
    return Error(ErrorCode::invalid_argument,
                 parameter + ": " + input.type.to_string() + " has no form in host memory");
  }
  if (*bytes != input.data.size()) {
    return Error(ErrorCode::invalid_argument,
                 parameter + ": " + input.type.to_string() + " has " + std::to_string(*bytes) +
                     " bytes, but the input has " + std::to_string(input.data.size()));
  }
  return {};
}

Result<void> check_layouts_are_known(const LoadedExecutable::Impl& executable) {
  if (executable.signature || !executable.wants_layouts) return {};
  return Error(
      ErrorCode::unsupported,
      "the program or its options ask for layouts of parameters, and the plugin does not "
      "tell which layouts the executable takes: inputs in others would give wrong results");
}

Result<void> check_buffers(const LoadedExecutable::Impl& executable,
                           const std::vector<std::vector<const Buffer*>>& inputs) {
  const std::size_t devices = executable.device_ids.size();
  if (devices == 0) {
    return Error(ErrorCode::unsupported,
                 "the executable is not bound to devices of this process, so it cannot be run");
  }
  if (inputs.size() != devices) {
    return Error(ErrorCode::invalid_argument, "the executable runs on " + std::to_string(devices) +
                                                  " devices, but inputs for " +
                                                  std::to_string(inputs.size()) + " were given");
  }
  const std::size_t count =
      executable.signature ? executable.signature->parameters.size() : inputs.front().size();
  for (const std::vector<const Buffer*>& list : inputs) {
    if (list.size() != count) {
      return Error(ErrorCode::invalid_argument, "the program takes " + inputs_text(count) +
                                                    ", but a device was given " +
                                                    std::to_string(list.size()));
    }
    if (std::find(list.begin(), list.end(), nullptr) != list.end()) {
      return Error(ErrorCode::invalid_argument, "an input is a null pointer");
    }
    if (!executable.signature) continue;
    for (std::size_t p = 0; p < list.size(); ++p) {
      PRECAST_TRY(check_layout(*list[p], executable.signature->parameters[p], p));
    }
  }
  return {};
}

Result<std::vector<std::vector<Buffer>>> transfer(const LoadedExecutable::Impl& executable,
                                                  const std::vector<HostTensorView>& inputs) {
  PendingEvents pending(executable.api());
  std::vector<std::vector<Buffer>> buffers;
  for (const std::int64_t id : executable.device_ids) {
    PRECAST_ASSIGN(const DeviceHandle* device, addressable_device(*executable.client, id));
    std::vector<Buffer>& list = buffers.emplace_back();
    for (std::size_t p = 0; p < inputs.size(); ++p) {
      const TensorSpec* spec =
          executable.signature ? &executable.signature->parameters[p] : nullptr;
      auto buffer = start_transfer(executable.client, inputs[p], *device, spec, pending);
      if (!buffer) {
        return std::move(buffer).error().with("while copying parameter " + std::to_string(p) +
                                              " to device " + std::to_string(id));
      }
      list.push_back(std::move(*buffer));
    }
  }
  PRECAST_TRY(pending.await());
  return buffers;
}

Result<std::vector<std::vector<HostTensor>>> fetch(
    const LoadedExecutable::Impl& executable, const std::vector<std::vector<Buffer>>& outputs) {
  std::vector<std::vector<HostTensor>> tensors(outputs.size());
  PendingEvents pending(executable.api());
  for (std::size_t d = 0; d < outputs.size(); ++d) {
    tensors[d].resize(outputs[d].size());
    for (std::size_t r = 0; r < outputs[d].size(); ++r) {
      PRECAST_TRY(start_fetch(outputs[d][r], tensors[d][r], pending)
                      .with("while copying result " + std::to_string(r) + " from device " +
                            std::to_string(executable.device_ids[d])));
    }
  }
  PRECAST_TRY(pending.await());
  return tensors;
}

}  // namespace

Result<void> check_inputs(const std::optional<ProgramSignature>& signature,
                          const std::vector<HostTensorView>& inputs) {
  if (signature && signature->parameters.size() != inputs.size()) {
    return Error(ErrorCode::invalid_argument,
                 "the program takes " + inputs_text(signature->parameters.size()) + ", but " +
                     std::to_string(inputs.size()) + " were given");
  }
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    PRECAST_TRY(check_input(inputs[p], signature ? &signature->parameters[p] : nullptr,
                            "parameter " + std::to_string(p)));
  }
  return {};
}

}  // namespace pjrt

Result<std::vector<std::vector<Buffer>>> LoadedExecutable::execute(
    const std::vector<std::vector<const Buffer*>>& inputs) const {
  PRECAST_TRY(pjrt::check_layouts_are_known(*impl_));
  PRECAST_TRY(pjrt::check_buffers(*impl_, inputs));
  const std::size_t devices = inputs.size();
  std::vector<std::vector<PJRT_Buffer*>> arguments(devices);
  std::vector<PJRT_Buffer* const*> argument_lists;
  std::vector<std::vector<PJRT_Buffer*>> results(devices);
  std::vector<PJRT_Buffer**> result_lists;
  std::vector<PJRT_Event*> done(devices, nullptr);
  for (std::size_t d = 0; d < devices; ++d) {
    for (const Buffer* buffer : inputs[d]) arguments[d].push_back(buffer->impl().buffer.get());
    argument_lists.push_back(arguments[d].data());
    results[d].assign(impl_->result_count, nullptr);
    result_lists.push_back(results[d].data());
  }

  pjrt::Block<PJRT_ExecuteOptions> options;
  pjrt::Block<PJRT_LoadedExecutable_Execute_Args> args;
  args->executable = impl_->loaded.get();
  args->options = options.get();
  args->argument_lists = argument_lists.data();
  args->num_devices = devices;
  args->num_args = inputs.front().size();
  args->output_lists = result_lists.data();
  args->device_complete_events = done.data();
  PRECAST_TRY(impl_->api().call(pjrt::kLoadedExecutableExecute, args));

  std::vector<std::vector<Buffer>> outputs(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    for (PJRT_Buffer* result : results[d]) {
      outputs[d].emplace_back(std::make_unique<Buffer::Impl>(impl_->client, result));
    }
  }
  pjrt::PendingEvents pending(impl_->api());
  for (PJRT_Event* event : done) pending.add(event);
  PRECAST_TRY(pending.await());
  return outputs;
}

Result<std::vector<std::vector<HostTensor>>> LoadedExecutable::run(
    const std::vector<HostTensorView>& inputs, RunTimes* times) const {
  PRECAST_TRY(pjrt::check_layouts_are_known(*impl_));
  PRECAST_TRY(pjrt::check_inputs(impl_->signature, inputs));
  auto clock = pjrt::Clock::now();
  PRECAST_ASSIGN(const std::vector<std::vector<Buffer>> buffers, pjrt::transfer(*impl_, inputs));
  const double transfer_ms = pjrt::lap_ms(clock);

  std::vector<std::vector<const Buffer*>> lists(buffers.size());
  for (std::size_t d = 0; d < buffers.size(); ++d) {
    for (const Buffer& buffer : buffers[d]) lists[d].push_back(&buffer);
  }
  PRECAST_ASSIGN(const std::vector<std::vector<Buffer>> outputs, execute(lists));
  const double run_ms = pjrt::lap_ms(clock);

  PRECAST_ASSIGN(std::vector<std::vector<HostTensor>> tensors, pjrt::fetch(*impl_, outputs));
  if (times != nullptr) *times = {transfer_ms, run_ms, pjrt::lap_ms(clock)};
  return tensors;
}

}  // namespace precast
