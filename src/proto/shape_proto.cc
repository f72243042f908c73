#include "proto/shape_proto.h"

#include <array>
#include <string>

#include "base/wire.h"
#include "precast/limits.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::PackedReader;
using base::WireField;
using base::WireType;

namespace shape {  // xla.ShapeProto
constexpr std::uint32_t kElementType = 2;
constexpr std::uint32_t kDimensions = 3;
constexpr std::uint32_t kTupleShapes = 4;
constexpr std::uint32_t kLayout = 5;
constexpr std::uint32_t kIsDynamicDimension = 6;
}  // namespace shape

namespace layout {  // xla.LayoutProto
constexpr std::uint32_t kMinorToMajor = 1;
constexpr std::uint32_t kTiles = 6;
constexpr std::uint32_t kElementSizeInBits = 7;
constexpr std::uint32_t kMemorySpace = 8;
constexpr std::uint32_t kTailPaddingAlignment = 16;
}  // namespace layout

namespace program_shape {  // xla.ProgramShapeProto
constexpr std::uint32_t kParameters = 1;
constexpr std::uint32_t kResult = 2;
}  // namespace program_shape

constexpr std::uint64_t kTuple = 13;  // PrimitiveType

Error corrupt(const std::string& what) { return {ErrorCode::corrupt, "xla.ShapeProto " + what}; }

// Numbers of one field, packed or not, at most `most` of them.
Result<void> append_numbers(std::vector<std::int64_t>& numbers, const WireField& field,
                            std::size_t most, const char* what) {
  if (field.type == WireType::varint) {
    numbers.push_back(static_cast<std::int64_t>(field.value));
  } else if (field.type == WireType::bytes) {
    PackedReader packed(field.bytes);
    while (packed.next() && numbers.size() <= most) {
      numbers.push_back(static_cast<std::int64_t>(packed.value()));
    }
    if (packed.damaged()) return corrupt(std::string("has damaged ") + what);
  } else {
    return corrupt(std::string("has ") + what + " of a wrong type");
  }
  if (numbers.size() > most) {
    return corrupt(std::string("has more ") + what + " than the limit of " + std::to_string(most));
  }
  return {};
}

struct Layout {
  bool present = false;
  std::vector<std::int64_t> minor_to_major;
  // Something beside the order of dimensions tells where an element is.
  bool special = false;
  std::uint64_t element_bits = 0;
};

Result<Layout> read_layout(BytesView bytes) {
  Layout result;
  result.present = true;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case layout::kMinorToMajor:
        PRECAST_TRY(append_numbers(result.minor_to_major, field, limits::kMaxDimensions,
                                   "dimensions in its layout"));
        break;
      case layout::kElementSizeInBits: result.element_bits = field.value; break;
      // Which memory it is in does not change where an element is.
      case layout::kMemorySpace: break;
      // 1 element is no padding, and what XLA writes for every shape.
      case layout::kTailPaddingAlignment: result.special |= field.value > 1; break;
      case layout::kTiles: result.special = true; break;
      // Sparse and split layouts, and what may come: present means special, as bytes even when
      // empty.
      default: result.special |= field.type == WireType::bytes || field.value != 0; break;
    }
  }
  if (reader.damaged()) return corrupt("has a layout that does not parse");
  return result;
}

// Fills the layout of `spec`; without one it is XLA's default, row-major.
Result<void> apply_layout(TensorSpec& spec, const Layout& layout) {
  const std::size_t rank = spec.type.dimensions.size();
  if (!layout.present || (layout.minor_to_major.empty() && rank != 0)) {
    for (std::size_t i = rank; i > 0; --i) {
      spec.minor_to_major.push_back(static_cast<std::int64_t>(i - 1));
    }
  } else {
    std::array<bool, limits::kMaxDimensions> seen{};
    if (layout.minor_to_major.size() != rank) {
      return corrupt("has " + std::to_string(rank) + " dimensions and a layout of " +
                     std::to_string(layout.minor_to_major.size()));
    }
    for (const std::int64_t dimension : layout.minor_to_major) {
      const auto index = static_cast<std::uint64_t>(dimension);
      if (index >= rank || seen[index]) return corrupt("has a layout that is no permutation");
      seen[index] = true;
    }
    spec.minor_to_major = layout.minor_to_major;
  }
  const unsigned bits = bits_of(spec.type.element);
  if (layout.special || (layout.element_bits != 0 && layout.element_bits != bits)) {
    spec.has_tiles = true;
  }
  return {};
}

// Reads shapes below a parameter or a result into one flat list, within limits over all of it.
class ShapeReader {
 public:
  Result<FlatShape> read(BytesView bytes) {
    FlatShape flat;
    std::vector<std::int64_t> path;
    PRECAST_TRY(read_into(flat, bytes, path));
    return flat;
  }

 private:
  Result<void> read_into(FlatShape& flat, BytesView bytes, std::vector<std::int64_t>& path) {
    if (path.size() > static_cast<std::size_t>(limits::kMaxNesting)) {
      return corrupt("nests tuples deeper than the limit of " +
                     std::to_string(limits::kMaxNesting));
    }
    // Tuples count too: nested empty ones cost as little as tensors.
    if (++shapes_ > limits::kMaxParameters) {
      return corrupt("has more parts than the limit of " + std::to_string(limits::kMaxParameters));
    }
    std::uint64_t element_type = 0;
    TensorSpec spec;
    Layout layout;
    std::vector<std::int64_t> dynamic;
    FieldReader reader(bytes);
    std::int64_t next_part = 0;
    while (reader.next()) {
      const WireField& field = reader.field();
      if (field.is(shape::kElementType, WireType::varint)) {
        element_type = field.value;
      } else if (field.number == shape::kDimensions) {
        PRECAST_TRY(
            append_numbers(spec.type.dimensions, field, limits::kMaxDimensions, "dimensions"));
      } else if (field.number == shape::kIsDynamicDimension) {
        PRECAST_TRY(append_numbers(dynamic, field, limits::kMaxDimensions, "dynamic dimensions"));
      } else if (field.is(shape::kLayout, WireType::bytes)) {
        PRECAST_ASSIGN(layout, read_layout(field.bytes));
      } else if (field.is(shape::kTupleShapes, WireType::bytes)) {
        path.push_back(next_part++);
        PRECAST_TRY(read_into(flat, field.bytes, path));
        path.pop_back();
      }
    }
    if (reader.damaged()) return corrupt("does not parse");
    if (element_type == kTuple) return {};
    if (next_part != 0) return corrupt("has tuple parts and is no tuple");
    return finish(flat, std::move(spec), element_type, layout, dynamic, path);
  }

  static Result<void> finish(FlatShape& flat, TensorSpec spec, std::uint64_t element_type,
                             const Layout& layout, const std::vector<std::int64_t>& dynamic,
                             const std::vector<std::int64_t>& path) {
    const auto element = element_type_of(element_type);
    if (!element) {
      return Error(ErrorCode::unsupported, "a program with values of XLA's element type " +
                                               std::to_string(element_type) +
                                               " has no signature that Precast can describe");
    }
    spec.type.element = *element;
    for (const std::int64_t dimension : spec.type.dimensions) {
      if (dimension < 0) return corrupt("has a negative dimension");
    }
    PRECAST_TRY(apply_layout(spec, layout));
    // A dimension that varies is told beside the elements.
    for (const std::int64_t is_dynamic : dynamic) spec.has_tiles |= is_dynamic != 0;
    flat.tensors.push_back(std::move(spec));
    flat.paths.push_back(path);
    return {};
  }

  std::uint32_t shapes_ = 0;
};

}  // namespace

std::optional<ElementType> element_type_of(std::uint64_t primitive_type) {
  using enum ElementType;
  // Indexed by xla.PrimitiveType.
  static constexpr std::array<ElementType, 37> kTypes = {invalid,
                                                         pred,
                                                         s8,
                                                         s16,
                                                         s32,
                                                         s64,
                                                         u8,
                                                         u16,
                                                         u32,
                                                         u64,
                                                         f16,
                                                         f32,
                                                         f64,
                                                         invalid /*tuple*/,
                                                         invalid /*opaque*/,
                                                         c64,
                                                         bf16,
                                                         token,
                                                         c128,
                                                         f8e5m2,
                                                         f8e4m3fn,
                                                         s4,
                                                         u4,
                                                         f8e4m3b11fnuz,
                                                         f8e5m2fnuz,
                                                         f8e4m3fnuz,
                                                         s2,
                                                         u2,
                                                         f8e4m3,
                                                         f8e3m4,
                                                         s1,
                                                         u1,
                                                         f4e2m1fn,
                                                         f8e8m0fnu,
                                                         invalid /*buffer*/,
                                                         f6e3m2fn,
                                                         f6e2m3fn};
  if (primitive_type >= kTypes.size() || kTypes[primitive_type] == invalid) return std::nullopt;
  return kTypes[primitive_type];
}

Result<ProgramShape> read_program_shape(BytesView bytes) {
  ProgramShape program;
  ShapeReader shapes;
  bool has_result = false;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(program_shape::kParameters, WireType::bytes)) {
      PRECAST_ASSIGN(program.parameters.emplace_back(), shapes.read(field.bytes));
    } else if (field.is(program_shape::kResult, WireType::bytes)) {
      if (has_result) return Error(ErrorCode::corrupt, "xla.ProgramShapeProto has two results");
      has_result = true;
      PRECAST_ASSIGN(program.result, shapes.read(field.bytes));
    }
  }
  PRECAST_TRY(reader.finish("xla.ProgramShapeProto"));
  if (!has_result) return Error(ErrorCode::corrupt, "xla.ProgramShapeProto has no result");
  return program;
}

}  // namespace precast::proto
