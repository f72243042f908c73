// What can be read from the bytes that a plugin hands out. All functions are pure and take hostile
// bytes: they fail or say nothing, and never trust a length or a nesting depth.
#pragma once

#include <optional>
#include <string>

#include "precast/bytes.h"
#include "precast/device_assignment.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::proto {

// The CPU that code is made for, in LLVM's words.
struct CpuTarget {
  std::string triple;    // "x86_64-unknown-linux-gnu"
  std::string name;      // "haswell"; a tuning name, but the compiler keys its schedules on it
  std::string features;  // "+avx,+avx2,-avx512f"; see topology/cpu_features.h
  bool operator==(const CpuTarget&) const = default;
};

// The signature of an optimized program (xla.HloModuleProtoWithConfig): what one device takes and
// gives, after partitioning. A result that is a tuple stands flat, depth first. memory_kind is
// empty. corrupt when the message does not parse, exceeds limits.h, or has no program shape.
Result<ProgramSignature> signature_from_optimized_program(BytesView hlo_module_with_config);

// The CPU that a serialized CPU executable needs (ExecutableAndOptionsProto holding a
// CompilationResultProto); nothing when the bytes are not of that form or do not say.
std::optional<CpuTarget> cpu_requirement(BytesView serialized_executable);

// The CPU that a client compiles for, from its serialized topology (PjRtTopologyDescriptionProto).
// Plugins before November 2025 give features only. corrupt when it does not parse; unsupported when
// it is no CPU topology or does not name the CPU.
Result<CpuTarget> cpu_from_topology(BytesView topology_description);

// The topology with another CPU to compile for. unsupported when it names none.
Result<Bytes> topology_for_cpu(BytesView topology_description, const CpuTarget& target);

// The plugin's bytes inside what IFRT (the layer between JAX and PJRT) serializes: it puts a header
// in front of them, a message with its length that names the runtime "pjrt_ifrt". Other bytes are
// given back whole.
BytesView without_ifrt_header(BytesView serialized_executable);

// The debug options (xla.DebugOptions) that were in force when a serialized CPU executable was
// compiled; nothing when the bytes are not of that form.
std::optional<BytesView> debug_options_of_executable(BytesView serialized_executable);

// xla.DeviceAssignmentProto. Encoding requires replicas * partitions ids.
Bytes encode_device_assignment(const DeviceAssignment& assignment);
// invalid_argument when it does not parse, a count is not in 1..limits::kMaxDevices or does not fit
// the ids.
Result<DeviceAssignment> decode_device_assignment(BytesView bytes);

}  // namespace precast::proto
