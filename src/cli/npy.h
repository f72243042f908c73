// NumPy's .npy files, versions 1 to 3: read and written, nothing unpickled.
//
// Element types that NumPy lacks (bf16, the 8-bit floats, 4-bit integers) are written as NumPy
// writes the ml_dtypes of these names: '<V2' or '<V1', which numpy.load gives as raw bytes to
// .view() as the type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/tensor_type.h"

namespace precast::cli {

// What a file says about its array.
struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;
};

// The header at the start of a file's bytes. invalid_argument, without the file's name, when the
// bytes are not a .npy file of a known version or hold objects or structures.
Result<NpyHeader> parse_npy_header(BytesView bytes);

// The array as a tensor. `wanted` (may be null) is what the program takes: it decides what raw
// two-byte values are, and another type or shape is invalid_argument that says both. Fortran order
// is transposed; big-endian values are refused.
Result<HostTensor> decode_npy(Bytes bytes, const TensorType* wanted);

// The bytes of a .npy file up to the data, which follows as it is. invalid_argument for types
// without data (token).
Result<Bytes> npy_header_for(const TensorType& type);

}  // namespace precast::cli
