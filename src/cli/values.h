// Element values: to text, and made up for inputs that are not given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "precast/bytes.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/tensor_type.h"

namespace precast::cli {

// How --fill makes inputs.
struct Fill {
  enum class Kind { zeros, iota, random };
  Kind kind = Kind::zeros;
  std::uint64_t seed = 0;  // of random

  // "zeros", "iota" or "random:SEED". invalid_argument otherwise.
  static Result<Fill> parse(const std::string& text);
  std::string to_string() const;
};

// A tensor of made-up values, the same on every machine.
//   zeros   every byte is zero
//   iota    0, 1, 2, ... in row-major order, from 0 again where the type's range ends (pred: 0, 1)
//   random  floats uniform in [-1, 1), integers uniform in [0, 100) cut to the type's range,
//           pred 0 or 1; `index` is the parameter's, so that parameters differ
// invalid_argument when the type is too large, or has no such values (the 8-bit floats: use zeros).
Result<HostTensor> make_tensor(const TensorType& type, const Fill& fill, std::size_t index);

// The first `count` values as text, parted by ", ", with "..." behind when there are more.
std::string first_values(const HostTensor& tensor, std::size_t count);

}  // namespace precast::cli
