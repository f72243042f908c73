#include "proto/edit.h"

namespace precast::proto {

using base::FieldReader;
using base::WireField;
using base::WireType;

Result<Bytes> edit_fields(BytesView message,
                          const std::function<Replacement(const WireField&)>& edit) {
  Bytes edited;
  edited.reserve(message.size());
  FieldReader reader(message);
  while (reader.next()) {
    const Replacement replacement = edit(reader.field());
    edited += replacement ? BytesView(*replacement) : reader.field().raw;
  }
  PRECAST_TRY(reader.finish("the message"));
  return edited;
}

Result<Bytes> replace_field(BytesView message, std::uint32_t number, BytesView encoded) {
  // An occurrence of another wire type is an unknown field to protobuf, and unknown fields stay.
  FieldReader wanted(encoded);
  const bool typed = wanted.next();
  bool placed = false;
  PRECAST_ASSIGN(Bytes edited, edit_fields(message, [&](const WireField& field) -> Replacement {
                   if (field.number != number) return std::nullopt;
                   if (typed && field.type != wanted.field().type) return std::nullopt;
                   if (placed) return Bytes();
                   placed = true;
                   return Bytes(encoded);
                 }));
  if (!placed) edited += encoded;
  return edited;
}

Bytes varint_field(std::uint32_t number, std::uint64_t value) {
  Bytes field;
  base::append_varint(field, number, value);
  return field;
}

Bytes bytes_field(std::uint32_t number, BytesView content) {
  Bytes field;
  base::append_bytes(field, number, content);
  return field;
}

std::optional<std::uint64_t> last_varint(BytesView message, std::uint32_t number) {
  std::optional<std::uint64_t> found;
  FieldReader reader(message);
  while (reader.next()) {
    if (reader.field().is(number, WireType::varint)) found = reader.field().value;
  }
  if (reader.damaged()) return std::nullopt;
  return found;
}

std::optional<BytesView> last_bytes(BytesView message, std::uint32_t number) {
  std::optional<BytesView> found;
  FieldReader reader(message);
  while (reader.next()) {
    if (reader.field().is(number, WireType::bytes)) found = reader.field().bytes;
  }
  if (reader.damaged()) return std::nullopt;
  return found;
}

}  // namespace precast::proto
