#include "cli/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "cli/small_floats.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

// splitmix64: small, well mixed, the same everywhere.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <typename T>
void put(Bytes& data, std::size_t at, T value) {
  std::memcpy(data.data() + at * sizeof(T), &value, sizeof(T));
}

template <typename T>
T get(BytesView data, std::size_t at) {
  T value;
  std::memcpy(&value, data.data() + at * sizeof(T), sizeof(T));
  return value;
}

bool is_signed(ElementType type) {
  switch (type) {
    case ElementType::s1:
    case ElementType::s2:
    case ElementType::s4:
    case ElementType::s8:
    case ElementType::s16:
    case ElementType::s32:
    case ElementType::s64: return true;
    default: return false;
  }
}

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::u1:
    case ElementType::u2:
    case ElementType::u4:
    case ElementType::u8:
    case ElementType::u16:
    case ElementType::u32:
    case ElementType::u64: return true;
    default: return is_signed(type);
  }
}

// The number of values from zero up that an integer type holds; 0 means 2^64.
std::uint64_t count_from_zero(ElementType type) {
  const unsigned bits = bits_of(type) - (is_signed(type) ? 1U : 0U);
  return bits >= 64 ? 0 : std::uint64_t{1} << bits;
}

void put_integer(Bytes& data, std::size_t at, std::uint64_t value, unsigned bytes) {
  switch (bytes) {
    case 1: return put(data, at, static_cast<std::uint8_t>(value));
    case 2: return put(data, at, static_cast<std::uint16_t>(value));
    case 4: return put(data, at, static_cast<std::uint32_t>(value));
    default: return put(data, at, value);
  }
}

// Writes a number as an element of a floating or complex type; false for types without a rule.
bool put_float(Bytes& data, std::size_t at, double value, ElementType type) {
  switch (type) {
    case ElementType::f16: put(data, at, f16_bits(static_cast<float>(value))); return true;
    case ElementType::bf16: put(data, at, bf16_bits(static_cast<float>(value))); return true;
    case ElementType::f32: put(data, at, static_cast<float>(value)); return true;
    case ElementType::f64: put(data, at, value); return true;
    case ElementType::c64: put(data, at * 2, static_cast<float>(value)); return true;
    case ElementType::c128: put(data, at * 2, value); return true;
    default: return false;
  }
}

std::string element_text(const HostTensor& tensor, std::size_t at) {
  const BytesView data = tensor.data;
  const ElementType type = tensor.type.element;
  if (is_integer(type)) {
    switch (host_bytes_of(type)) {
      case 1:
        return is_signed(type) ? fmt::format("{}", int{get<std::int8_t>(data, at)})
                               : fmt::format("{}", int{get<std::uint8_t>(data, at)});
      case 2:
        return is_signed(type) ? fmt::format("{}", get<std::int16_t>(data, at))
                               : fmt::format("{}", get<std::uint16_t>(data, at));
      case 4:
        return is_signed(type) ? fmt::format("{}", get<std::int32_t>(data, at))
                               : fmt::format("{}", get<std::uint32_t>(data, at));
      default:
        return is_signed(type) ? fmt::format("{}", get<std::int64_t>(data, at))
                               : fmt::format("{}", get<std::uint64_t>(data, at));
    }
  }
  switch (type) {
    case ElementType::pred: return data[at] == 0 ? "false" : "true";
    case ElementType::f16: return fmt::format("{:.4g}", f16_value(get<std::uint16_t>(data, at)));
    case ElementType::bf16: return fmt::format("{:.4g}", bf16_value(get<std::uint16_t>(data, at)));
    case ElementType::f32: return fmt::format("{:.6g}", get<float>(data, at));
    case ElementType::f64: return fmt::format("{:.6g}", get<double>(data, at));
    case ElementType::c64:
      return fmt::format("{:.6g}{:+.6g}j", get<float>(data, 2 * at), get<float>(data, 2 * at + 1));
    case ElementType::c128:
      return fmt::format("{:.6g}{:+.6g}j", get<double>(data, 2 * at),
                         get<double>(data, 2 * at + 1));
    default: break;
  }
  std::string hex = "0x";  // no rule for the values of this type: its bytes
  const unsigned size = host_bytes_of(type);
  for (unsigned i = size; i-- > 0;) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(data[at * size + i]));
  }
  return hex;
}

}  // namespace

Result<Fill> Fill::parse(const std::string& text) {
  if (text == "zeros") return Fill{Kind::zeros, 0};
  if (text == "iota") return Fill{Kind::iota, 0};
  constexpr std::string_view kRandom = "random:";
  if (text.starts_with(kRandom)) {
    std::uint64_t seed = 0;
    const char* const begin = text.data() + kRandom.size();
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, seed);
    if (error == std::errc{} && stop == end) return Fill{Kind::random, seed};
  }
  return Error(ErrorCode::invalid_argument,
               fmt::format("'{}' is none of zeros, iota, random:SEED (SEED is a whole number)",
                           printable(text, 60)));
}

std::string Fill::to_string() const {
  switch (kind) {
    case Kind::zeros: return "zeros";
    case Kind::iota: return "iota";
    case Kind::random: return fmt::format("random:{}", seed);
  }
  return "";
}

Result<HostTensor> make_tensor(const TensorType& type, const Fill& fill, std::size_t index) {
  const std::optional<std::uint64_t> bytes = type.host_bytes();
  if (!bytes) {
    return Error(
        ErrorCode::invalid_argument,
        fmt::format("{} cannot be filled: it has no size in host memory", type.to_string()));
  }
  HostTensor tensor{type, Bytes(static_cast<std::size_t>(*bytes), '\0')};
  if (fill.kind == Fill::Kind::zeros) return tensor;
  const auto count = static_cast<std::size_t>(type.element_count().value_or(0));
  const bool random = fill.kind == Fill::Kind::random;
  const std::uint64_t start = mixed(fill.seed ^ mixed(index));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random ? mixed(start + i) : i;
    if (type.element == ElementType::pred) {
      tensor.data[i] = static_cast<char>(random ? bits >> 63 : bits & 1);
    } else if (is_integer(type.element)) {
      const std::uint64_t range = count_from_zero(type.element);
      std::uint64_t value = bits;
      if (random) value = (bits >> 32) * 100 >> 32;
      if (range != 0) value %= range;
      put_integer(tensor.data, i, value, host_bytes_of(type.element));
    } else {
      // 24 bits: exact in f32, so that f32 and f64 get equal values.
      const double value = random ? std::ldexp(static_cast<double>(bits >> 40), -23) - 1.0
                                  : static_cast<double>(bits);
      if (!put_float(tensor.data, i, value, type.element)) {
        return Error(ErrorCode::invalid_argument,
                     fmt::format("{} cannot be filled with {}; use --fill zeros, or give it with "
                                 "--input",
                                 type.to_string(), fill.to_string()));
      }
    }
  }
  return tensor;
}

std::string first_values(const HostTensor& tensor, std::size_t count) {
  const unsigned size = host_bytes_of(tensor.type.element);
  if (size == 0) return "";
  const std::size_t there = tensor.data.size() / size;
  std::string text;
  for (std::size_t i = 0; i < std::min(count, there); ++i) {
    if (i != 0) text += ", ";
    text += element_text(tensor, i);
  }
  return there > count ? text + ", \u2026" : text;
}

}  // namespace precast::cli
