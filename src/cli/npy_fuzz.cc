// Any bytes as a .npy file: an array of the size that its type says, or an error; and what is read
// can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/npy.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const precast::Bytes& bytes, const precast::TensorType* wanted) {
  const auto tensor = precast::cli::decode_npy(bytes, wanted);
  if (!tensor) {
    require(tensor.error().code() == precast::ErrorCode::invalid_argument);
    return;
  }
  require(wanted == nullptr || tensor->type == *wanted);
  require(tensor->type.host_bytes() == tensor->data.size());
  const auto header = precast::cli::npy_header_for(tensor->type);
  require(header.has_value());
  const auto again = precast::cli::decode_npy(*header + tensor->data, &tensor->type);
  require(again.has_value() && again->data == tensor->data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const precast::Bytes bytes(reinterpret_cast<const char*>(data), size);
  const precast::TensorType raw{precast::ElementType::bf16, {2, 3}};
  check(bytes, nullptr);
  check(bytes, &raw);
  return 0;
}
