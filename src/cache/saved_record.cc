// Saved key records: encoding, comparing.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "artifact/messages.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"
#include "cache/outline_section.h"
#include "key/build_record.h"
#include "precast/explain.h"
#include "precast/limits.h"
#include "program/program_digest.h"

namespace precast {
namespace {

// As an artifact's magic, for the same reasons.
constexpr std::string_view kMagic = "\x9EPCR\r\n\x1A\n";
constexpr std::size_t kDigestBytes = 32;
constexpr std::uint64_t kVersion = 1;

// Persisted: append only.
namespace field {
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kRecord = 2;
constexpr std::uint32_t kOutline = 3;
constexpr std::uint32_t kProvenance = 4;
constexpr std::uint32_t kOutcome = 5;
constexpr std::uint32_t kReason = 6;
constexpr std::uint32_t kDetail = 7;
}  // namespace field

Error damaged(std::string message) {
  return {ErrorCode::corrupt, "the saved record is damaged: " + std::move(message)};
}

Result<SavedRecord> decode_message(BytesView message) {
  SavedRecord saved;
  std::uint64_t version = 0;
  base::FieldReader reader(message);
  while (reader.next()) {
    const base::WireField& at = reader.field();
    if (at.is(field::kVersion, base::WireType::varint)) version = at.value;
    if (at.is(field::kRecord, base::WireType::bytes)) {
      PRECAST_ASSIGN(saved.record, KeyRecord::decode(at.bytes));
    }
    if (at.is(field::kOutline, base::WireType::bytes)) {
      PRECAST_ASSIGN(saved.outline, Outline::decode(at.bytes));
    }
    if (at.is(field::kProvenance, base::WireType::bytes)) {
      PRECAST_ASSIGN(saved.provenance, artifact::decode_provenance(at.bytes));
    }
    if (at.is(field::kOutcome, base::WireType::varint)) {
      saved.outcome = static_cast<Outcome>(static_cast<std::uint8_t>(at.value));
    }
    if (at.is(field::kReason, base::WireType::varint)) {
      saved.reason = static_cast<Reason>(static_cast<std::uint8_t>(at.value));
    }
    if (at.is(field::kDetail, base::WireType::bytes)) saved.detail = Bytes(at.bytes);
  }
  PRECAST_TRY(reader.finish("the saved record"));
  if (version != kVersion) {
    return Error(
        ErrorCode::incompatible,
        fmt::format("the saved record has version {}, this Precast reads {}", version, kVersion));
  }
  if (saved.record.fields().empty()) return damaged("it holds no key record");
  return saved;
}

// What the outlines of two programs that differ cannot show.
std::string note_of(const Outline& left, const Outline& right, bool found) {
  for (const Outline* outline : {&left, &right}) {
    if (!outline->none_because.empty()) {
      return "no outline to compare: " + outline->none_because;
    }
  }
  const std::uint64_t ops = left.left_out_ops() + right.left_out_ops();
  const std::uint64_t functions = left.left_out_functions + right.left_out_functions;
  if (ops + functions != 0) {
    return fmt::format("the outlines leave out {} operations and {} functions", ops, functions);
  }
  return found ? "" : "the outlines show no difference";
}

}  // namespace

Outline cache::outline_from_section(BytesView section) {
  Outline none;
  if (section.empty()) {
    none.none_because = "the artifact holds none";
    return none;
  }
  Result<Outline> outline = Outline::decode(section);
  if (outline) return std::move(outline).value();
  none.none_because = outline.error().to_string();
  return none;
}

bool looks_like_saved_record(BytesView bytes) { return bytes.starts_with(kMagic); }

Bytes SavedRecord::encode() const {
  Bytes message;
  base::append_varint(message, field::kVersion, kVersion);
  base::append_bytes(message, field::kRecord, record.encode());
  base::append_bytes(message, field::kOutline, outline.encode());
  base::append_bytes(message, field::kProvenance, artifact::encode_provenance(provenance));
  base::append_varint(message, field::kOutcome, static_cast<std::uint64_t>(outcome));
  base::append_varint(message, field::kReason, static_cast<std::uint64_t>(reason));
  base::append_bytes(message, field::kDetail, detail);
  Bytes bytes(kMagic);
  bytes.append(Digest::of(message).view());
  return bytes + message;
}

Result<SavedRecord> SavedRecord::decode(BytesView bytes) {
  if (!looks_like_saved_record(bytes)) return damaged("it does not begin like one");
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() < kDigestBytes) return damaged("it is cut short");
  const BytesView message = bytes.substr(kDigestBytes);
  if (Digest::of(message).view() != bytes.substr(0, kDigestBytes)) {
    return damaged("its digest is not that of its content");
  }
  return decode_message(message);
}

Result<SavedRecord> SavedRecord::from_file(const std::string& path) {
  PRECAST_ASSIGN(const Bytes bytes, base::read_file(path, limits::kMaxSavedRecordBytes));
  return decode(bytes).with("while reading '" + path + "'");
}

SavedRecord SavedRecord::from_program(const Program& program) {
  SavedRecord saved;
  saved.record = KeyRecord({key::program_field(program::digest_program(program))});
  saved.outline = outline_of(program);
  saved.provenance.program_name = program.name();
  return saved;
}

Result<SavedRecord> SavedRecord::from_artifact(const VerifiedArtifact& artifact) {
  SavedRecord saved;
  PRECAST_ASSIGN(saved.record, KeyRecord::decode(artifact.key_record()));
  saved.provenance = artifact.provenance();
  saved.outline = cache::outline_from_section(artifact.outline());
  return saved;
}

RecordDifferences compare(const SavedRecord& left, const SavedRecord& right) {
  RecordDifferences differences;
  differences.items = diff(left.record, right.record);
  const KeyField* left_program = left.record.find("program");
  const KeyField* right_program = right.record.find("program");
  const bool same_program =
      left_program != nullptr && right_program != nullptr && *left_program == *right_program;
  if (same_program) return differences;
  differences.program = diff(left.outline, right.outline);
  differences.program_note = note_of(left.outline, right.outline, !differences.program.empty());
  return differences;
}

}  // namespace precast
