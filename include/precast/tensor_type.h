// Element types and tensor types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/export.h"

namespace precast {

// The element types of PJRT buffers. The numbers are PJRT_Buffer_Type's, and they are persisted in
// artifacts: append only. (The numbers of XLA's PrimitiveType differ; proto/ converts.)
enum class ElementType : std::uint32_t {
  invalid = 0,
  pred = 1,
  s8 = 2,
  s16 = 3,
  s32 = 4,
  s64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 13,
  c64 = 14,
  c128 = 15,
  f8e5m2 = 16,
  f8e4m3fn = 17,
  f8e4m3b11fnuz = 18,
  f8e5m2fnuz = 19,
  f8e4m3fnuz = 20,
  s4 = 21,
  u4 = 22,
  token = 23,
  s2 = 24,
  u2 = 25,
  f8e4m3 = 26,
  f8e3m4 = 27,
  f8e8m0fnu = 28,
  f4e2m1fn = 29,
  s1 = 30,
  u1 = 31,
  f6e2m3fn = 32,
  f6e3m2fn = 33,
};

// The name as XLA prints it: "f32", "pred", "bf16". Unknown numbers give "type<n>".
PRECAST_EXPORT std::string to_string(ElementType type);

// Bits of one element (f32: 32, s4: 4, pred: 8); 0 for token and for unknown numbers.
PRECAST_EXPORT unsigned bits_of(ElementType type);

// Bytes of one element in *host* memory, where PJRT keeps types narrower than a byte one per byte;
// 0 for token and for unknown numbers.
PRECAST_EXPORT unsigned host_bytes_of(ElementType type);

// What a program takes or gives at one position: an element type and dimensions. Dimensions are
// elements, not bytes.
struct PRECAST_EXPORT TensorType {
  ElementType element = ElementType::invalid;
  std::vector<std::int64_t> dimensions;

  // The product of the dimensions (1 for a scalar); nothing when a dimension is negative or the
  // product overflows.
  std::optional<std::uint64_t> element_count() const;
  // Bytes of a dense row-major host array; nothing when that overflows or the element type is
  // unknown.
  std::optional<std::uint64_t> host_bytes() const;
  // "f32[4,8]".
  std::string to_string() const;

  bool operator==(const TensorType&) const = default;
};

}  // namespace precast
