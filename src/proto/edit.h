// Edits of protobuf messages that keep everything else byte for byte and in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/wire.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::proto {

// What stands in the place of a field: nothing keeps it, empty bytes remove it.
using Replacement = std::optional<Bytes>;

// A copy of `message` in which `edit` decided about every field. corrupt when it does not parse.
Result<Bytes> edit_fields(BytesView message,
                          const std::function<Replacement(const base::WireField&)>& edit);

// A copy in which `encoded` (whole fields, or nothing) stands in the place of the first field of
// this number, other fields of this number are gone, and where there was none it comes last. Fields
// of another wire type than `encoded` has are left as they are.
Result<Bytes> replace_field(BytesView message, std::uint32_t number, BytesView encoded);

// Whole fields with their tags, for replace_field.
Bytes varint_field(std::uint32_t number, std::uint64_t value);
Bytes bytes_field(std::uint32_t number, BytesView content);

// The last field of this number and type, as protobuf reads a repeated scalar. Nothing when there
// is none or the message is damaged before the end.
std::optional<std::uint64_t> last_varint(BytesView message, std::uint32_t number);
std::optional<BytesView> last_bytes(BytesView message, std::uint32_t number);

}  // namespace precast::proto
