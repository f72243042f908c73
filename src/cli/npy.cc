#include "cli/npy.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstring>
#include <optional>

#include "cli/npy_literal.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

constexpr BytesView kMagic("\x93NUMPY", 6);
// NumPy's own readers refuse longer headers too.
constexpr std::size_t kMaxNpyHeaderBytes = 64 << 10;

Error wrong(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

struct TypeName {
  ElementType type;
  std::string_view kind;  // NumPy's kind and size
};

constexpr std::array<TypeName, 14> kNumpyTypes = {{
    {ElementType::pred, "b1"},
    {ElementType::s8, "i1"},
    {ElementType::s16, "i2"},
    {ElementType::s32, "i4"},
    {ElementType::s64, "i8"},
    {ElementType::u8, "u1"},
    {ElementType::u16, "u2"},
    {ElementType::u32, "u4"},
    {ElementType::u64, "u8"},
    {ElementType::f16, "f2"},
    {ElementType::f32, "f4"},
    {ElementType::f64, "f8"},
    {ElementType::c64, "c8"},
    {ElementType::c128, "c16"},
}};

std::optional<ElementType> type_of_kind(std::string_view kind) {
  for (const TypeName& name : kNumpyTypes) {
    if (name.kind == kind) return name.type;
  }
  return std::nullopt;
}

std::string_view kind_of_type(ElementType type) {
  for (const TypeName& name : kNumpyTypes) {
    if (name.type == type) return name.kind;
  }
  return "";
}

bool is_numpy_type(ElementType type) { return !kind_of_type(type).empty(); }

// Whether values of this NumPy kind can be the raw bytes of a type that NumPy lacks.
bool is_raw_form(std::string_view kind, ElementType type) {
  const unsigned size = host_bytes_of(type);
  if (is_numpy_type(type) || size == 0) return false;
  return kind == fmt::format("V{}", size) || kind == fmt::format("u{}", size) ||
         (kind == "f1" && type == ElementType::f8e5m2);  // what ml_dtypes calls it
}

std::string numpy_name(ElementType type) {
  switch (type) {
    case ElementType::pred: return "bool";
    case ElementType::c64: return "complex64";
    case ElementType::c128: return "complex128";
    default: break;
  }
  const std::string_view kind = kind_of_type(type);
  const std::string_view word = kind[0] == 'f' ? "float" : kind[0] == 'u' ? "uint" : "int";
  return fmt::format("{}{}", word, bits_of(type));
}

// How to make the array fit, in NumPy's words.
std::string conversion_to(ElementType type) {
  if (is_numpy_type(type)) return fmt::format("save it as x.astype('{}')", numpy_name(type));
  return fmt::format("save its raw values as uint{} or with ml_dtypes", host_bytes_of(type) * 8);
}

// The element type of the file. `wanted` may be null.
Result<ElementType> element_type_of(const NpyHeader& header, const TensorType* wanted) {
  const std::string& descr = header.descr;
  if (descr.size() < 2) return wrong(fmt::format("its type '{}' is not known", printable(descr)));
  const char order = descr[0];
  const std::string_view kind = std::string_view(descr).substr(1);
  const bool one_byte =
      kind == "b1" || kind == "i1" || kind == "u1" || kind == "f1" || kind == "V1";
  if (order == '>' && !one_byte) {
    return wrong(fmt::format("its values are big-endian ('{}'); save it as x.astype('<{}')",
                             printable(descr), printable(kind)));
  }
  if (order != '<' && order != '|' && !one_byte) {
    return wrong(fmt::format("its type '{}' is not known", printable(descr)));
  }
  if (wanted != nullptr && is_raw_form(kind, wanted->element)) return wanted->element;
  if (const std::optional<ElementType> type = type_of_kind(kind)) return *type;
  if (kind == "O") {
    return wrong("it holds Python objects, which Precast never loads; save an array of numbers");
  }
  if (wanted != nullptr) {
    return wrong(fmt::format("it holds values of type '{}', but {} is wanted; {}", printable(descr),
                             wanted->to_string(), conversion_to(wanted->element)));
  }
  return wrong(fmt::format("its type '{}' is none that a program takes", printable(descr)));
}

// Column-major to row-major.
Bytes transposed(BytesView data, const std::vector<std::int64_t>& shape,
                 std::size_t element_bytes) {
  const std::size_t rank = shape.size();
  std::vector<std::size_t> strides(rank);  // in elements, of the source
  std::size_t stride = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= static_cast<std::size_t>(shape[d]);
  }
  Bytes out(data.size(), '\0');
  std::vector<std::int64_t> index(rank, 0);
  std::size_t source = 0;
  for (std::size_t at = 0; at < out.size(); at += element_bytes) {
    std::memcpy(out.data() + at, data.data() + source * element_bytes, element_bytes);
    for (std::size_t d = rank; d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d]) break;
      source -= strides[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

Result<NpyHeader> parse_npy_header(BytesView bytes) {
  if (bytes.empty()) return wrong("it is empty");
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    if (bytes.substr(0, 2) == "PK") {
      return wrong("it is a zip file (.npz?); save each array alone with numpy.save");
    }
    return wrong("it is not a .npy file; numpy.save makes one");
  }
  if (bytes.size() < 10) return wrong("it is cut short within the header");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return wrong(fmt::format("its .npy version {} is not known (1 to 3 are)", version));
  }
  const std::size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix) return wrong("it is cut short within the header");
  std::size_t length = 0;
  for (std::size_t i = prefix; i-- > 8;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length > kMaxNpyHeaderBytes) {
    return wrong(
        fmt::format("its header of {} bytes exceeds the limit of {}", length, kMaxNpyHeaderBytes));
  }
  if (bytes.size() < prefix + length) return wrong("it is cut short within the header");
  PRECAST_ASSIGN(NpyHeader header, parse_npy_literal(bytes.substr(prefix, length)));
  header.data_offset = prefix + length;
  return header;
}

Result<HostTensor> decode_npy(Bytes bytes, const TensorType* wanted) {
  PRECAST_ASSIGN(const NpyHeader header, parse_npy_header(bytes));
  HostTensor tensor;
  PRECAST_ASSIGN(tensor.type.element, element_type_of(header, wanted));
  tensor.type.dimensions = header.shape;
  if (wanted != nullptr && tensor.type != *wanted) {
    std::string message =
        fmt::format("it holds {}, but {} is wanted", tensor.type.to_string(), wanted->to_string());
    if (tensor.type.element != wanted->element) message += "; " + conversion_to(wanted->element);
    return wrong(std::move(message));
  }
  const std::optional<std::uint64_t> size = tensor.type.host_bytes();
  if (!size) return wrong(fmt::format("its shape {} is too large", tensor.type.to_string()));
  const std::uint64_t there = bytes.size() - header.data_offset;
  if (there < *size) {
    return wrong(fmt::format("it is cut short: {} needs {} bytes of data, and {} are there",
                             tensor.type.to_string(), *size, there));
  }
  if (there > *size) {
    return wrong(
        fmt::format("{} bytes follow the data of {}", there - *size, tensor.type.to_string()));
  }
  bytes.erase(0, header.data_offset);
  if (tensor.type.element == ElementType::pred &&
      bytes.find_first_not_of(BytesView("\0\1", 2)) != Bytes::npos) {
    return wrong("it holds booleans that are neither 0 nor 1");
  }
  tensor.data = header.fortran_order && header.shape.size() > 1
                    ? transposed(bytes, header.shape, host_bytes_of(tensor.type.element))
                    : std::move(bytes);
  return tensor;
}

Result<Bytes> npy_header_for(const TensorType& type) {
  const unsigned size = host_bytes_of(type.element);
  if (size == 0) {
    return wrong(fmt::format("{} has no data that a .npy file can hold", type.to_string()));
  }
  const std::string_view kind = kind_of_type(type.element);
  const std::string descr = kind.empty()            ? fmt::format("<V{}", size)
                            : kind.substr(1) == "1" ? fmt::format("|{}", kind)
                                                    : fmt::format("<{}", kind);
  std::string shape;
  for (const std::int64_t dimension : type.dimensions) shape += fmt::format("{}, ", dimension);
  if (type.dimensions.size() > 1) shape.resize(shape.size() - 2);
  if (type.dimensions.size() == 1) shape.resize(shape.size() - 1);
  std::string literal =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // The data begins at a multiple of 64, as NumPy pads it; version 1 counts the header in 16 bits.
  const bool long_header = literal.size() + 75 > 0xffff;
  const std::size_t prefix = long_header ? 12 : 10;
  literal.append(63 - (prefix + literal.size()) % 64, ' ');
  literal += '\n';
  Bytes out(kMagic);
  out += long_header ? '\2' : '\1';
  out += '\0';
  for (std::size_t i = 8; i < prefix; ++i) {
    out += static_cast<char>(literal.size() >> (8 * (i - 8)) & 0xff);
  }
  return out + literal;
}

}  // namespace precast::cli
