#include "proto/lean.h"

#include <cstdint>
#include <functional>
#include <utility>

#include "base/wire.h"
#include "proto/edit.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"

namespace precast::proto {
namespace {

using base::WireField;
using base::WireType;

namespace hlo_module {  // xla.HloModuleProto
constexpr std::uint32_t kComputations = 3;
constexpr std::uint32_t kStackFrameIndex = 17;
}  // namespace hlo_module

constexpr std::uint32_t kInstructions = 2;  // of xla.HloComputationProto

namespace hlo_instruction {  // xla.HloInstructionProto
constexpr std::uint32_t kMetadata = 7;
constexpr std::uint32_t kOriginalValue = 88;
}  // namespace hlo_instruction

using Edit = Result<Bytes> (*)(BytesView);

// A copy in which `edit` made another message of each message in field `number`, and the fields of
// `dropped` are gone.
Result<Bytes> edit_within(BytesView message, std::uint32_t number, Edit edit,
                          std::uint32_t dropped = 0) {
  std::optional<Error> failed;
  auto edited = edit_fields(message, [&](const WireField& field) -> Replacement {
    if (dropped != 0 && field.is(dropped, WireType::bytes)) return Bytes();
    if (failed || !field.is(number, WireType::bytes)) return std::nullopt;
    auto inner = edit(field.bytes);
    if (!inner) {
      failed = std::move(inner).error();
      return std::nullopt;
    }
    return bytes_field(number, *inner);
  });
  if (failed) return *std::move(failed);
  return edited;
}

Result<Bytes> lean_instruction(BytesView instruction) {
  return edit_fields(instruction, [](const WireField& field) -> Replacement {
    if (field.is(hlo_instruction::kMetadata, WireType::bytes) ||
        field.is(hlo_instruction::kOriginalValue, WireType::bytes)) {
      return Bytes();
    }
    return std::nullopt;
  });
}

Result<Bytes> lean_computation(BytesView computation) {
  return edit_within(computation, kInstructions, lean_instruction);
}

Result<Bytes> lean_module(BytesView module) {
  return edit_within(module, hlo_module::kComputations, lean_computation,
                     hlo_module::kStackFrameIndex);
}

Result<Bytes> lean_module_with_config(BytesView module) {
  return edit_within(module, module_with_config::kModule, lean_module);
}

Result<Bytes> lean_result(BytesView result) {
  return edit_within(result, compilation_result::kHloModule, lean_module_with_config);
}

}  // namespace

std::optional<Bytes> lean_cpu_executable(BytesView serialized_executable) {
  // Only what names the CPU it was made for is the message that these numbers belong to.
  if (!cpu_requirement(serialized_executable)) return std::nullopt;
  auto lean = edit_within(serialized_executable, executable_and_options::kSerializedExecutable,
                          lean_result);
  if (!lean || lean->size() >= serialized_executable.size()) return std::nullopt;
  return *std::move(lean);
}

}  // namespace precast::proto
