// Protobuf's wire format, one level at a time, without a schema.
//
//   FieldReader reader(message);
//   while (reader.next()) use(reader.field());
//   PRECAST_TRY(reader.finish("xla.CompileOptionsProto"));
//
// Takes hostile bytes: a damaged message ends the loop early, and finish() says so. Views point
// into the message.
#pragma once

#include <cstdint>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::base {

// Groups (3, 4) do not occur in XLA's messages and count as damage.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  // varint, fixed64, fixed32
  BytesView bytes;          // bytes: the content, without its length
  BytesView raw;            // tag and value, as they stand in the message

  bool is(std::uint32_t n, WireType t) const { return number == n && type == t; }
};

class FieldReader {
 public:
  explicit FieldReader(BytesView message) : rest_(message) {}

  // Steps to the next field; false at the end and at damage.
  bool next();
  // The field that next() stepped to; valid until the next call of next().
  const WireField& field() const { return field_; }

  bool damaged() const { return damaged_; }
  // corrupt ("xla.X does not parse") when the message was damaged.
  Result<void> finish(const std::string& message_name) const;

 private:
  BytesView rest_;
  WireField field_;
  bool damaged_ = false;
};

// Steps through a packed list of varints, which proto3 writes for repeated numbers.
class PackedReader {
 public:
  explicit PackedReader(BytesView packed) : rest_(packed) {}
  bool next();
  std::uint64_t value() const { return value_; }
  bool damaged() const { return damaged_; }

 private:
  BytesView rest_;
  std::uint64_t value_ = 0;
  bool damaged_ = false;
};

// A whole field with its tag, appended to `message`.
void append_varint(Bytes& message, std::uint32_t number, std::uint64_t value);
void append_bytes(Bytes& message, std::uint32_t number, BytesView content);
void append_double(Bytes& message, std::uint32_t number, double value);
// An element of a packed list, without a tag.
void append_packed_varint(Bytes& packed, std::uint64_t value);

}  // namespace precast::base
