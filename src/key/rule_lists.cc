// The lists that decide what counts. A change here needs the list's version raised (key_inputs.h).
#include <algorithm>
#include <array>

#include "key/key_inputs.h"

namespace precast::key {
namespace {

struct Variable {
  std::string_view name;
  std::string_view platform;  // empty: every platform
};

// NPROC and PJRT_NPROC act through the CPU count alone, which is in the cpu field; TF_CPP_* only
// log.
constexpr std::array<Variable, 2> kVariables = {{
    {"LLVM_OVERRIDE_PRODUCER", ""},    // LLVM writes it into what it emits
    {"NVIDIA_TF32_OVERRIDE", "cuda"},  // cuBLAS and cuDNN take it into account when they choose
}};

constexpr std::array<std::string_view, 3> kKnownPlatforms = {"cpu", "cuda", "tpu"};

}  // namespace

std::vector<std::string_view> environment_names(std::string_view platform) {
  const bool known =
      std::find(kKnownPlatforms.begin(), kKnownPlatforms.end(), platform) != kKnownPlatforms.end();
  std::vector<std::string_view> names;
  for (const Variable& variable : kVariables) {
    if (!known || variable.platform.empty() || variable.platform == platform) {
      names.push_back(variable.name);
    }
  }
  return names;
}

bool is_neutral_client_option(std::string_view platform, std::string_view name) {
  // Measured on the CPU plugins: neither changes a byte of object code. process_id was not
  // measured, so it counts.
  return platform == "cpu" && (name == "cpu_device_count" || name == "asynchronous");
}

}  // namespace precast::key
