#include <limits>

#include "artifact/message_fields.h"
#include "artifact/messages.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

// Field numbers: append only.
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kParameter = 2;
constexpr std::uint32_t kResult = 3;

constexpr std::uint32_t kElement = 1;
constexpr std::uint32_t kDimensions = 2;
constexpr std::uint32_t kMinorToMajor = 3;
constexpr std::uint32_t kHasTiles = 4;
constexpr std::uint32_t kMemoryKind = 5;
constexpr std::uint32_t kSharding = 6;
constexpr std::uint32_t kDonation = 7;

using artifact::read;

std::string objection_to(const TensorSpec& spec) {
  const std::size_t rank = spec.type.dimensions.size();
  if (rank > limits::kMaxDimensions) {
    return std::to_string(rank) + " dimensions, more than the limit of " +
           std::to_string(limits::kMaxDimensions);
  }
  if (spec.minor_to_major.empty()) return "";
  std::uint64_t seen = 0;
  static_assert(limits::kMaxDimensions <= 64, "one bit per dimension");
  for (const std::int64_t dimension : spec.minor_to_major) {
    if (dimension < 0 || static_cast<std::uint64_t>(dimension) >= rank) {
      return "a layout that names dimension " + std::to_string(dimension) + " of " +
             std::to_string(rank);
    }
    seen |= std::uint64_t{1} << dimension;
  }
  const bool all = std::popcount(seen) == static_cast<int>(rank);
  if (!all || spec.minor_to_major.size() != rank) {
    return "a layout that is no order of its " + std::to_string(rank) + " dimensions";
  }
  return "";
}

std::string objection_to(const std::vector<TensorSpec>& specs, const std::string& what) {
  if (specs.size() > limits::kMaxParameters) {
    return std::to_string(specs.size()) + " " + what + "s, more than the limit of " +
           std::to_string(limits::kMaxParameters);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string objection = objection_to(specs[i]);
    if (!objection.empty()) return what + " " + std::to_string(i) + " has " + objection;
  }
  return "";
}

void put_list(Bytes& message, std::uint32_t number, const std::vector<std::int64_t>& list) {
  Bytes packed;
  for (const std::int64_t value : list) {
    base::append_packed_varint(packed, static_cast<std::uint64_t>(value));
  }
  put(message, number, BytesView(packed));
}

Bytes encode_tensor(const TensorSpec& spec) {
  Bytes out;
  put(out, kElement, static_cast<std::int64_t>(spec.type.element));
  put_list(out, kDimensions, spec.type.dimensions);
  put_list(out, kMinorToMajor, spec.minor_to_major);
  put(out, kHasTiles, static_cast<std::int64_t>(spec.has_tiles));
  put(out, kMemoryKind, BytesView(spec.memory_kind));
  put(out, kSharding, BytesView(spec.sharding));
  put(out, kDonation, static_cast<std::int64_t>(spec.donation));
  return out;
}

Result<void> read(const WireField& field, std::vector<std::int64_t>& list) {
  PRECAST_TRY(expect(field, WireType::bytes));
  list.clear();
  base::PackedReader reader(field.bytes);
  while (reader.next()) {
    if (list.size() == limits::kMaxDimensions) {
      return malformed("a tensor has more dimensions than the limit of " +
                       std::to_string(limits::kMaxDimensions));
    }
    list.push_back(static_cast<std::int64_t>(reader.value()));
  }
  if (reader.damaged()) {
    return malformed("the list in field " + std::to_string(field.number) + " does not parse");
  }
  return {};
}

Result<void> read(const WireField& field, ElementType& element) {
  PRECAST_TRY(expect(field, WireType::varint));
  if (field.value > std::numeric_limits<std::uint32_t>::max()) {
    return malformed("element type " + std::to_string(field.value) + " does not exist");
  }
  element = static_cast<ElementType>(field.value);
  return {};
}

// A later kind of donation must not be taken for none: the caller would use a consumed buffer.
Result<void> read(const WireField& field, Donation& donation) {
  PRECAST_TRY(expect(field, WireType::varint));
  if (field.value > static_cast<std::uint64_t>(Donation::donor)) {
    return Error(ErrorCode::incompatible,
                 "a parameter is donated in a way that this Precast does not know (" +
                     std::to_string(field.value) + ")");
  }
  donation = static_cast<Donation>(field.value);
  return {};
}

Result<void> read(const WireField& field, bool& target) {
  PRECAST_TRY(expect(field, WireType::varint));
  target = field.value != 0;
  return {};
}

Result<TensorSpec> decode_tensor(BytesView bytes) {
  TensorSpec spec;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    switch (field.number) {
      case kElement: return read(field, spec.type.element);
      case kDimensions: return read(field, spec.type.dimensions);
      case kMinorToMajor: return read(field, spec.minor_to_major);
      case kHasTiles: return read(field, spec.has_tiles);
      case kMemoryKind: return read(field, spec.memory_kind);
      case kSharding: return read(field, spec.sharding);
      case kDonation: return read(field, spec.donation);
      default: return {};
    }
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  return spec;
}

Result<void> append_tensor(const WireField& field, std::vector<TensorSpec>& specs) {
  PRECAST_TRY(expect(field, WireType::bytes));
  if (specs.size() == limits::kMaxParameters) {
    return malformed("more parameters or results than the limit of " +
                     std::to_string(limits::kMaxParameters));
  }
  PRECAST_ASSIGN(TensorSpec spec, decode_tensor(field.bytes));
  specs.push_back(std::move(spec));
  return {};
}

}  // namespace

std::string objection_to(const ProgramSignature& signature) {
  std::string objection = objection_to(signature.parameters, "parameter");
  if (objection.empty()) objection = objection_to(signature.results, "result");
  return objection;
}

Bytes encode_signature(const ProgramSignature& signature) {
  Bytes out;
  put(out, kName, BytesView(signature.name));
  for (const TensorSpec& spec : signature.parameters) {
    base::append_bytes(out, kParameter, encode_tensor(spec));
  }
  for (const TensorSpec& spec : signature.results) {
    base::append_bytes(out, kResult, encode_tensor(spec));
  }
  return out;
}

Result<ProgramSignature> decode_signature(BytesView bytes) {
  ProgramSignature signature;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    switch (field.number) {
      case kName: return read(field, signature.name);
      case kParameter: return append_tensor(field, signature.parameters);
      case kResult: return append_tensor(field, signature.results);
      default: return {};
    }
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  const std::string objection = objection_to(signature);
  if (!objection.empty()) return malformed(objection);
  return signature;
}

}  // namespace precast::artifact
