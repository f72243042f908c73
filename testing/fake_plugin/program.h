// Programs and executables of the fake plugin as values: what a program asks for, what the compile
// options say, and the bytes that an executable is serialized to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/tensor_type.h"
#include "testing/fake_plugin/config.h"

namespace precast::fake {

// The part of CompileOptionsProto that the fake looks at.
struct Options {
  std::int64_t replicas = 0;
  std::int64_t partitions = 0;
  bool portable = false;
  // Global device ids, position = replica * partitions + partition; nothing when not given.
  std::optional<std::vector<std::int64_t>> assignment;
};

// What compiling gives, and what the serialized bytes hold.
struct Compiled {
  std::string name = "fake_module";
  std::vector<TensorType> parameters;
  std::vector<TensorType> results;
  std::vector<std::int64_t> donated;  // parameters whose buffers a run consumes
  bool serializable = true;
  std::string code;           // the program's bytes; they stand for machine code
  std::string options_bytes;  // CompileOptionsProto as given
  Options options;
  std::string triple, cpu, features;  // what it was compiled for
};

// Reads the comments "// fake: ..." of a program. Throws what they ask for, or INVALID_ARGUMENT.
Compiled parse_program(std::string_view code);

// Throws INVALID_ARGUMENT when they do not parse, or when a count is below 1 (zero bytes of options
// have no counts; XLA's CPU plugin aborts on them).
Options parse_options(std::string_view bytes);

// "f32[4,8]"
TensorType parse_type(std::string_view text);

// xla.HloModuleProtoWithConfig: the shapes, the donations and the counts, no instructions.
std::string encode_module(const Compiled& compiled);
void decode_module(std::string_view module_with_config, Compiled& compiled);

// xla.ExecutableAndOptionsProto around xla.cpu.CompilationResultProto.
std::string encode_executable(const Compiled& compiled);
// Throws INTERNAL when the bytes are damaged anywhere.
Compiled decode_executable(std::string_view bytes);

// xla.DeviceAssignmentProto.
std::string encode_assignment(const std::vector<std::int64_t>& ids, std::int64_t replicas,
                              std::int64_t partitions);

// PjRtTopologyDescriptionProto with a CpuTopologyProto. One process index and one local hardware id
// per device.
std::string encode_topology(const Config& config, const std::vector<int>& process_indices,
                            const std::vector<int>& local_ids);

// FNV-1a, 64 bit.
std::uint64_t checksum(std::string_view bytes);

}  // namespace precast::fake
