#include "base/wire.h"

#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

namespace precast::base {
namespace {

// Field numbers end at 2^29 - 1; a tag is that number and three bits of wire type.
constexpr std::uint64_t kMaxTag = (std::uint64_t{1} << 32) - 1;

// protozero throws on a varint that is cut short or too long; no exception leaves this file.
bool take_varint(BytesView& rest, std::uint64_t& value) {
  const char* position = rest.data();
  const char* const end = rest.data() + rest.size();
  try {
    value = protozero::decode_varint(&position, end);
  } catch (const protozero::exception&) {
    return false;
  }
  rest.remove_prefix(static_cast<std::size_t>(position - rest.data()));
  return true;
}

bool take_fixed(BytesView& rest, std::size_t width, std::uint64_t& value) {
  if (rest.size() < width) return false;
  value = 0;
  for (std::size_t i = width; i > 0; --i) {
    value = (value << 8) | static_cast<unsigned char>(rest[i - 1]);
  }
  rest.remove_prefix(width);
  return true;
}

bool take_field(BytesView& rest, WireField& field) {
  const char* const begin = rest.data();
  std::uint64_t tag = 0;
  if (!take_varint(rest, tag) || tag > kMaxTag || tag >> 3 == 0) return false;
  field = WireField{};
  field.number = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.type = WireType::varint;
      if (!take_varint(rest, field.value)) return false;
      break;
    case 1:
      field.type = WireType::fixed64;
      if (!take_fixed(rest, 8, field.value)) return false;
      break;
    case 2: {
      field.type = WireType::bytes;
      std::uint64_t size = 0;
      if (!take_varint(rest, size) || size > rest.size()) return false;
      field.bytes = rest.substr(0, static_cast<std::size_t>(size));
      rest.remove_prefix(static_cast<std::size_t>(size));
      break;
    }
    case 5:
      field.type = WireType::fixed32;
      if (!take_fixed(rest, 4, field.value)) return false;
      break;
    default: return false;
  }
  field.raw = BytesView(begin, static_cast<std::size_t>(rest.data() - begin));
  return true;
}

}  // namespace

bool FieldReader::next() {
  if (rest_.empty() || damaged_) return false;
  damaged_ = !take_field(rest_, field_);
  return !damaged_;
}

Result<void> FieldReader::finish(const std::string& message_name) const {
  if (damaged_) {
    return Error(ErrorCode::corrupt, message_name + " does not parse: it is no protobuf message, " +
                                         "or it was cut short or changed");
  }
  return {};
}

bool PackedReader::next() {
  if (rest_.empty() || damaged_) return false;
  damaged_ = !take_varint(rest_, value_);
  return !damaged_;
}

void append_varint(Bytes& message, std::uint32_t number, std::uint64_t value) {
  protozero::pbf_writer(message).add_uint64(number, value);
}

void append_bytes(Bytes& message, std::uint32_t number, BytesView content) {
  protozero::pbf_writer(message).add_bytes(number, content.data(), content.size());
}

void append_double(Bytes& message, std::uint32_t number, double value) {
  protozero::pbf_writer(message).add_double(number, value);
}

void append_packed_varint(Bytes& packed, std::uint64_t value) {
  protozero::add_varint_to_buffer(&packed, value);
}

}  // namespace precast::base
