#include "cli/inputs.h"

#include <fmt/format.h>

#include <utility>

#include "cli/files.h"
#include "cli/npy.h"
#include "cli/text.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

Error wrong(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

// A line for each parameter, with the file that it gets.
std::string parameter_list(const ProgramSignature& signature,
                           const std::vector<std::string>& files) {
  std::string text;
  for (std::size_t p = 0; p < signature.parameters.size(); ++p) {
    text += fmt::format("\n  {}: {}{}", p, signature.parameters[p].type.to_string(),
                        p < files.size() ? "  " + files[p] : "");
  }
  return text;
}

Result<HostTensor> read_tensor(const std::string& file, std::size_t index, const TensorType* type) {
  PRECAST_ASSIGN(Bytes bytes, read_input(file, limits::kMaxTensorBytes));
  auto tensor = decode_npy(std::move(bytes), type);
  if (tensor) return tensor;
  return wrong(fmt::format("input '{}' (parameter {}{}): {}", file, index,
                           type == nullptr ? "" : ", " + type->to_string(),
                           tensor.error().message()));
}

}  // namespace

Result<std::vector<Input>> make_inputs(const std::optional<ProgramSignature>& signature,
                                       const std::vector<std::string>& files,
                                       const std::optional<Fill>& fill) {
  std::vector<Input> inputs;
  if (!signature) {
    if (fill) {
      return wrong(
          "--fill cannot be used: neither the plugin nor the artifact says what the "
          "program takes; give every input with --input");
    }
    for (const std::string& file : files) {
      PRECAST_ASSIGN(HostTensor tensor, read_tensor(file, inputs.size(), nullptr));
      inputs.push_back({std::move(tensor), file});
    }
    return inputs;
  }
  const auto& parameters = signature->parameters;
  if (files.size() > parameters.size()) {
    return wrong(fmt::format("{} given, but the program takes {}:{}",
                             counted(files.size(), "input"), parameters.size(),
                             parameter_list(*signature, files)));
  }
  if (files.size() < parameters.size() && !fill) {
    return wrong(fmt::format(
        "{} given, but the program takes {}; give the others with --input, or "
        "let --fill make them up:{}",
        counted(files.size(), "input"), parameters.size(), parameter_list(*signature, files)));
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const TensorType& type = parameters[p].type;
    if (p < files.size()) {
      PRECAST_ASSIGN(HostTensor tensor, read_tensor(files[p], p, &type));
      inputs.push_back({std::move(tensor), files[p]});
    } else {
      auto tensor = make_tensor(type, *fill, p);
      if (!tensor) return std::move(tensor).error().with(fmt::format("for parameter {}", p));
      inputs.push_back({std::move(tensor).value(), fill->to_string()});
    }
  }
  return inputs;
}

Result<std::string> write_output_tensor(const HostTensor& tensor, const std::string& folder,
                                        std::size_t result, std::optional<std::int64_t> device) {
  std::string path = device ? fmt::format("{}/output_{}_device_{}.npy", folder, result, *device)
                            : fmt::format("{}/output_{}.npy", folder, result);
  PRECAST_ASSIGN(const Bytes header, npy_header_for(tensor.type));
  PRECAST_TRY(write_output(path, header, tensor.data));
  return path;
}

}  // namespace precast::cli
