// xla.ShapeProto and xla.ProgramShapeProto as flat lists of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "precast/bytes.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::proto {

// XLA's PrimitiveType as the element type of a buffer; nothing for types that no buffer has
// (tuples, opaque values) and for numbers that Precast does not know.
std::optional<ElementType> element_type_of(std::uint64_t primitive_type);

// The tensors of a shape, depth first, and for each the path to it (its xla.ShapeIndex). A shape
// that is no tuple is one tensor with an empty path.
struct FlatShape {
  std::vector<TensorSpec> tensors;
  std::vector<std::vector<std::int64_t>> paths;
};

struct ProgramShape {
  std::vector<FlatShape> parameters;
  FlatShape result;
};

// corrupt when the message does not parse, contradicts itself, or exceeds limits.h; unsupported for
// an element type that no buffer has.
Result<ProgramShape> read_program_shape(BytesView program_shape);

}  // namespace precast::proto
