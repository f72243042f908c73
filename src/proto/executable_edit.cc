#include "proto/executable_edit.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/wire.h"
#include "precast/compile_options.h"
#include "proto/edit.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"
#include "proto/xla_options.h"

namespace precast::proto {

namespace {

// A message with more in it may hold a checksum of the whole.
bool has_known_fields_alone(BytesView serialized_executable) {
  base::FieldReader reader(serialized_executable);
  while (reader.next()) {
    if (reader.field().number > executable_and_options::kClientName) return false;
  }
  return !reader.damaged();
}

}  // namespace

std::optional<Bytes> with_assignment(BytesView serialized_executable,
                                     const std::optional<DeviceAssignment>& asked,
                                     const std::optional<DeviceAssignment>& placed) {
  if (!has_known_fields_alone(serialized_executable)) return std::nullopt;
  const auto stored = last_bytes(serialized_executable, executable_and_options::kCompileOptions);
  auto options = stored ? CompileOptions::from_serialized(Bytes(*stored))
                        : Result<CompileOptions>(Error(ErrorCode::corrupt, "no options"));
  // Other formats may have anything in a field of this number.
  if (!options) return std::nullopt;
  const std::optional<DeviceAssignment> there = options->assignment();
  const std::optional<DeviceAssignment>& wanted = asked || !there ? asked : placed;
  if (there == wanted) return Bytes(serialized_executable);
  options->set_assignment(wanted);
  auto edited =
      replace_field(serialized_executable, executable_and_options::kCompileOptions,
                    bytes_field(executable_and_options::kCompileOptions, options->serialized()));
  if (!edited) return std::nullopt;
  return *std::move(edited);
}

std::optional<Bytes> without_dump_folder(BytesView serialized_executable) {
  const XlaOption* folder = find_option("xla_dump_to");
  const auto debug_options = debug_options_of_executable(serialized_executable);
  if (folder == nullptr || !debug_options || !cpu_requirement(serialized_executable) ||
      !has_known_fields_alone(serialized_executable)) {
    return std::nullopt;
  }
  const auto path = last_bytes(*debug_options, folder->number);
  if (!path || path->empty()) return std::nullopt;
  // The messages around it, from the outermost.
  constexpr std::array<std::uint32_t, 4> kWay = {
      executable_and_options::kSerializedExecutable, compilation_result::kHloModule,
      module_with_config::kConfig, module_config::kDebugOptions};
  std::array<BytesView, kWay.size()> messages;
  BytesView message = serialized_executable;
  for (std::size_t i = 0; i < kWay.size(); ++i) {
    messages[i] = message;
    message = last_bytes(message, kWay[i]).value_or(BytesView());
  }
  auto edited = replace_field(*debug_options, folder->number, {});
  for (std::size_t i = kWay.size(); edited && i-- > 0;) {
    edited = replace_field(messages[i], kWay[i], bytes_field(kWay[i], *edited));
  }
  if (!edited) return std::nullopt;
  return *std::move(edited);
}

}  // namespace precast::proto
