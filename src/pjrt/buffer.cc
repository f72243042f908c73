#include <algorithm>
#include <utility>

#include "pjrt/executable_impl.h"
#include "pjrt/functions.h"

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

std::vector<std::int64_t> row_major(std::size_t rank) {
  std::vector<std::int64_t> minor_to_major(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    minor_to_major[i] = static_cast<std::int64_t>(rank - 1 - i);
  }
  return minor_to_major;
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

// The order of the dimensions that move anything in memory.
std::vector<std::int64_t> moving(const std::vector<std::int64_t>& minor_to_major,
                                 const std::vector<std::int64_t>& dimensions) {
  std::vector<std::int64_t> order;
  for (const std::int64_t dimension : minor_to_major) {
    if (dimensions[static_cast<std::size_t>(dimension)] != 1) order.push_back(dimension);
  }
  return order;
}

bool names_dimensions(const std::vector<std::int64_t>& minor_to_major, std::size_t rank) {
  return minor_to_major.size() == rank &&
         std::all_of(minor_to_major.begin(), minor_to_major.end(), [rank](std::int64_t d) {
           return d >= 0 && d < static_cast<std::int64_t>(rank);
         });
}

}  // namespace

Result<void> check_layout(const Buffer& buffer, const TensorSpec& spec, std::size_t parameter) {
  const std::size_t rank = spec.type.dimensions.size();
  if (rank < 2 || spec.has_tiles || !names_dimensions(spec.minor_to_major, rank)) return {};
  Block<PJRT_Buffer_GetMemoryLayout_Args> args;
  args->buffer = buffer.impl().buffer.get();
  const Api& api = buffer.impl().api();
  if (!api.call(kBufferGetMemoryLayout, args)) return {};
  if (args->layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled) return {};
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = args->layout.tiled;
  if (tiled.minor_to_major == nullptr || tiled.minor_to_major_size != rank) return {};
  const std::vector<std::int64_t> lies(tiled.minor_to_major, tiled.minor_to_major + rank);
  if (!names_dimensions(lies, rank) ||
      moving(lies, spec.type.dimensions) == moving(spec.minor_to_major, spec.type.dimensions)) {
    return {};
  }
  TensorSpec given;
  given.type = spec.type;
  given.minor_to_major = lies;
  return Error(ErrorCode::invalid_argument,
               "parameter " + std::to_string(parameter) + " takes " + spec.to_string() +
                   " but the buffer lies as " + given.to_string() +
                   "; make it with Client::to_device and the parameter's own spec");
}

Result<Buffer> start_transfer(const std::shared_ptr<Client::Impl>& client,
                              const HostTensorView& tensor, const DeviceHandle& device,
                              const TensorSpec* spec, PendingEvents& pending) {
  PRECAST_TRY(check_tensor(tensor, spec));
  PRECAST_ASSIGN(PJRT_Memory* const memory, memory_of(device, spec));
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
  if (spec != nullptr && !spec->is_row_major()) {
    layout = layout_of(spec->minor_to_major);
    args->device_layout = layout.get();
  }
  PRECAST_TRY(client->api().call(kClientBufferFromHostBuffer, args));
  pending.add(args->done_with_host_buffer);
  return Buffer(std::make_unique<Buffer::Impl>(client, args->buffer));
}

Result<void> start_fetch(const Buffer& buffer, HostTensor& tensor, PendingEvents& pending) {
  PRECAST_ASSIGN(tensor.type, buffer.type());
  const std::optional<std::uint64_t> bytes = tensor.type.host_bytes();
  if (!bytes) {
    return Error(ErrorCode::unsupported, tensor.type.to_string() + " has no form in host memory");
  }
  const Buffer::Impl& impl = buffer.impl();
  // Without a layout it depends on the plugin: 0.115 copies as the buffer lies on the device, 0.81
  // row-major.
  const std::vector<std::int64_t> minor_to_major = row_major(tensor.type.dimensions.size());
  Block<PJRT_Buffer_MemoryLayout> layout = layout_of(minor_to_major);
  Block<PJRT_Buffer_ToHostBuffer_Args> args;
  args->src = impl.buffer.get();
  args->host_layout = layout.get();
  PRECAST_TRY(impl.api().call(kBufferToHostBuffer, args));  // without dst: asks for the size
  if (args->dst_size != *bytes) {
    return Error(ErrorCode::unsupported, "the plugin gives " + tensor.type.to_string() + " as " +
                                             std::to_string(args->dst_size) + " bytes instead of " +
                                             std::to_string(*bytes));
  }
  tensor.data.resize(*bytes);
  args->dst = tensor.data.data();
  PRECAST_TRY(impl.api().call(kBufferToHostBuffer, args));
  pending.add(args->event);
  return {};
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
