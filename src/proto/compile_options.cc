#include "precast/compile_options.h"

#include <cassert>

#include "precast/limits.h"
#include "proto/edit.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"
#include "proto/option_value.h"
#include "proto/xla_options.h"

namespace precast {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;
namespace options = proto::compile_options;
namespace build = proto::build_options;

constexpr std::uint64_t kUnsetOrdinal = ~std::uint64_t{0};  // -1: XLA reads an absent one as 0

Error invalid(const std::string& what) {
  return {ErrorCode::invalid_argument, "compile options: " + what};
}

BytesView build_options_of(BytesView serialized) {
  return proto::last_bytes(serialized, options::kExecutableBuildOptions).value_or(BytesView());
}

int count_of(BytesView serialized, std::uint32_t number) {
  return static_cast<int>(proto::last_varint(build_options_of(serialized), number).value_or(0));
}

// An object of CompileOptions parses, so its edits cannot fail.
Bytes sure(Result<Bytes> edited) {
  assert(edited);
  return std::move(edited).value_or(Bytes());
}

Bytes with_build_field(BytesView serialized, std::uint32_t number, BytesView encoded) {
  const Bytes edited = sure(proto::replace_field(build_options_of(serialized), number, encoded));
  return sure(proto::replace_field(serialized, options::kExecutableBuildOptions,
                                   proto::bytes_field(options::kExecutableBuildOptions, edited)));
}

// A message that stands twice would be merged by protobuf; no serializer writes that, and an edit
// would have to merge too.
Result<std::optional<BytesView>> only_message(BytesView message, std::uint32_t number,
                                              const std::string& name) {
  std::optional<BytesView> found;
  FieldReader reader(message);
  while (reader.next()) {
    if (!reader.field().is(number, WireType::bytes)) continue;
    if (found) return invalid(name + " stands twice");
    found = reader.field().bytes;
  }
  if (reader.damaged()) return invalid("the message does not parse in front of, or in, " + name);
  return found;
}

Result<void> check_parses(BytesView message, const std::string& name) {
  FieldReader reader(message);
  while (reader.next()) {
  }
  if (reader.damaged()) return invalid(name + " does not parse");
  return {};
}

Result<std::uint64_t> checked_count(BytesView build_options, std::uint32_t number,
                                    const std::string& name) {
  const std::uint64_t count = proto::last_varint(build_options, number).value_or(0);
  if (count < 1 || count > limits::kMaxDevices) {
    return invalid(
        "executable_build_options." + name + " is " +
        (count == 0 ? "missing or 0" : std::to_string(static_cast<std::int64_t>(count))) +
        "; it must be from 1 to " + std::to_string(limits::kMaxDevices));
  }
  return count;
}

Result<void> check_assignment(BytesView build_options, std::uint64_t replicas,
                              std::uint64_t partitions) {
  PRECAST_ASSIGN(const std::optional<BytesView> bytes,
                 only_message(build_options, build::kDeviceAssignment, "device_assignment"));
  if (!bytes) return {};
  PRECAST_ASSIGN(const DeviceAssignment assignment,
                 proto::decode_device_assignment(*bytes).with("while reading compile options"));
  if (static_cast<std::uint64_t>(assignment.replicas) != replicas ||
      static_cast<std::uint64_t>(assignment.partitions) != partitions) {
    return invalid("the device assignment is for " + std::to_string(assignment.replicas) + " x " +
                   std::to_string(assignment.partitions) + " devices, the counts say " +
                   std::to_string(replicas) + " x " + std::to_string(partitions));
  }
  return {};
}

Result<void> check_build_options(BytesView build_options) {
  PRECAST_TRY(check_parses(build_options, "executable_build_options"));
  PRECAST_ASSIGN(const std::uint64_t replicas,
                 checked_count(build_options, build::kNumReplicas, "num_replicas"));
  PRECAST_ASSIGN(const std::uint64_t partitions,
                 checked_count(build_options, build::kNumPartitions, "num_partitions"));
  if (replicas * partitions > limits::kMaxDevices) {
    return invalid(std::to_string(replicas) + " replicas x " + std::to_string(partitions) +
                   " partitions are more than the limit of " + std::to_string(limits::kMaxDevices) +
                   " devices");
  }
  PRECAST_TRY(check_assignment(build_options, replicas, partitions));
  PRECAST_ASSIGN(const std::optional<BytesView> debug_options,
                 only_message(build_options, build::kDebugOptions, "debug_options"));
  return check_parses(debug_options.value_or(BytesView()), "debug_options");
}

Result<void> check_overrides(BytesView serialized) {
  FieldReader reader(serialized);
  while (reader.next()) {
    if (!reader.field().is(options::kEnvOptionOverrides, WireType::bytes)) continue;
    PRECAST_TRY(check_parses(reader.field().bytes, "an entry of env_option_overrides"));
  }
  return {};
}

// The name of an entry of env_option_overrides.
BytesView override_name(const WireField& field) {
  return proto::last_bytes(field.bytes, proto::map_entry::kKey).value_or(BytesView());
}

}  // namespace

CompileOptions::CompileOptions() {
  Bytes build_options;
  base::append_varint(build_options, build::kDeviceOrdinal, kUnsetOrdinal);
  base::append_varint(build_options, build::kNumReplicas, 1);
  base::append_varint(build_options, build::kNumPartitions, 1);
  base::append_bytes(serialized_, options::kExecutableBuildOptions, build_options);
}

Result<CompileOptions> CompileOptions::from_serialized(Bytes serialized) {
  PRECAST_TRY(check_parses(serialized, "the message"));
  PRECAST_ASSIGN(
      const std::optional<BytesView> build_options,
      only_message(serialized, options::kExecutableBuildOptions, "executable_build_options"));
  PRECAST_TRY(check_build_options(build_options.value_or(BytesView())));
  PRECAST_TRY(check_overrides(serialized));
  CompileOptions result;
  result.serialized_ = std::move(serialized);
  return result;
}

int CompileOptions::replicas() const { return count_of(serialized_, build::kNumReplicas); }

int CompileOptions::partitions() const { return count_of(serialized_, build::kNumPartitions); }

bool CompileOptions::use_spmd() const {
  return proto::last_varint(build_options_of(serialized_), build::kUseSpmdPartitioning)
             .value_or(0) != 0;
}

bool CompileOptions::portable() const {
  return proto::last_varint(serialized_, proto::compile_options::kCompilePortableExecutable)
             .value_or(0) != 0;
}

void CompileOptions::set_replicas(int count) {
  assert(count >= 1);
  const auto old = assignment();
  serialized_ =
      with_build_field(serialized_, build::kNumReplicas,
                       proto::varint_field(build::kNumReplicas, static_cast<std::uint64_t>(count)));
  if (old && old->replicas != count) set_assignment(std::nullopt);
}

void CompileOptions::set_partitions(int count) {
  assert(count >= 1);
  const auto old = assignment();
  serialized_ = with_build_field(
      serialized_, build::kNumPartitions,
      proto::varint_field(build::kNumPartitions, static_cast<std::uint64_t>(count)));
  if (old && old->partitions != count) set_assignment(std::nullopt);
}

void CompileOptions::set_use_spmd(bool use) {
  serialized_ =
      with_build_field(serialized_, build::kUseSpmdPartitioning,
                       use ? proto::varint_field(build::kUseSpmdPartitioning, 1) : Bytes());
}

void CompileOptions::set_profile(BytesView profile) {
  serialized_ =
      with_build_field(serialized_, build::kFdoProfile,
                       profile.empty() ? Bytes() : proto::bytes_field(build::kFdoProfile, profile));
}

std::optional<DeviceAssignment> CompileOptions::assignment() const {
  const auto bytes = proto::last_bytes(build_options_of(serialized_), build::kDeviceAssignment);
  if (!bytes) return std::nullopt;
  auto decoded = proto::decode_device_assignment(*bytes);
  if (!decoded) return std::nullopt;
  return std::move(decoded).value();
}

void CompileOptions::set_assignment(const std::optional<DeviceAssignment>& assignment) {
  if (!assignment) {
    serialized_ = with_build_field(serialized_, build::kDeviceAssignment, {});
    return;
  }
  const auto set = [&](std::uint32_t number, const Bytes& encoded) {
    serialized_ = with_build_field(serialized_, number, encoded);
  };
  set(build::kDeviceOrdinal, proto::varint_field(build::kDeviceOrdinal, kUnsetOrdinal));
  set(build::kNumReplicas,
      proto::varint_field(build::kNumReplicas, static_cast<std::uint64_t>(assignment->replicas)));
  set(build::kNumPartitions,
      proto::varint_field(build::kNumPartitions,
                          static_cast<std::uint64_t>(assignment->partitions)));
  set(build::kDeviceAssignment,
      proto::bytes_field(build::kDeviceAssignment, proto::encode_device_assignment(*assignment)));
}

Result<void> CompileOptions::set_option(const std::string& name, const std::string& value) {
  if (name.empty() || name.starts_with('-') || name.find('=') != std::string::npos) {
    return Error(ErrorCode::invalid_argument,
                 "'" + name +
                     "' is no option name; write it as xla_cpu_enable_fast_math, without "
                     "dashes and without '='");
  }
  PRECAST_ASSIGN(const Bytes encoded_value, proto::encode_option_value(name, value));
  Bytes entry;
  base::append_bytes(entry, proto::map_entry::kKey, name);
  base::append_bytes(entry, proto::map_entry::kValue, encoded_value);
  const Bytes encoded = proto::bytes_field(options::kEnvOptionOverrides, entry);
  bool placed = false;
  serialized_ =
      sure(proto::edit_fields(serialized_, [&](const WireField& field) -> proto::Replacement {
        if (!field.is(options::kEnvOptionOverrides, WireType::bytes)) return std::nullopt;
        if (override_name(field) != name) return std::nullopt;
        if (placed) return Bytes();
        placed = true;
        return encoded;
      }));
  if (!placed) serialized_ += encoded;
  return {};
}

CompileOptions CompileOptions::without_dumps() const {
  CompileOptions result = *this;
  result.serialized_ =
      sure(proto::edit_fields(serialized_, [](const WireField& field) -> proto::Replacement {
        const bool dump = field.is(options::kEnvOptionOverrides, WireType::bytes) &&
                          proto::is_dump_option(override_name(field));
        return dump ? proto::Replacement(Bytes()) : std::nullopt;
      }));
  // A message that was present stays present, even when nothing is left in it: with debug options
  // XLA does not look at its flags.
  const auto debug_options =
      proto::last_bytes(build_options_of(result.serialized_), build::kDebugOptions);
  if (!debug_options) return result;
  const Bytes cleared =
      sure(proto::edit_fields(*debug_options, [](const WireField& field) -> proto::Replacement {
        const proto::XlaOption* option = proto::find_option(field.number);
        const bool dump = option != nullptr && proto::is_dump_option(option->name);
        return dump ? proto::Replacement(Bytes()) : std::nullopt;
      }));
  result.serialized_ = with_build_field(result.serialized_, build::kDebugOptions,
                                        proto::bytes_field(build::kDebugOptions, cleared));
  return result;
}

}  // namespace precast
