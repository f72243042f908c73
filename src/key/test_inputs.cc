#include "key/test_inputs.h"

#include "base/hash.h"

namespace precast::key {

KeyInputs sample_inputs() {
  KeyInputs inputs;
  inputs.program = {program::DigestMode::raw,
                    ProgramFormat::mlir_bytecode,
                    base::sha256("a program"),
                    0,
                    1234,
                    "unsupported: a dialect",
                    {}};
  inputs.options = {{"argument_layouts", "0x0801"},
                    {"executable_build_options.num_partitions", "2"},
                    {"override.xla_disable_hlo_passes", "one"},
                    {"override.xla_disable_hlo_passes", "two"}};
  inputs.flags.xla = {{"--xla_cpu_enable_fast_math", "false"},
                      {"--xla_disable_hlo_passes", "one"},
                      {"--xla_disable_hlo_passes", "two"}};
  inputs.client_options = {{"cpu_device_count", std::int64_t{4}}, {"process_id", std::int64_t{0}}};
  inputs.environment = {{"LLVM_OVERRIDE_PRODUCER", "LLVM"}};
  inputs.plugin = {"cpu",
                   "cpu",
                   base::sha256("a plugin"),
                   {0, 115},
                   {{"stablehlo_current_version", std::vector<std::int64_t>{1, 13, 0}},
                    {"xla_version", std::int64_t{2}}},
                   {{"cudnn", "9.1"}, {"ptxas", "12.8"}}};
  inputs.placement.partitions = 2;
  inputs.placement.positions = {{"cpu", 0, 3, {{"coords", "0,0,0"}, {"core_on_chip", "1"}}},
                                {"cpu", 0, std::nullopt, {}}};
  inputs.cpu = HostCpu{{"x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,-sse4a"}, 8, ""};
  inputs.extras = {{"model", "ranker"}, {"team", "ads"}};
  return inputs;
}

}  // namespace precast::key
