#include "stats/snapshot.h"

#include <string_view>
#include <utility>

#include "base/sealed.h"
#include "base/wire.h"

namespace precast::stats {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

// Persisted: append only.
constexpr std::string_view kMagic = "PRECSTAT";
constexpr std::uint32_t kVersion = 1;

// Fields of the message, of a cell and of a phase.
enum : std::uint32_t { kCell = 1, kFolded = 2 };
enum : std::uint32_t {
  kStart = 1,
  kLength = 2,
  kLabel = 3,
  kName = 4,
  kCount = 5,
  kSaved = 6,
  kRead = 7,
  kWritten = 8,
  kPhase = 9
};
enum : std::uint32_t {
  kPhaseName = 1,
  kPhaseCount = 2,
  kPhaseTotal = 3,
  kPhaseMax = 4,
  kPhaseBuckets = 5
};

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

Error damaged(const std::string& what) {
  return Error(ErrorCode::corrupt, "a file of counters is damaged: " + what);
}

Bytes encode_phase(const std::string& name, const Times& times) {
  Bytes message;
  base::append_bytes(message, kPhaseName, name);
  base::append_varint(message, kPhaseCount, times.count);
  base::append_varint(message, kPhaseTotal, times.total_us);
  base::append_varint(message, kPhaseMax, times.max_us);
  Bytes buckets;
  for (const auto& [bucket, count] : times.buckets) {
    base::append_packed_varint(buckets, bucket);
    base::append_packed_varint(buckets, count);
  }
  base::append_bytes(message, kPhaseBuckets, buckets);
  return message;
}

Bytes encode_cell(const Totals::Key& key, const Cell& cell) {
  Bytes message;
  base::append_varint(message, kStart, zigzag(key.start_s));
  base::append_varint(message, kLength, static_cast<std::uint64_t>(key.length_s));
  base::append_bytes(message, kLabel, key.label);
  base::append_bytes(message, kName, key.name);
  base::append_varint(message, kCount, cell.count);
  base::append_varint(message, kSaved, zigzag(cell.saved_us));
  base::append_varint(message, kRead, cell.bytes_read);
  base::append_varint(message, kWritten, cell.bytes_written);
  for (const auto& [name, times] : cell.phases) {
    base::append_bytes(message, kPhase, encode_phase(name, times));
  }
  return message;
}

Result<void> decode_buckets(BytesView packed, Times& times) {
  base::PackedReader reader(packed);
  while (reader.next()) {
    const std::uint64_t bucket = reader.value();
    if (bucket >= kBuckets || !reader.next()) return damaged("a bucket of times");
    std::uint64_t& mine = times.buckets[static_cast<std::uint32_t>(bucket)];
    mine = saturated(mine, reader.value());
  }
  if (reader.damaged()) return damaged("the times of a phase");
  return {};
}

Result<void> decode_phase(BytesView message, Cell& cell) {
  std::string name;
  Times times;
  FieldReader reader(message);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(kPhaseName, WireType::bytes)) name = field.bytes;
    if (field.is(kPhaseCount, WireType::varint)) times.count = field.value;
    if (field.is(kPhaseTotal, WireType::varint)) times.total_us = field.value;
    if (field.is(kPhaseMax, WireType::varint)) times.max_us = field.value;
    if (field.is(kPhaseBuckets, WireType::bytes)) PRECAST_TRY(decode_buckets(field.bytes, times));
  }
  PRECAST_TRY(reader.finish("a phase"));
  if (name.size() > kMaxTextBytes) return damaged("the name of a phase is too long");
  if (cell.phases.size() > kMaxPhases) return damaged("too many phases");
  cell.phases[std::move(name)].add(times);
  return {};
}

Result<void> decode_cell(BytesView message, Totals& totals) {
  Totals::Key key;
  Cell cell;
  FieldReader reader(message);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(kStart, WireType::varint)) key.start_s = from_zigzag(field.value);
    if (field.is(kLength, WireType::varint)) key.length_s = static_cast<std::int64_t>(field.value);
    if (field.is(kLabel, WireType::bytes)) key.label = field.bytes;
    if (field.is(kName, WireType::bytes)) key.name = field.bytes;
    if (field.is(kCount, WireType::varint)) cell.count = field.value;
    if (field.is(kSaved, WireType::varint)) cell.saved_us = from_zigzag(field.value);
    if (field.is(kRead, WireType::varint)) cell.bytes_read = field.value;
    if (field.is(kWritten, WireType::varint)) cell.bytes_written = field.value;
    if (field.is(kPhase, WireType::bytes)) PRECAST_TRY(decode_phase(field.bytes, cell));
  }
  PRECAST_TRY(reader.finish("a cell"));
  // Far enough from the ends of the range that sums and days stay in it.
  constexpr std::int64_t kMostSeconds = std::int64_t{1} << 50;
  if (key.length_s != kHour && key.length_s != kDay) return damaged("no hour and no day");
  if (key.start_s < -kMostSeconds || key.start_s > kMostSeconds ||
      key.start_s % key.length_s != 0) {
    return damaged("the time of a cell");
  }
  if (key.label.size() > kMaxTextBytes || key.name.size() > kMaxTextBytes) {
    return damaged("a name is too long");
  }
  totals.add(key, cell);
  if (totals.cells().size() > kMaxCells) return damaged("too many cells");
  return {};
}

}  // namespace

Bytes Snapshot::encode() const {
  Bytes message;
  for (const auto& [key, cell] : totals.cells()) {
    base::append_bytes(message, kCell, encode_cell(key, cell));
  }
  for (const std::string& name : folded) base::append_bytes(message, kFolded, name);
  return base::seal(kMagic, kVersion, message);
}

Bytes Snapshot::encode_bounded(std::int64_t now_unix_s) const {
  Snapshot smaller = *this;
  smaller.totals.fit(now_unix_s);
  Bytes bytes = smaller.encode();
  if (bytes.size() > kMaxFileBytes) {
    smaller.totals.join_labels();
    smaller.totals.join_days(now_unix_s);
    bytes = smaller.encode();
  }
  return bytes;
}

Result<Snapshot> Snapshot::decode(BytesView bytes) {
  PRECAST_ASSIGN(const BytesView message, base::unseal(kMagic, kVersion, bytes));
  Snapshot snapshot;
  FieldReader reader(message);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(kCell, WireType::bytes)) PRECAST_TRY(decode_cell(field.bytes, snapshot.totals));
    if (field.is(kFolded, WireType::bytes)) {
      if (field.bytes.size() > 2 * kMaxTextBytes || snapshot.folded.size() >= kMaxFolded) {
        return damaged("the list of what is in it");
      }
      snapshot.folded.emplace(field.bytes);
    }
  }
  PRECAST_TRY(reader.finish("a file of counters"));
  return snapshot;
}

}  // namespace precast::stats
