// Buffers: host memory that stands for a device's, dense and row-major.

#include <algorithm>
#include <cstring>
#include <functional>

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

void check_alive(const PJRT_Buffer& buffer) {
  if (buffer.deleted) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has been deleted or donated");
  }
}

bool is_row_major_strides(const std::int64_t* strides, std::size_t number, const TensorType& type) {
  if (number != type.dimensions.size()) return false;
  std::int64_t expected = host_bytes_of(type.element);
  for (std::size_t i = number; i > 0; --i) {
    if (strides[i - 1] != expected) return false;
    expected *= type.dimensions[i - 1];
  }
  return true;
}

bool is_row_major(const PJRT_Buffer_MemoryLayout& layout, const TensorType& type) {
  if (layout.type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    return is_row_major_strides(layout.strides.byte_strides, layout.strides.num_byte_strides, type);
  }
  if (layout.tiled.num_tiles != 0) return false;
  const std::int64_t* order = layout.tiled.minor_to_major;
  return layout.tiled.minor_to_major_size == type.dimensions.size() &&
         std::is_sorted(order, order + type.dimensions.size(), std::greater<>());
}

void check_row_major(const PJRT_Buffer_MemoryLayout* layout, const TensorType& type) {
  if (layout != nullptr && !is_row_major(*layout, type)) {
    fail(PJRT_Error_Code_UNIMPLEMENTED, "fake plugin: buffers are row-major only");
  }
}

PJRT_Device* target_device(const PJRT_Client_BufferFromHostBuffer_Args& args) {
  if (args.memory != nullptr) return static_cast<Memory*>(args.memory)->device;
  PJRT_Device* device = args.device;
  if (device == nullptr) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "a buffer needs a device or a memory");
  }
  if (!device->addressable) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "device {} belongs to another process",
         device->description->id);
  }
  return device;
}

}  // namespace

void buffer_from_host(PJRT_Client_BufferFromHostBuffer_Args& args) {
  auto buffer = std::make_unique<PJRT_Buffer>();
  buffer->type.element = static_cast<ElementType>(args.type);
  buffer->type.dimensions.assign(args.dims, args.dims + args.num_dims);
  const auto bytes = buffer->type.host_bytes();
  if (!bytes) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "there is no buffer of type {}",
         buffer->type.to_string());
  }
  if (args.num_byte_strides != 0 &&
      !is_row_major_strides(args.byte_strides, args.num_byte_strides, buffer->type)) {
    fail(PJRT_Error_Code_UNIMPLEMENTED, "fake plugin: host buffers are dense and row-major only");
  }
  check_row_major(args.device_layout, buffer->type);
  buffer->device = target_device(args);
  buffer->memory = args.memory != nullptr ? args.memory : buffer->device->memory_handles.front();
  const char* data = static_cast<const char*>(args.data);
  buffer->data.assign(data, data + *bytes);
  args.done_with_host_buffer = ready();
  args.buffer = buffer.release();
}

void buffer_destroy(PJRT_Buffer_Destroy_Args& args) { delete args.buffer; }

void buffer_element_type(PJRT_Buffer_ElementType_Args& args) {
  args.type = static_cast<PJRT_Buffer_Type>(args.buffer->type.element);
}

void buffer_dimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->type.dimensions.data();
  args.num_dims = args.buffer->type.dimensions.size();
}

void buffer_size(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  check_alive(*args.buffer);
  args.on_device_size_in_bytes = args.buffer->data.size();
}

void buffer_device(PJRT_Buffer_Device_Args& args) { args.device = args.buffer->device; }

void buffer_memory(PJRT_Buffer_Memory_Args& args) { args.memory = args.buffer->memory; }

void buffer_delete(PJRT_Buffer_Delete_Args& args) {
  args.buffer->deleted = true;
  args.buffer->data.clear();
}

void buffer_is_deleted(PJRT_Buffer_IsDeleted_Args& args) { args.is_deleted = args.buffer->deleted; }

void buffer_to_host(PJRT_Buffer_ToHostBuffer_Args& args) {
  check_alive(*args.src);
  check_row_major(args.host_layout, args.src->type);
  const std::size_t size = args.src->data.size();
  if (args.dst == nullptr) {  // a question
    args.dst_size = size;
    return;
  }
  if (args.dst_size < size) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has {} bytes, there is room for {}", size,
         args.dst_size);
  }
  if (size != 0) std::memcpy(args.dst, args.src->data.data(), size);
  args.event = ready();
}

void buffer_ready_event(PJRT_Buffer_ReadyEvent_Args& args) {
  check_alive(*args.buffer);
  args.event = ready();
}

}  // namespace precast::fake
