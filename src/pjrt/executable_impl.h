// What stands behind executables and buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/client_impl.h"
#include "pjrt/handles.h"
#include "precast/executable.h"
#include "precast/result.h"

namespace precast {

struct LoadedExecutable::Impl {
  Impl(std::shared_ptr<Client::Impl> owner, pjrt::Handle<PJRT_LoadedExecutable> handle)
      : client(std::move(owner)), loaded(std::move(handle)) {}
  const pjrt::Api& api() const { return client->api(); }

  const std::shared_ptr<Client::Impl> client;  // first: it outlives the handles
  pjrt::Handle<PJRT_LoadedExecutable> loaded;
  pjrt::Handle<PJRT_Executable> executable;  // the same, for questions about it
  std::string name;
  int replicas = 1;
  int partitions = 1;
  std::size_t result_count = 0;
  std::vector<std::int64_t> device_ids;
  std::optional<ProgramSignature> signature;
  bool wants_layouts = false;  // see note_layout_wishes
};

struct Buffer::Impl {
  Impl(std::shared_ptr<Client::Impl> owner, PJRT_Buffer* raw)
      : client(std::move(owner)), buffer(pjrt::own(client->api(), raw)) {}
  const pjrt::Api& api() const { return client->api(); }

  const std::shared_ptr<Client::Impl> client;  // first: it outlives the handle
  const pjrt::Handle<PJRT_Buffer> buffer;
};

namespace pjrt {

// Reads the facts of a new executable. Takes ownership also when it fails.
Result<std::shared_ptr<LoadedExecutable::Impl>> describe(std::shared_ptr<Client::Impl> client,
                                                         Handle<PJRT_LoadedExecutable> loaded);

// The optimized program as xla.HloModuleProtoWithConfig. Errors as
// CompiledExecutable::optimized_program.
Result<Bytes> optimized_program(const LoadedExecutable::Impl& executable);

// Begins to copy a host tensor to a device. The host memory must stay until the event that is added
// to `pending` is over. Errors as Client::to_device.
Result<Buffer> start_transfer(const std::shared_ptr<Client::Impl>& client,
                              const HostTensorView& tensor, const DeviceHandle& device,
                              const TensorSpec* spec, PendingEvents& pending);

// Begins to copy a buffer to `tensor`, as Buffer::to_host; `tensor` must stay where it is until the
// event that is added to `pending` is over.
Result<void> start_fetch(const Buffer& buffer, HostTensor& tensor, PendingEvents& pending);

// The checks of LoadedExecutable::run before anything is transferred. invalid_argument names the
// parameter, what it takes and what was given; unsupported for a layout that cannot be asked for.
Result<void> check_inputs(const std::optional<ProgramSignature>& signature,
                          const std::vector<HostTensorView>& inputs);

}  // namespace pjrt
}  // namespace precast
