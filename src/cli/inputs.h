// The inputs and outputs of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/values.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::cli {

struct Input {
  HostTensor tensor;
  std::string source;  // the file, or "zeros", "random:7"
};

// One tensor for each parameter: from the files in their order, then made up as `fill` says.
// invalid_argument when there are more files than parameters, when a file is not what its parameter
// takes (the message names file, parameter and both types), or when parameters are left and `fill`
// is nothing: then the message lists all of them. Without a signature the files alone decide.
Result<std::vector<Input>> make_inputs(const std::optional<ProgramSignature>& signature,
                                       const std::vector<std::string>& files,
                                       const std::optional<Fill>& fill);

// Writes a result as .npy in `folder`: output_<result>.npy, and with several devices
// output_<result>_device_<id>.npy. Returns the path.
Result<std::string> write_output_tensor(const HostTensor& tensor, const std::string& folder,
                                        std::size_t result, std::optional<std::int64_t> device);

}  // namespace precast::cli
