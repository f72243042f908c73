#include <algorithm>
#include <utility>

#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"
#include "pjrt/layout.h"
#include "pjrt/transfer.h"

namespace precast {
namespace pjrt {
namespace {

// A layout without tiles. `minor_to_major` must outlive it.
Block<PJRT_Buffer_MemoryLayout> layout_of(const std::vector<std::int64_t>& minor_to_major) {
  Block<PJRT_Buffer_MemoryLayout> layout;
  layout->type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout->tiled.struct_size = kStructSize<PJRT_Buffer_MemoryLayout_Tiled>;  // inside: exact
  layout->tiled.minor_to_major = minor_to_major.data();
  layout->tiled.minor_to_major_size = minor_to_major.size();
  return layout;
}

// Since when the PJRT C API has an element type; a plugin before that may crash on it.
ApiVersion first_version_with(ElementType element) {
  switch (element) {
    case ElementType::f8e4m3:
    case ElementType::f8e3m4: return {0, 55};
    case ElementType::f8e8m0fnu:
    case ElementType::f4e2m1fn: return {0, 63};
    case ElementType::s1:
    case ElementType::u1: return {0, 94};
    // Since some version above 0.105; this is the first that was seen with them.
    case ElementType::f6e2m3fn:
    case ElementType::f6e3m2fn: return {0, 114};
    default: return {0, 0};
  }
}

Result<void> check_element(const Api& api, ElementType element) {
  const ApiVersion first = first_version_with(element);
  if (api.version() >= first) return {};
  return Error(ErrorCode::unsupported, "the plugin speaks version " + api.version().to_string() +
                                           " of the PJRT C API, which has no type " +
                                           to_string(element) + "; " + first.to_string() +
                                           " has it");
}

Result<void> check_tensor(const HostTensorView& tensor, const TensorSpec* spec) {
  if (spec != nullptr && spec->type != tensor.type) {
    return Error(
        ErrorCode::invalid_argument,
        spec->type.to_string() + " is wanted but the tensor is " + tensor.type.to_string());
  }
  if (spec != nullptr && spec->has_tiles) {
    return Error(ErrorCode::unsupported,
                 "the layout of " + spec->to_string() + " has tiles, which cannot be asked for");
  }
  const std::optional<std::uint64_t> bytes = tensor.type.host_bytes();
  if (!bytes) {
    return Error(ErrorCode::invalid_argument,
                 tensor.type.to_string() + " has no form in host memory");
  }
  if (*bytes != tensor.data.size()) {
    return Error(ErrorCode::invalid_argument,
                 tensor.type.to_string() + " has " + std::to_string(*bytes) +
                     " bytes in host memory, but " + std::to_string(tensor.data.size()) +
                     " were given");
  }
  return {};
}

// Where on a device a parameter belongs; null when that is the device's default memory.
Result<PJRT_Memory*> memory_of(const DeviceHandle& device, const TensorSpec* spec) {
  if (spec == nullptr || spec->memory_kind.empty()) return nullptr;
  for (const auto& [kind, memory] : device.memories) {
    if (kind == spec->memory_kind) return memory;
  }
  return Error(ErrorCode::invalid_argument, "device " + std::to_string(device.id) +
                                                " has no memory of the kind '" + spec->memory_kind +
                                                "'");
}

}  // namespace

Result<Buffer> send(const std::shared_ptr<Client::Impl>& client, const HostTensorView& tensor,
                    const DeviceHandle& device, PJRT_Memory* memory,
                    const std::vector<std::int64_t>* minor_to_major, PendingEvents& pending) {
  Block<PJRT_Client_BufferFromHostBuffer_Args> args;
  args->client = client->client.get();
  args->data = tensor.data.data();
  args->type = static_cast<PJRT_Buffer_Type>(tensor.type.element);
  args->dims = tensor.type.dimensions.data();
  args->num_dims = tensor.type.dimensions.size();
  args->host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  args->device = device.device;
  args->memory = memory;
  Block<PJRT_Buffer_MemoryLayout> layout;
  if (minor_to_major != nullptr) {
    layout = layout_of(*minor_to_major);
    args->device_layout = layout.get();
  }
  PRECAST_TRY(client->api().call(kClientBufferFromHostBuffer, args));
  pending.add(args->done_with_host_buffer);
  return Buffer(std::make_unique<Buffer::Impl>(client, args->buffer));
}

Result<void> receive(const Buffer& buffer, const std::vector<std::int64_t>& minor_to_major,
                     Bytes& bytes, PendingEvents& pending) {
  const Buffer::Impl& impl = buffer.impl();
  Block<PJRT_Buffer_MemoryLayout> layout = layout_of(minor_to_major);
  Block<PJRT_Buffer_ToHostBuffer_Args> args;
  args->src = impl.buffer.get();
  args->host_layout = layout.get();
  PRECAST_TRY(impl.api().call(kBufferToHostBuffer, args));  // without dst: asks for the size
  if (args->dst_size != bytes.size()) {
    return Error(ErrorCode::unsupported, "the plugin gives the array as " +
                                             std::to_string(args->dst_size) + " bytes instead of " +
                                             std::to_string(bytes.size()));
  }
  args->dst = bytes.data();
  PRECAST_TRY(impl.api().call(kBufferToHostBuffer, args));
  pending.add(args->event);
  return {};
}

Result<Buffer> start_transfer(const std::shared_ptr<Client::Impl>& client,
                              const HostTensorView& tensor, const DeviceHandle& device,
                              const TensorSpec* spec, PendingEvents& pending) {
  PRECAST_TRY(check_tensor(tensor, spec));
  PRECAST_TRY(check_element(client->api(), tensor.type.element));
  PRECAST_ASSIGN(PJRT_Memory* const memory, memory_of(device, spec));
  if (spec == nullptr || spec->is_row_major()) {
    return send(client, tensor, device, memory, nullptr, pending);
  }
  PRECAST_ASSIGN(const LayoutSupport follows, layout_support(client));
  if (follows.to_device) {
    return send(client, tensor, device, memory, &spec->minor_to_major, pending);
  }
  // The plugin takes the bytes as they are for an array in this layout, so they are put in order
  // here. The copy must outlive the transfer, which is awaited.
  const Bytes ordered = to_order(tensor.data, tensor.type.dimensions, spec->minor_to_major,
                                 host_bytes_of(tensor.type.element));
  PendingEvents own_pending(client->api());
  PRECAST_ASSIGN(Buffer buffer, send(client, {tensor.type, ordered}, device, memory,
                                     &spec->minor_to_major, own_pending));
  PRECAST_TRY(own_pending.await());
  return buffer;
}

Result<void> start_fetch(const Buffer& buffer, HostTensor& tensor, PendingEvents& pending) {
  PRECAST_ASSIGN(tensor.type, buffer.type());
  const std::optional<std::uint64_t> bytes = tensor.type.host_bytes();
  if (!bytes) {
    return Error(ErrorCode::unsupported, tensor.type.to_string() + " has no form in host memory");
  }
  tensor.data.resize(*bytes);
  const std::vector<std::int64_t>& dimensions = tensor.type.dimensions;
  const std::vector<std::int64_t> rows = row_major(dimensions.size());
  const std::string what = "while fetching " + tensor.type.to_string();
  if (dimensions.size() >= 2) {
    const auto order = order_on_device(buffer, dimensions);
    if (order && !same_order(*order, rows, dimensions)) {
      PRECAST_ASSIGN(const LayoutSupport follows, layout_support(buffer.impl().client));
      if (!follows.to_host) {
        PendingEvents own_pending(buffer.impl().api());
        PRECAST_TRY(receive(buffer, rows, tensor.data, own_pending).with(what));
        PRECAST_TRY(own_pending.await());
        tensor.data =
            from_order(tensor.data, dimensions, *order, host_bytes_of(tensor.type.element));
        return {};
      }
    }
  }
  return receive(buffer, rows, tensor.data, pending).with(what);
}

}  // namespace pjrt

Buffer::Buffer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

Result<TensorType> Buffer::type() const {
  pjrt::Block<PJRT_Buffer_ElementType_Args> element;
  element->buffer = impl_->buffer.get();
  PRECAST_TRY(impl_->api().call(pjrt::kBufferElementType, element));
  pjrt::Block<PJRT_Buffer_Dimensions_Args> dimensions;
  dimensions->buffer = impl_->buffer.get();
  PRECAST_TRY(impl_->api().call(pjrt::kBufferDimensions, dimensions));
  return TensorType{static_cast<ElementType>(element->type),
                    {dimensions->dims, dimensions->dims + dimensions->num_dims}};
}

Result<HostTensor> Buffer::to_host() const {
  HostTensor tensor;
  pjrt::PendingEvents pending(impl_->api());
  PRECAST_TRY(pjrt::start_fetch(*this, tensor, pending));
  PRECAST_TRY(pending.await());
  return tensor;
}

bool Buffer::is_deleted() const {
  pjrt::Block<PJRT_Buffer_IsDeleted_Args> args;
  args->buffer = impl_->buffer.get();
  const auto called = impl_->api().call(pjrt::kBufferIsDeleted, args);
  return called && args->is_deleted;
}

Result<Buffer> Client::to_device(const HostTensorView& tensor, std::int64_t device_id,
                                 const TensorSpec* spec) const {
  PRECAST_ASSIGN(const pjrt::DeviceHandle* device, pjrt::addressable_device(*impl_, device_id));
  pjrt::PendingEvents pending(impl_->api());
  PRECAST_ASSIGN(Buffer buffer, pjrt::start_transfer(impl_, tensor, *device, spec, pending));
  PRECAST_TRY(pending.await());
  return buffer;
}

}  // namespace precast
