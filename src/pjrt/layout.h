// Layouts of buffers: how they lie on a device, and what a plugin does about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pjrt/client_impl.h"
#include "precast/bytes.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::pjrt {

// Asks the plugin, once per client, by sending and fetching a few bytes. Errors: those of the
// plugin, unsupported when what comes back is none of what can be.
Result<LayoutSupport> layout_support(const std::shared_ptr<Client::Impl>& client);

// Dimension numbers of a dense row-major array, from the fastest varying to the slowest.
std::vector<std::int64_t> row_major(std::size_t rank);

// Whether two orders of the dimensions are the same in memory: dimensions of one do not matter.
bool same_order(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                const std::vector<std::int64_t>& dimensions);

// A dense row-major array in the order of `minor_to_major`, and back. Requires that
// `minor_to_major` names each dimension once, and that `data` has as many elements of
// `element_bytes` as `dimensions` say.
Bytes to_order(BytesView data, const std::vector<std::int64_t>& dimensions,
               const std::vector<std::int64_t>& minor_to_major, std::size_t element_bytes);
Bytes from_order(BytesView data, const std::vector<std::int64_t>& dimensions,
                 const std::vector<std::int64_t>& minor_to_major, std::size_t element_bytes);

// The order in which a buffer of these dimensions lies on the device; nothing when the plugin does
// not tell, or tells what is no order of dimensions.
std::optional<std::vector<std::int64_t>> order_on_device(
    const Buffer& buffer, const std::vector<std::int64_t>& dimensions);

// Refuses a buffer that does not lie as the parameter takes it. A plugin that does not tell how
// buffers lie is trusted. Errors: invalid_argument.
Result<void> check_layout(const Buffer& buffer, const TensorSpec& spec, std::size_t parameter);

}  // namespace precast::pjrt
