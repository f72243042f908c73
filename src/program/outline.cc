#include "precast/outline.h"

#include <fmt/format.h>

#include <utility>

#include "base/little_endian.h"
#include "base/wire.h"
#include "precast/limits.h"
#include "program/bytecode/bytecode_outline.h"
#include "program/outline_builder.h"
#include "program/text_outline.h"

namespace precast {
namespace {

// The stored form is a protobuf message. Persisted: append only.
namespace field {
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kOpName = 2;
constexpr std::uint32_t kFunction = 3;
constexpr std::uint32_t kLeftOutFunctions = 4;
constexpr std::uint32_t kNoneBecause = 5;
namespace function {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kDigest = 2;
constexpr std::uint32_t kOpCount = 3;
constexpr std::uint32_t kOps = 4;
}  // namespace function
}  // namespace field

constexpr std::uint64_t kVersion = 1;

// An operation: the number of its name, then its digests.
namespace op {
constexpr std::size_t kName = 0;
constexpr std::size_t kAttributes = 2;
constexpr std::size_t kTypes = 6;
constexpr std::size_t kOperands = 8;
constexpr std::size_t kBytes = 10;
}  // namespace op

Bytes encode_function(const OutlineFunction& function) {
  Bytes message;
  base::append_bytes(message, field::function::kName, function.name);
  base::append_varint(message, field::function::kDigest, function.digest);
  base::append_varint(message, field::function::kOpCount, function.op_count);
  Bytes ops;
  ops.reserve(function.ops.size() * op::kBytes);
  for (const OutlineOp& each : function.ops) {
    base::append_little_endian(ops, each.name);
    base::append_little_endian(ops, each.attributes);
    base::append_little_endian(ops, each.types);
    base::append_little_endian(ops, each.operands);
  }
  base::append_bytes(message, field::function::kOps, ops);
  return message;
}

Error damaged(std::string message) {
  return {ErrorCode::corrupt, "the outline is damaged: " + std::move(message)};
}

Result<std::vector<OutlineOp>> decode_ops(BytesView ops) {
  if (ops.size() % op::kBytes != 0) return damaged("its operations end within one");
  std::vector<OutlineOp> decoded;
  decoded.reserve(ops.size() / op::kBytes);
  for (std::size_t at = 0; at < ops.size(); at += op::kBytes) {
    decoded.push_back({base::read_little_endian<std::uint16_t>(ops, at + op::kName),
                       base::read_little_endian<std::uint32_t>(ops, at + op::kAttributes),
                       base::read_little_endian<std::uint16_t>(ops, at + op::kTypes),
                       base::read_little_endian<std::uint16_t>(ops, at + op::kOperands)});
  }
  return decoded;
}

Result<OutlineFunction> decode_function(BytesView message) {
  OutlineFunction function;
  base::FieldReader reader(message);
  while (reader.next()) {
    const base::WireField& at = reader.field();
    if (at.is(field::function::kName, base::WireType::bytes)) function.name = Bytes(at.bytes);
    if (at.is(field::function::kDigest, base::WireType::varint)) function.digest = at.value;
    if (at.is(field::function::kOpCount, base::WireType::varint)) function.op_count = at.value;
    if (at.is(field::function::kOps, base::WireType::bytes)) {
      PRECAST_ASSIGN(function.ops, decode_ops(at.bytes));
    }
  }
  PRECAST_TRY(reader.finish("a function of the outline"));
  if (function.ops.size() > function.op_count) return damaged("more operations than it counts");
  return function;
}

}  // namespace

std::uint64_t Outline::left_out_ops() const {
  std::uint64_t count = 0;
  for (const OutlineFunction& function : functions) {
    count += function.op_count - function.ops.size();
  }
  return count;
}

Bytes Outline::encode() const {
  Bytes message;
  base::append_varint(message, field::kVersion, kVersion);
  for (const std::string& name : op_names) base::append_bytes(message, field::kOpName, name);
  for (const OutlineFunction& function : functions) {
    base::append_bytes(message, field::kFunction, encode_function(function));
  }
  if (left_out_functions != 0) {
    base::append_varint(message, field::kLeftOutFunctions, left_out_functions);
  }
  if (!none_because.empty()) base::append_bytes(message, field::kNoneBecause, none_because);
  return message;
}

Result<Outline> Outline::decode(BytesView bytes) {
  if (bytes.size() > limits::kMaxOutlineBytes) {
    return damaged(fmt::format("it has {} bytes, more than the limit of {}", bytes.size(),
                               limits::kMaxOutlineBytes));
  }
  Outline outline;
  std::uint64_t version = 0;
  base::FieldReader reader(bytes);
  while (reader.next()) {
    const base::WireField& at = reader.field();
    if (at.is(field::kVersion, base::WireType::varint)) version = at.value;
    if (at.is(field::kOpName, base::WireType::bytes)) outline.op_names.emplace_back(at.bytes);
    if (at.is(field::kFunction, base::WireType::bytes)) {
      PRECAST_ASSIGN(OutlineFunction function, decode_function(at.bytes));
      outline.functions.push_back(std::move(function));
    }
    if (at.is(field::kLeftOutFunctions, base::WireType::varint)) {
      outline.left_out_functions = at.value;
    }
    if (at.is(field::kNoneBecause, base::WireType::bytes)) outline.none_because = Bytes(at.bytes);
  }
  PRECAST_TRY(reader.finish("the outline"));
  if (version != kVersion) {
    return Error(
        ErrorCode::incompatible,
        fmt::format("the outline has version {}, this Precast reads {}", version, kVersion));
  }
  for (const OutlineFunction& function : outline.functions) {
    for (const OutlineOp& each : function.ops) {
      if (each.name >= outline.op_names.size()) return damaged("an operation has no name");
    }
  }
  return outline;
}

Outline outline_of(const Program& program, std::size_t max_bytes) {
  const auto finished = [max_bytes](Result<program::OutlineBuilder> built) {
    if (!built) return program::no_outline(built.error().to_string());
    return std::move(built).value().finish(max_bytes);
  };
  switch (program.format()) {
    case ProgramFormat::mlir_bytecode: return finished(program::outline_bytecode(program.bytes()));
    case ProgramFormat::mlir_text: return finished(program::outline_text(program.bytes()));
    case ProgramFormat::hlo_proto: break;
  }
  return program::no_outline("outlines are made of StableHLO, not of HLO modules");
}

Outline outline_of(const Program& program) { return outline_of(program, limits::kMaxOutlineBytes); }

}  // namespace precast
