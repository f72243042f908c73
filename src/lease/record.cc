#include "lease/record.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/hash.h"
#include "base/little_endian.h"
#include "base/wire.h"

namespace precast::lease {
namespace {

using base::WireType;

constexpr std::string_view kOwnerMagic = "PLo1";
constexpr std::string_view kEndingMagic = "PLe1";
constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kCheckBytes = 8;

namespace owner_field {
constexpr std::uint32_t kHost = 1;
constexpr std::uint32_t kBootId = 2;
constexpr std::uint32_t kPidNamespace = 3;
constexpr std::uint32_t kPid = 4;
constexpr std::uint32_t kStartTicks = 5;
constexpr std::uint32_t kToken = 6;
constexpr std::uint32_t kProgram = 7;
constexpr std::uint32_t kLabel = 8;
constexpr std::uint32_t kSinceUnixSeconds = 9;
}  // namespace owner_field

namespace ending_field {
constexpr std::uint32_t kVerdict = 1;
constexpr std::uint32_t kPjrtCode = 2;
constexpr std::uint32_t kMessage = 3;
}  // namespace ending_field

std::string_view check_of(const Digest& digest) { return digest.view().substr(0, kCheckBytes); }

Bytes framed(std::string_view magic, BytesView payload) {
  Bytes frame(magic);
  base::append_little_endian(frame, static_cast<std::uint32_t>(payload.size()));
  frame += payload;
  const Digest digest = base::sha256(frame);
  frame += check_of(digest);
  return frame;
}

// The payload of the frame that `bytes` begin with, which is taken away; nothing when there is no
// such frame, or not all of it.
std::optional<BytesView> take_frame(std::string_view magic, BytesView& bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < kMagicBytes + kLengthBytes) return std::nullopt;
  const auto length = base::read_little_endian<std::uint32_t>(bytes, kMagicBytes);
  const std::size_t checked = kMagicBytes + kLengthBytes + std::size_t{length};
  if (bytes.size() < checked + kCheckBytes) return std::nullopt;
  const Digest digest = base::sha256(bytes.substr(0, checked));
  if (bytes.substr(checked, kCheckBytes) != check_of(digest)) return std::nullopt;
  const BytesView payload = bytes.substr(kMagicBytes + kLengthBytes, length);
  bytes.remove_prefix(checked + kCheckBytes);
  return payload;
}

std::string shown(BytesView text) {
  std::string clean(text.substr(0, kMaxOwnerTextBytes));
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return clean;
}

std::optional<Owner> parse_owner(BytesView payload) {
  Owner owner;
  base::FieldReader reader(payload);
  while (reader.next()) {
    const base::WireField& field = reader.field();
    if (field.type == WireType::varint) {
      constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
      const std::uint64_t value = std::min(field.value, kMax);
      switch (field.number) {
        case owner_field::kPidNamespace: owner.pid_namespace = value; break;
        case owner_field::kPid: owner.pid = static_cast<std::int64_t>(value); break;
        case owner_field::kStartTicks: owner.start_ticks = value; break;
        case owner_field::kSinceUnixSeconds:
          owner.since_unix_s = static_cast<std::int64_t>(value);
          break;
        default: break;
      }
    } else if (field.type == WireType::bytes) {
      switch (field.number) {
        case owner_field::kHost: owner.host = shown(field.bytes); break;
        case owner_field::kBootId: owner.boot_id = shown(field.bytes); break;
        case owner_field::kToken: owner.token = field.bytes.substr(0, kMaxOwnerTextBytes); break;
        case owner_field::kProgram: owner.program = shown(field.bytes); break;
        case owner_field::kLabel: owner.label = shown(field.bytes); break;
        default: break;
      }
    }
  }
  if (reader.damaged()) return std::nullopt;
  return owner;
}

std::optional<Ending> parse_ending(BytesView payload) {
  std::uint64_t verdict = 0;
  Ending ending;
  base::FieldReader reader(payload);
  while (reader.next()) {
    const base::WireField& field = reader.field();
    if (field.is(ending_field::kVerdict, WireType::varint)) {
      verdict = field.value;
    } else if (field.is(ending_field::kPjrtCode, WireType::varint)) {
      constexpr std::uint64_t kMax = std::numeric_limits<int>::max();
      ending.pjrt_code = static_cast<int>(std::min(field.value, kMax));
    } else if (field.is(ending_field::kMessage, WireType::bytes)) {
      ending.message = field.bytes;
    }
  }
  if (reader.damaged()) return std::nullopt;
  // A verdict that a later version made says that the lease ended, and nothing that is known here.
  if (verdict < static_cast<std::uint64_t>(Verdict::published) ||
      verdict > static_cast<std::uint64_t>(Verdict::failed)) {
    return Ending{};
  }
  ending.verdict = static_cast<Verdict>(verdict);
  if (ending.verdict != Verdict::failed) return Ending{.verdict = ending.verdict};
  if (ending.message.size() > kMaxEndingMessageBytes) return Ending{};
  return ending;
}

}  // namespace

Bytes encode(const Owner& owner) {
  Bytes payload;
  base::append_bytes(payload, owner_field::kHost, shown(owner.host));
  base::append_bytes(payload, owner_field::kBootId, shown(owner.boot_id));
  base::append_varint(payload, owner_field::kPidNamespace, owner.pid_namespace);
  base::append_varint(payload, owner_field::kPid, static_cast<std::uint64_t>(owner.pid));
  base::append_varint(payload, owner_field::kStartTicks, owner.start_ticks);
  base::append_bytes(payload, owner_field::kToken,
                     BytesView(owner.token).substr(0, kMaxOwnerTextBytes));
  base::append_bytes(payload, owner_field::kProgram, shown(owner.program));
  base::append_bytes(payload, owner_field::kLabel, shown(owner.label));
  base::append_varint(payload, owner_field::kSinceUnixSeconds,
                      static_cast<std::uint64_t>(owner.since_unix_s));
  return framed(kOwnerMagic, payload);
}

Bytes encode(const Ending& ending) {
  if (ending.message.size() > kMaxEndingMessageBytes) return encode(Ending{});
  Bytes payload;
  base::append_varint(payload, ending_field::kVerdict, static_cast<std::uint64_t>(ending.verdict));
  if (ending.verdict == Verdict::failed) {
    base::append_varint(payload, ending_field::kPjrtCode,
                        static_cast<std::uint64_t>(ending.pjrt_code));
    base::append_bytes(payload, ending_field::kMessage, ending.message);
  }
  return framed(kEndingMagic, payload);
}

Record decode(BytesView file) {
  Record record;
  BytesView rest = file.substr(0, kMaxLeaseBytes);
  const std::optional<BytesView> owner = take_frame(kOwnerMagic, rest);
  if (!owner) return record;
  record.owner = parse_owner(*owner);
  if (!record.owner) return record;
  if (const std::optional<BytesView> ending = take_frame(kEndingMagic, rest)) {
    record.ending = parse_ending(*ending);
  }
  return record;
}

}  // namespace precast::lease
