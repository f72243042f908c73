#include "precast/tensor_type.h"

#include <array>

namespace precast {
namespace {

struct ElementFacts {
  std::string_view name;
  unsigned bits;
};

// Indexed by ElementType.
constexpr std::array<ElementFacts, 34> kElements = {{
    {"invalid", 0},    {"pred", 8},   {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},     {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},   {"f64", 64},     {"bf16", 16},         {"c64", 64},
    {"c128", 128},     {"f8e5m2", 8}, {"f8e4m3fn", 8}, {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s4", 4},     {"u4", 4},       {"token", 0},         {"s2", 2},
    {"u2", 2},         {"f8e4m3", 8}, {"f8e3m4", 8},   {"f8e8m0fnu", 8},     {"f4e2m1fn", 4},
    {"s1", 1},         {"u1", 1},     {"f6e2m3fn", 6}, {"f6e3m2fn", 6},
}};

}  // namespace

std::string to_string(ElementType type) {
  const auto index = static_cast<std::size_t>(type);
  if (index < kElements.size()) return std::string(kElements[index].name);
  return "type" + std::to_string(index);
}

unsigned bits_of(ElementType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kElements.size() ? kElements[index].bits : 0;
}

unsigned host_bytes_of(ElementType type) { return (bits_of(type) + 7) / 8; }

std::optional<std::uint64_t> TensorType::element_count() const {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : dimensions) {
    if (dimension < 0) return std::nullopt;
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(dimension), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<std::uint64_t> TensorType::host_bytes() const {
  const unsigned width = host_bytes_of(element);
  const std::optional<std::uint64_t> count = element_count();
  std::uint64_t bytes = 0;
  if (width == 0 || !count || __builtin_mul_overflow(*count, std::uint64_t{width}, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string TensorType::to_string() const {
  std::string text = precast::to_string(element) + "[";
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (i != 0) text += ",";
    text += std::to_string(dimensions[i]);
  }
  return text + "]";
}

}  // namespace precast
