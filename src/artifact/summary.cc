#include "artifact/summary.h"

#include <algorithm>
#include <string>
#include <utility>

#include "artifact/codec.h"
#include "artifact/header.h"
#include "artifact/messages.h"
#include "base/hash.h"

namespace precast::artifact {
namespace {

Result<Bytes> content_of(const SectionInfo& section, const ReadAt& read_at) {
  PRECAST_ASSIGN(Bytes stored, read_at(section.offset, section.stored_bytes));
  if (base::sha256(stored) != section.digest) {
    return damaged(section.offset, "the digest of the section " + to_string(section.kind) +
                                       " is not the one in the header");
  }
  if (section.codec == Codec::none) return stored;
  PRECAST_ASSIGN(const Content content, decompress_zstd(stored, section.true_bytes));
  return Bytes(content.view());
}

}  // namespace

Result<Summary> summarize(std::uint64_t file_bytes, const ReadAt& read_at, Outlines outlines) {
  PRECAST_ASSIGN(const Bytes front,
                 read_at(0, std::min<std::uint64_t>(file_bytes, kMaxFrontBytes)));
  PRECAST_ASSIGN(const Header header, parse_header(front, file_bytes));
  Summary summary;
  for (const SectionInfo& section : header.sections) {
    if (section.kind == SectionKind::executable) summary.executable_bytes = section.true_bytes;
    if (section.kind == SectionKind::key_record) {
      PRECAST_ASSIGN(summary.key_record, content_of(section, read_at));
    }
    if (section.kind == SectionKind::outline && outlines == Outlines::with) {
      PRECAST_ASSIGN(summary.outline, content_of(section, read_at));
    }
    if (section.kind == SectionKind::provenance) {
      PRECAST_ASSIGN(const Bytes content, content_of(section, read_at));
      PRECAST_ASSIGN(summary.provenance, decode_provenance(content));
    }
  }
  if (summary.key_record.empty() || summary.executable_bytes == 0) {
    return Error(ErrorCode::corrupt, "the artifact has no key record or no executable");
  }
  return summary;
}

}  // namespace precast::artifact
