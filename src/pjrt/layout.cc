#include "pjrt/layout.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"
#include "pjrt/transfer.h"

namespace precast::pjrt {
namespace {

using Order = std::vector<std::int64_t>;

bool is_order(const Order& minor_to_major, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  if (minor_to_major.size() != rank) return false;
  for (const std::int64_t dimension : minor_to_major) {
    if (dimension < 0 || dimension >= static_cast<std::int64_t>(rank)) return false;
    if (seen[static_cast<std::size_t>(dimension)]) return false;
    seen[static_cast<std::size_t>(dimension)] = true;
  }
  return true;
}

// Calls visit(row-major element, element in the order) for each element.
template <typename Visit>
void walk(std::size_t count, const Order& dimensions, const Order& minor_to_major, Visit visit) {
  const std::size_t rank = dimensions.size();
  std::vector<std::size_t> strides(rank);
  std::size_t stride = 1;
  for (const std::int64_t dimension : minor_to_major) {
    strides[static_cast<std::size_t>(dimension)] = stride;
    stride *= static_cast<std::size_t>(dimensions[static_cast<std::size_t>(dimension)]);
  }
  Order index(rank, 0);
  std::size_t ordered = 0;
  for (std::size_t plain = 0; plain < count; ++plain) {
    visit(plain, ordered);
    for (std::size_t d = rank; d-- > 0;) {
      ordered += strides[d];
      if (++index[d] < dimensions[d]) break;
      ordered -= strides[d] * static_cast<std::size_t>(dimensions[d]);
      index[d] = 0;
    }
  }
}

// The order of the dimensions that move anything in memory.
Order moving(const Order& minor_to_major, const Order& dimensions) {
  Order order;
  for (const std::int64_t dimension : minor_to_major) {
    if (dimensions[static_cast<std::size_t>(dimension)] != 1) order.push_back(dimension);
  }
  return order;
}

// Sends u8[2,3] with a column-major device layout, and fetches it with both host layouts.
Result<LayoutSupport> ask(const std::shared_ptr<Client::Impl>& client) {
  const auto device = std::find_if(client->devices.begin(), client->devices.end(),
                                   [](const Device& each) { return each.addressable; });
  if (device == client->devices.end()) {
    return Error(ErrorCode::unsupported, "the client has no device that it can address");
  }
  const Bytes plain("\1\2\3\4\5\6", 6);
  const TensorType type{ElementType::u8, {2, 3}};
  const Order column_major = {0, 1};
  const Bytes turned = to_order(plain, type.dimensions, column_major, 1);
  PRECAST_ASSIGN(const DeviceHandle* handle, addressable_device(*client, device->id));
  PendingEvents sent(client->api());
  PRECAST_ASSIGN(const Buffer buffer,
                 send(client, {type, plain}, *handle, nullptr, &column_major, sent));
  PRECAST_TRY(sent.await());
  Bytes as_rows(plain.size(), '\0');
  Bytes as_columns(plain.size(), '\0');
  PendingEvents fetched(client->api());
  PRECAST_TRY(receive(buffer, row_major(2), as_rows, fetched));
  PRECAST_TRY(receive(buffer, column_major, as_columns, fetched));
  PRECAST_TRY(fetched.await());
  if (as_rows == plain && as_columns == turned) return LayoutSupport{true, true};
  if (as_rows == plain && as_columns == plain) return LayoutSupport{false, false};
  if (as_rows == turned && as_columns == turned) return LayoutSupport{true, false};
  if (as_columns == plain) return LayoutSupport{false, true};
  return Error(ErrorCode::unsupported,
               "the plugin changes an array when it is sent or fetched in another layout than "
               "row-major");
}

}  // namespace

std::vector<std::int64_t> row_major(std::size_t rank) {
  Order minor_to_major(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    minor_to_major[i] = static_cast<std::int64_t>(rank - 1 - i);
  }
  return minor_to_major;
}

bool same_order(const Order& a, const Order& b, const Order& dimensions) {
  return moving(a, dimensions) == moving(b, dimensions);
}

Bytes to_order(BytesView data, const Order& dimensions, const Order& minor_to_major,
               std::size_t element_bytes) {
  Bytes out(data.size(), '\0');
  walk(data.size() / element_bytes, dimensions, minor_to_major,
       [&](std::size_t plain, std::size_t ordered) {
         std::memcpy(out.data() + ordered * element_bytes, data.data() + plain * element_bytes,
                     element_bytes);
       });
  return out;
}

Bytes from_order(BytesView data, const Order& dimensions, const Order& minor_to_major,
                 std::size_t element_bytes) {
  Bytes out(data.size(), '\0');
  walk(data.size() / element_bytes, dimensions, minor_to_major,
       [&](std::size_t plain, std::size_t ordered) {
         std::memcpy(out.data() + plain * element_bytes, data.data() + ordered * element_bytes,
                     element_bytes);
       });
  return out;
}

Result<LayoutSupport> layout_support(const std::shared_ptr<Client::Impl>& client) {
  if (const LayoutSupport* known = client->layouts.get()) return *known;
  PRECAST_ASSIGN(const LayoutSupport support,
                 ask(client).with("while asking how the plugin treats layouts"));
  return client->layouts.settle(support);
}

std::optional<Order> order_on_device(const Buffer& buffer, const Order& dimensions) {
  Block<PJRT_Buffer_GetMemoryLayout_Args> args;
  args->buffer = buffer.impl().buffer.get();
  if (!buffer.impl().api().call(kBufferGetMemoryLayout, args)) return std::nullopt;
  const std::size_t rank = dimensions.size();
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = args->layout.tiled;
  if (args->layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled || tiled.minor_to_major == nullptr ||
      tiled.minor_to_major_size != rank) {
    return std::nullopt;
  }
  Order order(tiled.minor_to_major, tiled.minor_to_major + rank);
  if (!is_order(order, rank)) return std::nullopt;
  return order;
}

Result<void> check_layout(const Buffer& buffer, const TensorSpec& spec, std::size_t parameter) {
  const Order& dimensions = spec.type.dimensions;
  if (dimensions.size() < 2 || spec.has_tiles ||
      !is_order(spec.minor_to_major, dimensions.size())) {
    return {};
  }
  const std::optional<Order> lies = order_on_device(buffer, dimensions);
  if (!lies || same_order(*lies, spec.minor_to_major, dimensions)) return {};
  TensorSpec given;
  given.type = spec.type;
  given.minor_to_major = *lies;
  return Error(ErrorCode::invalid_argument,
               "parameter " + std::to_string(parameter) + " takes " + spec.to_string() +
                   " but the buffer lies as " + given.to_string() +
                   "; make it with Client::to_device and the parameter's own spec");
}

}  // namespace precast::pjrt
