#include "artifact/header.h"

#include <algorithm>

#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

std::uint32_t u32(BytesView file, std::size_t offset) {
  return base::read_little_endian<std::uint32_t>(file, offset);
}

std::uint64_t u64(BytesView file, std::size_t offset) {
  return base::read_little_endian<std::uint64_t>(file, offset);
}

Error cut_short(std::uint64_t file_bytes, std::uint64_t needed, const std::string& what) {
  return {ErrorCode::corrupt, "the artifact is cut short: " + what + " ends at byte " +
                                  std::to_string(needed) + ", the file has " +
                                  std::to_string(file_bytes) + " bytes"};
}

// `file` is all of it, or holds all that is looked at.
Error cut_short(BytesView file, std::uint64_t needed, const std::string& what) {
  return cut_short(file.size(), needed, what);
}

Error incompatible(const std::string& what) {
  return {ErrorCode::incompatible,
          what + "; read it with the version of Precast that wrote it, or a newer one"};
}

Result<void> check_magic(BytesView file) {
  if (looks_like_artifact(file)) return {};
  if (file.empty()) return Error(ErrorCode::corrupt, "not a Precast artifact: it is empty");
  if (kMagic.starts_with(file)) return cut_short(file, kMagic.size(), "its magic number");
  // The four bytes behind the name do not survive a transfer as text; say so, it happens.
  if (file.starts_with(kMagic.substr(0, 4))) {
    return Error(ErrorCode::corrupt,
                 "the artifact is damaged at byte 4: its line ends were converted, or its first "
                 "bytes overwritten; transfer it as binary");
  }
  return Error(ErrorCode::corrupt,
               "not a Precast artifact: it does not begin with the magic number");
}

// Whether this is a header of our version with another number written over that of the version: the
// root, which covers the number, fits only with ours. (No header of another version can have that
// digest where ours would end.)
bool is_damaged_version(BytesView file) {
  const std::size_t header_bytes = u32(file, kHeaderBytesOffset);
  if (header_bytes < kFixedHeaderBytes || header_bytes > limits::kMaxHeaderBytes ||
      file.size() < header_bytes + kRootBytes) {
    return false;
  }
  Bytes ours;
  base::append_little_endian(ours, kFormatVersion);
  Bytes header(file.substr(0, header_bytes));
  header.replace(kVersionOffset, ours.size(), ours);
  return base::sha256(header).view() == file.substr(header_bytes, kRootBytes);
}

Result<void> check_version(BytesView file) {
  if (file.size() < kFixedHeaderBytes) return cut_short(file, kFixedHeaderBytes, "its fixed part");
  const std::uint32_t version = u32(file, kVersionOffset);
  if (version == kFormatVersion) return {};
  if (version == 0) return damaged(kVersionOffset, "format version 0 does not exist");
  if (is_damaged_version(file)) {
    return damaged(kVersionOffset, "format version " + std::to_string(version) +
                                       " does not fit the root, and version 1 does");
  }
  return incompatible("the artifact has format version " + std::to_string(version) +
                      ", this Precast reads version " + std::to_string(kFormatVersion));
}

// The header's size, after everything that its fixed part says was found to agree.
Result<std::size_t> header_size(BytesView file) {
  const std::uint32_t count = u32(file, kSectionCountOffset);
  const std::uint32_t size = u32(file, kHeaderBytesOffset);
  if (size > limits::kMaxHeaderBytes) {
    return damaged(kHeaderBytesOffset, "a header of " + std::to_string(size) +
                                           " bytes, more than the limit of " +
                                           std::to_string(limits::kMaxHeaderBytes));
  }
  if (count == 0 || count > limits::kMaxSections) {
    return damaged(kSectionCountOffset, std::to_string(count) + " sections, not 1 to " +
                                            std::to_string(limits::kMaxSections));
  }
  if (size != kFixedHeaderBytes + count * kEntryBytes) {
    return damaged(kHeaderBytesOffset, "a header of " + std::to_string(size) +
                                           " bytes does not hold " + std::to_string(count) +
                                           " sections exactly");
  }
  return size;
}

Result<Digest> check_root(BytesView file, std::size_t header_bytes) {
  Digest root = base::sha256(file.substr(0, header_bytes));
  if (root.view() != file.substr(header_bytes, kRootBytes)) {
    return damaged(
        0, "the digest of the header is not the one at byte " + std::to_string(header_bytes));
  }
  return root;
}

Result<SectionInfo> parse_entry(BytesView file, std::size_t at) {
  SectionInfo section{};
  section.kind = static_cast<SectionKind>(u32(file, at + kEntryKindOffset));
  section.codec = static_cast<Codec>(u32(file, at + kEntryCodecOffset));
  section.stored_bytes = u64(file, at + kEntryStoredBytesOffset);
  section.true_bytes = u64(file, at + kEntryTrueBytesOffset);
  std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at + kEntryDigestOffset),
              section.digest.bytes.size(), section.digest.bytes.begin());

  const std::string name = to_string(section.kind);
  if (!is_known(section.kind) && !is_ignorable(section.kind)) {
    return incompatible("the artifact has a section of an unknown kind (" + name + ")");
  }
  if (section.codec != Codec::none && section.codec != Codec::zstd) {
    return incompatible("the section " + name + " is compressed with an unknown codec (" +
                        to_string(section.codec) + ")");
  }
  if (section.stored_bytes > limits::kMaxSectionBytes) {
    return damaged(at + kEntryStoredBytesOffset, "the section " + name + " has " +
                                                     std::to_string(section.stored_bytes) +
                                                     " stored bytes, more than the limit of " +
                                                     std::to_string(limits::kMaxSectionBytes));
  }
  if (section.true_bytes > max_true_bytes(section.kind)) {
    return damaged(at + kEntryTrueBytesOffset, "the section " + name + " has " +
                                                   std::to_string(section.true_bytes) +
                                                   " bytes, more than the limit of " +
                                                   std::to_string(max_true_bytes(section.kind)));
  }
  if (section.codec == Codec::none && section.stored_bytes != section.true_bytes) {
    return damaged(at + kEntryStoredBytesOffset,
                   "the section " + name + " is not compressed, but its two sizes differ");
  }
  return section;
}

// Kinds rise: each stands at most once, and one content has one order.
Result<std::vector<SectionInfo>> parse_table(BytesView file, std::size_t header_bytes) {
  std::vector<SectionInfo> sections;
  for (std::size_t at = kFixedHeaderBytes; at < header_bytes; at += kEntryBytes) {
    PRECAST_ASSIGN(SectionInfo section, parse_entry(file, at));
    if (!sections.empty() && section.kind <= sections.back().kind) {
      return damaged(at, "the section " + to_string(section.kind) + " does not belong behind " +
                             to_string(sections.back().kind));
    }
    sections.push_back(section);
  }
  return sections;
}

Result<std::vector<ArtifactSignature>> parse_signatures(BytesView file, std::size_t offset) {
  const std::uint32_t count = u32(file, offset);
  if (count > limits::kMaxSignatures) {
    return damaged(offset, std::to_string(count) + " signatures, more than the limit of " +
                               std::to_string(limits::kMaxSignatures));
  }
  std::size_t at = offset + kSignatureCountBytes;
  const std::size_t end = at + count * kSignatureEntryBytes;
  if (file.size() < end) return cut_short(file, end, "its block of signatures");
  std::vector<ArtifactSignature> signatures(count);
  for (ArtifactSignature& signature : signatures) {
    const auto from = file.begin() + static_cast<std::ptrdiff_t>(at);
    std::copy_n(from, kPublicKeyBytes, signature.key.begin());
    std::copy_n(from + kPublicKeyBytes, kSignatureBytes, signature.signature.begin());
    at += kSignatureEntryBytes;
  }
  return signatures;
}

// Sections are contiguous and fill the file, so where each stands follows from the sizes before it.
// The sizes are within their limits: at most kMaxSections of them cannot overflow.
Result<void> place_sections(std::uint64_t file_bytes, std::uint64_t offset,
                            std::vector<SectionInfo>& sections) {
  for (SectionInfo& section : sections) {
    section.offset = offset;
    offset += section.stored_bytes;
    if (offset > file_bytes) {
      return cut_short(file_bytes, offset, "the section " + to_string(section.kind));
    }
  }
  if (offset != file_bytes) {
    return damaged(offset, std::to_string(file_bytes - offset) + " bytes follow the last section");
  }
  return {};
}

}  // namespace

Error damaged(std::uint64_t offset, const std::string& what) {
  return {ErrorCode::corrupt,
          "the artifact is damaged at byte " + std::to_string(offset) + ": " + what};
}

Bytes encode_header(const std::vector<SectionInfo>& sections) {
  const std::size_t size = kFixedHeaderBytes + sections.size() * kEntryBytes;
  Bytes out(kMagic);
  base::append_little_endian(out, kFormatVersion);
  base::append_little_endian(out, static_cast<std::uint32_t>(size));
  base::append_little_endian(out, static_cast<std::uint32_t>(sections.size()));
  base::append_little_endian(out, std::uint32_t{0});  // flags
  for (const SectionInfo& section : sections) {
    base::append_little_endian(out, static_cast<std::uint32_t>(section.kind));
    base::append_little_endian(out, static_cast<std::uint32_t>(section.codec));
    base::append_little_endian(out, section.stored_bytes);
    base::append_little_endian(out, section.true_bytes);
    out.append(section.digest.view());
  }
  out.append(base::sha256(out).view());
  return out;
}

Bytes encode_signatures(const std::vector<ArtifactSignature>& signatures) {
  Bytes out;
  base::append_little_endian(out, static_cast<std::uint32_t>(signatures.size()));
  for (const ArtifactSignature& signature : signatures) {
    out.append(signature.key.begin(), signature.key.end());
    out.append(signature.signature.begin(), signature.signature.end());
  }
  return out;
}

Result<Header> parse_header(BytesView file) { return parse_header(file, file.size()); }

Result<Header> parse_header(BytesView file, std::uint64_t file_bytes) {
  PRECAST_TRY(check_magic(file));
  PRECAST_TRY(check_version(file));
  if (file_bytes > limits::kMaxArtifactBytes) {
    return Error(ErrorCode::corrupt, "the artifact has " + std::to_string(file_bytes) +
                                         " bytes, more than the limit of " +
                                         std::to_string(limits::kMaxArtifactBytes));
  }
  PRECAST_ASSIGN(const std::size_t header_bytes, header_size(file));
  Header header;
  header.signatures_offset = header_bytes + kRootBytes;
  const std::size_t count_end = header.signatures_offset + kSignatureCountBytes;
  if (file.size() < count_end) return cut_short(file, count_end, "its header");
  PRECAST_ASSIGN(header.root, check_root(file, header_bytes));
  if (u32(file, kFlagsOffset) != 0) {
    return incompatible("the artifact's flags ask for a feature that this Precast does not know");
  }
  PRECAST_ASSIGN(header.sections, parse_table(file, header_bytes));
  PRECAST_ASSIGN(header.signatures, parse_signatures(file, header.signatures_offset));
  header.sections_offset = count_end + header.signatures.size() * kSignatureEntryBytes;
  PRECAST_TRY(place_sections(file_bytes, header.sections_offset, header.sections));
  return header;
}

}  // namespace precast::artifact
