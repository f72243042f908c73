// The CPU in a topology and in a serialized executable.
#include <algorithm>
#include <string>

#include "base/wire.h"
#include "proto/edit.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

namespace topology {  // xla.PjRtTopologyDescriptionProto
constexpr std::uint32_t kPlatformSpecificTopology = 9;
}  // namespace topology

namespace any {  // google.protobuf.Any
constexpr std::uint32_t kTypeUrl = 1;
constexpr std::uint32_t kValue = 2;
}  // namespace any

namespace cpu_topology {  // xla.CpuTopologyProto
constexpr std::uint32_t kDevices = 1;
constexpr std::uint32_t kMachineAttributes = 4;  // until November 2025
constexpr std::uint32_t kTargetMachineOptions = 5;
}  // namespace cpu_topology

namespace target_machine_options {  // xla.cpu.TargetMachineOptionsProto
constexpr std::uint32_t kTriple = 1;
constexpr std::uint32_t kCpu = 2;
constexpr std::uint32_t kFeatures = 3;
}  // namespace target_machine_options

// LLVM's names and lists are printable ASCII; anything else is another message.
bool is_printable(BytesView text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::optional<CpuTarget> read_target(BytesView bytes) {
  CpuTarget target;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.type != WireType::bytes) continue;
    switch (field.number) {
      case target_machine_options::kTriple: target.triple = std::string(field.bytes); break;
      case target_machine_options::kCpu: target.name = std::string(field.bytes); break;
      case target_machine_options::kFeatures: target.features = std::string(field.bytes); break;
      default: break;
    }
  }
  if (reader.damaged() || target.triple.empty() || !is_printable(target.triple) ||
      !is_printable(target.name) || !is_printable(target.features)) {
    return std::nullopt;
  }
  return target;
}

// Whether this is an xla.CpuTopologyProto without the message around it that newer plugins put
// there, as PJRT 0.81 gives it. In that message field 1 is a number; here it is a device.
bool is_bare_cpu_topology(BytesView topology_description) {
  bool has_devices = false;
  bool has_features = false;
  FieldReader reader(topology_description);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(cpu_topology::kDevices, WireType::bytes)) {
      has_devices = true;
    } else if (field.is(cpu_topology::kMachineAttributes, WireType::bytes)) {
      has_features = true;
    } else {
      return false;
    }
  }
  return has_devices && has_features;
}

namespace ifrt_header {  // xla.ifrt.SerializedXlaExecutableMetadata
constexpr std::uint32_t kRuntimeName = 2;
constexpr BytesView kPjrt = "pjrt_ifrt";
}  // namespace ifrt_header

// The first two members of what IFRT writes, read as a field of a message: its length and itself.
std::optional<BytesView> delimited(BytesView bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 5; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    length |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    const BytesView rest = bytes.substr(i + 1);
    return length <= rest.size() ? std::optional(rest.substr(0, length)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

BytesView without_ifrt_header(BytesView serialized_executable) {
  const std::optional<BytesView> header = delimited(serialized_executable);
  if (!header || last_bytes(*header, ifrt_header::kRuntimeName) != ifrt_header::kPjrt) {
    return serialized_executable;
  }
  const auto end = static_cast<std::size_t>(header->data() - serialized_executable.data());
  return serialized_executable.substr(end + header->size());
}

std::optional<CpuTarget> cpu_requirement(BytesView serialized_executable) {
  const auto executable =
      last_bytes(serialized_executable, executable_and_options::kSerializedExecutable);
  if (!executable) return std::nullopt;
  const auto target = last_bytes(*executable, compilation_result::kTargetMachineOptions);
  if (!target) return std::nullopt;
  return read_target(*target);
}

std::optional<BytesView> debug_options_of_executable(BytesView serialized_executable) {
  const auto executable =
      last_bytes(serialized_executable, executable_and_options::kSerializedExecutable);
  if (!executable) return std::nullopt;
  const auto program = last_bytes(*executable, compilation_result::kHloModule);
  if (!program) return std::nullopt;
  const auto config = last_bytes(*program, module_with_config::kConfig);
  if (!config) return std::nullopt;
  return last_bytes(*config, module_config::kDebugOptions);
}

Result<Bytes> topology_for_cpu(BytesView topology_description, const CpuTarget& target) {
  const auto specific = last_bytes(topology_description, topology::kPlatformSpecificTopology);
  const auto value = specific ? last_bytes(*specific, any::kValue) : std::nullopt;
  const auto old = value ? last_bytes(*value, cpu_topology::kTargetMachineOptions) : std::nullopt;
  if (!old || !cpu_from_topology(topology_description)) {
    return Error(ErrorCode::unsupported, "the topology does not say for which CPU it compiles");
  }
  const Bytes options = bytes_field(target_machine_options::kTriple, target.triple) +
                        bytes_field(target_machine_options::kCpu, target.name) +
                        bytes_field(target_machine_options::kFeatures, target.features);
  PRECAST_ASSIGN(const Bytes cpu,
                 replace_field(*value, cpu_topology::kTargetMachineOptions,
                               bytes_field(cpu_topology::kTargetMachineOptions, options)));
  PRECAST_ASSIGN(const Bytes any_field,
                 replace_field(*specific, any::kValue, bytes_field(any::kValue, cpu)));
  return replace_field(topology_description, topology::kPlatformSpecificTopology,
                       bytes_field(topology::kPlatformSpecificTopology, any_field));
}

Result<CpuTarget> cpu_from_topology(BytesView topology_description) {
  FieldReader outer(topology_description);
  BytesView specific;
  while (outer.next()) {
    if (outer.field().is(topology::kPlatformSpecificTopology, WireType::bytes)) {
      specific = outer.field().bytes;
    }
  }
  PRECAST_TRY(outer.finish("xla.PjRtTopologyDescriptionProto"));
  const BytesView type = last_bytes(specific, any::kTypeUrl).value_or(BytesView());
  BytesView value = last_bytes(specific, any::kValue).value_or(BytesView());
  if (is_bare_cpu_topology(topology_description)) {
    value = topology_description;
  } else if (!type.ends_with("xla.CpuTopologyProto")) {
    return Error(ErrorCode::unsupported, "the topology is no CPU topology");
  }
  CpuTarget features_only;
  std::optional<CpuTarget> target;
  FieldReader reader(value);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(cpu_topology::kTargetMachineOptions, WireType::bytes)) {
      target = read_target(field.bytes);
    } else if (field.is(cpu_topology::kMachineAttributes, WireType::bytes) &&
               is_printable(field.bytes)) {
      if (!features_only.features.empty()) features_only.features += ",";
      features_only.features += field.bytes;
    }
  }
  PRECAST_TRY(reader.finish("xla.CpuTopologyProto"));
  if (target) return *target;
  if (!features_only.features.empty()) return features_only;
  return Error(ErrorCode::unsupported, "the topology does not say for which CPU it compiles");
}

}  // namespace precast::proto
