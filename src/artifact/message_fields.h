// What the messages of messages.h share, on top of base/wire.h.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "base/wire.h"
#include "precast/bytes.h"
#include "precast/error.h"
#include "precast/result.h"

namespace precast::artifact {

using base::WireField;
using base::WireType;

inline Error malformed(const std::string& what) { return {ErrorCode::corrupt, what}; }

// corrupt when a field that is known has another type than it always had.
inline Result<void> expect(const WireField& field, WireType type) {
  if (field.type == type) return {};
  return malformed("field " + std::to_string(field.number) + " has the wrong type");
}

inline Result<void> read(const WireField& field, std::string& target) {
  PRECAST_TRY(expect(field, WireType::bytes));
  target = field.bytes;
  return {};
}

inline Result<void> read(const WireField& field, std::int64_t& target) {
  PRECAST_TRY(expect(field, WireType::varint));
  target = static_cast<std::int64_t>(field.value);
  return {};
}

inline Result<void> read(const WireField& field, double& target) {
  PRECAST_TRY(expect(field, WireType::fixed64));
  target = std::bit_cast<double>(field.value);
  return {};
}

// Calls on_field(field) -> Result<void> for every field of a message.
template <typename OnField>
Result<void> for_each_field(BytesView message, const OnField& on_field) {
  base::FieldReader reader(message);
  while (reader.next()) PRECAST_TRY(on_field(reader.field()));
  return reader.finish("its content");
}

// Fields that have their default are not written.
inline void put(Bytes& message, std::uint32_t number, BytesView text) {
  if (!text.empty()) base::append_bytes(message, number, text);
}

inline void put(Bytes& message, std::uint32_t number, std::int64_t value) {
  if (value != 0) base::append_varint(message, number, static_cast<std::uint64_t>(value));
}

inline void put(Bytes& message, std::uint32_t number, double value) {
  // By its bits: -0.0 equals 0.0 and is another value.
  if (std::bit_cast<std::uint64_t>(value) != 0) base::append_double(message, number, value);
}

}  // namespace precast::artifact
