#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "c_api/structs.h"
#include "precast/limits.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

namespace precast::c_api {
namespace {

using Clock = std::chrono::steady_clock;
using Outputs = std::vector<std::vector<HostTensor>>;

// Milliseconds since `start`, which moves to now.
double lap_ms(Clock::time_point& start) {
  const Clock::time_point now = Clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - start).count();
  start = now;
  return ms;
}

Result<HostTensorView> view_of(const precast_tensor* given) {
  PRECAST_ASSIGN(const precast_tensor tensor, read_struct(given));
  PRECAST_TRY(check_reserved(tensor.reserved, "precast_tensor"));
  PRECAST_TRY(check_array(tensor.dimensions, tensor.dimension_count, "dimensions"));
  PRECAST_TRY(check_array(tensor.data, tensor.data_size, "data"));
  if (tensor.dimension_count > limits::kMaxDimensions) {
    return Error(ErrorCode::invalid_argument, "it has " + std::to_string(tensor.dimension_count) +
                                                  " dimensions, more than limits::kMaxDimensions");
  }
  TensorType type;
  type.element = static_cast<ElementType>(tensor.element_type);
  type.dimensions.assign(tensor.dimensions, tensor.dimensions + tensor.dimension_count);
  return HostTensorView(std::move(type),
                        BytesView(static_cast<const char*>(tensor.data), tensor.data_size));
}

// The elements of a C array lie as far apart as the caller's struct is large.
Result<std::vector<HostTensorView>> views_of(const precast_tensor* inputs, std::size_t count) {
  PRECAST_TRY(check_array(inputs, count, "inputs"));
  std::vector<HostTensorView> views;
  if (count == 0) return views;
  PRECAST_ASSIGN(const std::size_t stride, size_of_struct(inputs));
  const char* at = reinterpret_cast<const char*>(inputs);
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    std::size_t size = 0;
    std::memcpy(&size, at, sizeof(size));
    if (size != stride) {
      return Error(ErrorCode::invalid_argument,
                   "inputs[" + std::to_string(i) + "].struct_size is " + std::to_string(size) +
                       ", but that of inputs[0] is " + std::to_string(stride) +
                       "; all elements of an array have one size");
    }
    auto view = view_of(reinterpret_cast<const precast_tensor*>(at));
    if (!view) return std::move(view).error().with("input " + std::to_string(i));
    views.push_back(std::move(*view));
  }
  return views;
}

// Where parameter `p` of the device at position `d` goes.
Result<Buffer> transfer(const precast_executable& executable, const HostTensorView& input,
                        std::size_t d, std::size_t p) {
  const std::int64_t id = executable.executable.device_ids()[d];
  const auto& signature = executable.executable.signature();
  const TensorSpec* const spec = signature ? &signature->parameters[p] : nullptr;
  return executable.client.to_device(input, id, spec)
      .with("parameter " + std::to_string(p) + " of position " + std::to_string(d) + " (device " +
            std::to_string(id) + ")");
}

// Each device gets inputs of its own. Everything that can be checked is checked before anything is
// transferred.
Result<Outputs> run_per_device(const precast_executable& handle,
                               const std::vector<HostTensorView>& inputs, RunTimes& times) {
  const LoadedExecutable& executable = handle.executable;
  const std::size_t devices = executable.device_ids().size();
  const auto& signature = executable.signature();
  const std::size_t parameters = signature      ? signature->parameters.size()
                                 : devices == 0 ? 0
                                                : inputs.size() / devices;
  if (devices == 0 || inputs.size() != devices * parameters) {
    return Error(ErrorCode::invalid_argument,
                 "the executable runs on " + std::to_string(devices) + " devices with " +
                     std::to_string(parameters) + " parameters each, but " +
                     std::to_string(inputs.size()) + " inputs were given");
  }
  for (std::size_t i = 0; signature && i < inputs.size(); ++i) {
    const TensorSpec& spec = signature->parameters[i % parameters];
    if (inputs[i].type == spec.type) continue;
    return Error(ErrorCode::invalid_argument,
                 "parameter " + std::to_string(i % parameters) + " of position " +
                     std::to_string(i / parameters) + " takes " + spec.type.to_string() +
                     " but the input is " + inputs[i].type.to_string());
  }
  auto clock = Clock::now();
  std::vector<std::vector<Buffer>> buffers(devices);
  std::vector<std::vector<const Buffer*>> lists(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    for (std::size_t p = 0; p < parameters; ++p) {
      PRECAST_ASSIGN(Buffer buffer, transfer(handle, inputs[d * parameters + p], d, p));
      buffers[d].push_back(std::move(buffer));
    }
    for (const Buffer& buffer : buffers[d]) lists[d].push_back(&buffer);
  }
  times.transfer_ms = lap_ms(clock);
  PRECAST_ASSIGN(const std::vector<std::vector<Buffer>> results, executable.execute(lists));
  times.run_ms = lap_ms(clock);
  Outputs outputs(results.size());
  for (std::size_t d = 0; d < results.size(); ++d) {
    for (const Buffer& result : results[d]) {
      PRECAST_ASSIGN(HostTensor tensor, result.to_host());
      outputs[d].push_back(std::move(tensor));
    }
  }
  times.fetch_ms = lap_ms(clock);
  return outputs;
}

Result<bool> inputs_per_device(const precast_run_options* given) {
  if (given == nullptr) return false;
  PRECAST_ASSIGN(const precast_run_options options, read_struct(given));
  PRECAST_TRY(check_reserved(options.reserved, "precast_run_options"));
  return options.inputs_per_device != 0;
}

}  // namespace
}  // namespace precast::c_api

namespace {

namespace c_api = precast::c_api;
using precast::Result;

}  // namespace

extern "C" {

int32_t precast_run(const precast_executable* executable, const precast_tensor* inputs,
                    size_t count, const precast_run_options* options, precast_outputs** outputs,
                    precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(outputs, "outputs"));
    PRECAST_TRY(c_api::check_given(executable, "executable"));
    PRECAST_ASSIGN(const bool per_device, c_api::inputs_per_device(options));
    PRECAST_ASSIGN(const std::vector<precast::HostTensorView> views,
                   c_api::views_of(inputs, count));
    auto made = std::make_unique<precast_outputs>();
    PRECAST_ASSIGN(made->tensors, per_device
                                      ? c_api::run_per_device(*executable, views, made->times)
                                      : executable->executable.run(views, &made->times));
    *outputs = made.release();
    return {};
  });
}

int32_t precast_outputs_get_facts(const precast_outputs* outputs, precast_outputs_facts* facts,
                                  precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(outputs, "outputs"));
    precast_outputs_facts known{};
    known.device_count = outputs->tensors.size();
    known.result_count = outputs->tensors.empty() ? 0 : outputs->tensors.front().size();
    known.transfer_ms = outputs->times.transfer_ms;
    known.run_ms = outputs->times.run_ms;
    known.fetch_ms = outputs->times.fetch_ms;
    return c_api::write_struct(known, facts);
  });
}

int32_t precast_outputs_get_tensor(const precast_outputs* outputs, size_t position, size_t result,
                                   precast_tensor* tensor, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(outputs, "outputs"));
    PRECAST_TRY(c_api::check_index(position, outputs->tensors.size(), "device position"));
    PRECAST_TRY(c_api::check_index(result, outputs->tensors[position].size(), "result"));
    const precast::HostTensor& from = outputs->tensors[position][result];
    precast_tensor known{};
    known.dimensions = from.type.dimensions.data();
    known.dimension_count = from.type.dimensions.size();
    known.data = from.data.data();
    known.data_size = from.data.size();
    known.element_type = static_cast<int32_t>(from.type.element);
    return c_api::write_struct(known, tensor);
  });
}

void precast_outputs_free(precast_outputs* outputs) { delete outputs; }

}  // extern "C"
