// Protobuf messages for tests, field by field.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/wire.h"
#include "precast/bytes.h"
#include "precast/compile_options.h"

namespace precast::proto::testing {

inline Bytes number(std::uint32_t field, std::int64_t value) {
  Bytes bytes;
  base::append_varint(bytes, field, static_cast<std::uint64_t>(value));
  return bytes;
}

inline Bytes text(std::uint32_t field, BytesView value) {
  Bytes bytes;
  base::append_bytes(bytes, field, value);
  return bytes;
}

inline Bytes real(std::uint32_t field, double value) {
  Bytes bytes;
  base::append_double(bytes, field, value);
  return bytes;
}

// A proto float. The wire type stands in the low bits of the tag's first byte.
inline Bytes real32(std::uint32_t field, float value) {
  Bytes bytes = number(field, 0);
  bytes.pop_back();
  bytes.front() = static_cast<char>(bytes.front() | 5);
  auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i) {
    bytes.push_back(static_cast<char>(bits & 0xff));
    bits >>= 8;
  }
  return bytes;
}

inline Bytes packed(std::uint32_t field, std::initializer_list<std::int64_t> values) {
  Bytes content;
  for (const std::int64_t value : values) {
    base::append_packed_varint(content, static_cast<std::uint64_t>(value));
  }
  return text(field, content);
}

// CompileOptionsProto with counts of one, `build` in the build options and `outer` beside them.
inline Bytes options_bytes(const Bytes& build = {}, const Bytes& outer = {}) {
  return text(3, number(4, 1) + number(5, 1) + build) + outer;
}

inline CompileOptions options_of(const Bytes& build = {}, const Bytes& outer = {}) {
  auto options = CompileOptions::from_serialized(options_bytes(build, outer));
  EXPECT_TRUE(options) << options.error().to_string();
  return options ? *options : CompileOptions();
}

// An entry of env_option_overrides.
inline Bytes override_entry(BytesView name, const Bytes& value) {
  return text(7, text(1, name) + text(2, value));
}

inline Bytes test_data(const std::string& name) {
  auto bytes = base::read_file(std::string(PRECAST_TESTDATA) + "/" + name, 1 << 24);
  EXPECT_TRUE(bytes) << name;
  return bytes ? *bytes : Bytes();
}

inline std::vector<Bytes> raw_fields(BytesView message) {
  std::vector<Bytes> fields;
  base::FieldReader reader(message);
  while (reader.next()) fields.emplace_back(reader.field().raw);
  EXPECT_FALSE(reader.damaged());
  return fields;
}

inline Bytes join(const std::vector<Bytes>& fields) {
  Bytes message;
  for (const Bytes& field : fields) message += field;
  return message;
}

}  // namespace precast::proto::testing
