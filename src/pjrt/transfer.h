// The two copies of PJRT, as they are: no check, and layouts only as far as the plugin follows
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pjrt/client_impl.h"
#include "pjrt/handles.h"
#include "precast/bytes.h"
#include "precast/executable.h"
#include "precast/result.h"

namespace precast::pjrt {

// Begins to copy a host tensor to a device, into `memory` (null: the device's default) and with the
// device layout `minor_to_major` (null: the plugin's default). The host memory must stay until the
// event that is added to `pending` is over.
Result<Buffer> send(const std::shared_ptr<Client::Impl>& client, const HostTensorView& tensor,
                    const DeviceHandle& device, PJRT_Memory* memory,
                    const std::vector<std::int64_t>* minor_to_major, PendingEvents& pending);

// Begins to copy a buffer to `bytes`, which must have the size that the plugin wants and stay where
// it is until the event that is added to `pending` is over. unsupported when the plugin wants
// another size.
Result<void> receive(const Buffer& buffer, const std::vector<std::int64_t>& minor_to_major,
                     Bytes& bytes, PendingEvents& pending);

}  // namespace precast::pjrt
