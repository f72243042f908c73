#include "program/hlo_proto.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/wire.h"

namespace precast::program {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

namespace module {  // xla.HloModuleProto
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kEntryComputationName = 2;
constexpr std::uint32_t kComputations = 3;
constexpr std::uint32_t kId = 5;
constexpr std::uint32_t kEntryComputationId = 6;
constexpr std::uint32_t kIsDynamic = 11;
constexpr std::uint32_t kUseAutoSpmdPartitioning = 16;
constexpr std::uint32_t kPjrtId = 23;
constexpr std::uint32_t kLastKnown = 24;
}  // namespace module

namespace computation {  // xla.HloComputationProto
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kInstructions = 2;
constexpr std::uint32_t kId = 5;
}  // namespace computation

namespace instruction {  // xla.HloInstructionProto
constexpr std::uint32_t kCustomCallTarget = 28;
}  // namespace instruction

bool has_known_wire_type(const WireField& field) {
  switch (field.number) {
    case module::kId:
    case module::kEntryComputationId:
    case module::kIsDynamic:
    case module::kUseAutoSpmdPartitioning:
    case module::kPjrtId: return field.type == WireType::varint;
    default: return field.number > module::kLastKnown || field.type == WireType::bytes;
  }
}

struct Computation {
  BytesView name;
  std::uint64_t id = 0;
};

// Nothing when it does not parse or has no instructions.
std::optional<Computation> read_computation(BytesView bytes) {
  Computation result;
  bool has_instructions = false;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(computation::kName, WireType::bytes)) result.name = field.bytes;
    if (field.is(computation::kId, WireType::varint)) result.id = field.value;
    if (field.is(computation::kInstructions, WireType::bytes)) has_instructions = true;
  }
  if (reader.damaged() || !has_instructions || result.name.empty()) return std::nullopt;
  return result;
}

BytesView first_field(BytesView bytes) {
  FieldReader reader(bytes);
  if (!reader.next() || !reader.field().is(1, WireType::bytes)) return {};
  return reader.field().bytes;
}

}  // namespace

void add_custom_calls_of_hlo(BytesView bytes, CustomCallScan& scan) {
  FieldReader computations(bytes);
  while (computations.next()) {
    if (!computations.field().is(module::kComputations, WireType::bytes)) continue;
    FieldReader instructions(computations.field().bytes);
    while (instructions.next()) {
      if (!instructions.field().is(computation::kInstructions, WireType::bytes)) continue;
      FieldReader fields(instructions.field().bytes);
      while (fields.next()) {
        if (fields.field().is(instruction::kCustomCallTarget, WireType::bytes)) {
          scan.add(fields.field().bytes);
        }
      }
      if (fields.damaged()) scan.plain_truncated = true;
    }
    if (instructions.damaged()) scan.plain_truncated = true;
  }
  if (computations.damaged()) scan.plain_truncated = true;
}

bool looks_like_hlo_module(BytesView bytes) {
  BytesView name;
  BytesView entry_name;
  std::uint64_t entry_id = 0;
  std::unordered_set<std::uint64_t> ids;
  std::unordered_set<BytesView> names;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (!has_known_wire_type(field)) return false;
    if (field.number == module::kName) name = field.bytes;
    if (field.number == module::kEntryComputationName) entry_name = field.bytes;
    if (field.number == module::kEntryComputationId) entry_id = field.value;
    if (field.number != module::kComputations) continue;
    const auto computation = read_computation(field.bytes);
    if (!computation) return false;
    ids.insert(computation->id);
    names.insert(computation->name);
  }
  return !reader.damaged() && !name.empty() &&
         (ids.contains(entry_id) || names.contains(entry_name));
}

bool looks_like_wrapped_hlo_module(BytesView bytes) {
  return looks_like_hlo_module(first_field(bytes));
}

bool looks_like_serialized_executable(BytesView bytes) {
  return looks_like_hlo_module(first_field(first_field(first_field(bytes))));
}

}  // namespace precast::program
