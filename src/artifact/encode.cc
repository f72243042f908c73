#include <optional>
#include <string>
#include <vector>

#include "artifact/codec.h"
#include "artifact/header.h"
#include "artifact/layout.h"
#include "artifact/messages.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/artifact.h"
#include "precast/limits.h"

namespace precast {
namespace {

// Below this, compression saves less than the page that the file takes anyway.
constexpr std::size_t kMinCompressedBytes = 512;

// A section on its way into the file. `stored` looks at the content, or at `owned`.
struct Part {
  SectionKind kind;
  Bytes owned;
  BytesView content;
};

Error refused(const std::string& what) {
  return {ErrorCode::invalid_argument, "cannot make an artifact: " + what};
}

Result<void> check(const ArtifactContents& contents) {
  if (contents.key_record.empty()) return refused("the key record is empty");
  if (contents.executable.empty()) return refused("the executable is empty");
  if (contents.compile_options.empty()) return refused("the compile options are empty");
  if (contents.program && !artifact::is_known(contents.program_format)) {
    return refused("there is no program format " +
                   std::to_string(static_cast<unsigned>(contents.program_format)));
  }
  if (contents.cost_analysis.size() > limits::kMaxCostItems) {
    return refused(std::to_string(contents.cost_analysis.size()) +
                   " cost items, more than the limit of " + std::to_string(limits::kMaxCostItems));
  }
  if (contents.signature) {
    const std::string objection = artifact::objection_to(*contents.signature);
    if (!objection.empty()) return refused("in the program's signature, " + objection);
  }
  return {};
}

Bytes program_section(const ArtifactContents& contents) {
  Bytes section;
  section.reserve(artifact::kProgramFormatBytes + contents.program->size());
  base::append_little_endian(section, static_cast<std::uint32_t>(contents.program_format));
  section.append(*contents.program);
  return section;
}

// In the order of the file: by kind.
std::vector<Part> parts_of(const ArtifactContents& contents) {
  std::vector<Part> parts;
  const auto borrow = [&](SectionKind kind, BytesView content) {
    parts.push_back({kind, Bytes(), content});
  };
  const auto own = [&](SectionKind kind, Bytes content) {
    parts.push_back({kind, std::move(content), BytesView()});
  };
  borrow(SectionKind::key_record, contents.key_record);
  borrow(SectionKind::executable, contents.executable);
  borrow(SectionKind::compile_options, contents.compile_options);
  if (contents.signature) {
    own(SectionKind::signature, artifact::encode_signature(*contents.signature));
  }
  if (contents.memory_stats) {
    own(SectionKind::memory_stats, artifact::encode_memory_stats(*contents.memory_stats));
  }
  if (!contents.cost_analysis.empty()) {
    own(SectionKind::cost_analysis, artifact::encode_cost_analysis(contents.cost_analysis));
  }
  own(SectionKind::provenance, artifact::encode_provenance(contents.provenance));
  if (contents.program) own(SectionKind::program, program_section(contents));
  if (!contents.front_end.empty()) borrow(SectionKind::front_end, contents.front_end);
  if (!contents.outline.empty()) borrow(SectionKind::outline, contents.outline);
  for (Part& part : parts) {
    if (part.content.data() == nullptr) part.content = part.owned;
  }
  return parts;
}

// An outline is mostly digests, which do not get smaller, and every load would have to unpack it.
bool worth_compressing(const Part& part) {
  return part.kind != SectionKind::outline && part.content.size() >= kMinCompressedBytes;
}

// Compresses the part when that is asked for and makes it smaller, and describes what is stored.
Result<SectionInfo> store(Part& part, const EncodeOptions& options) {
  SectionInfo info{};
  info.kind = part.kind;
  info.codec = Codec::none;
  info.true_bytes = part.content.size();
  if (info.true_bytes > artifact::max_true_bytes(part.kind)) {
    return refused("the section " + to_string(part.kind) + " has " +
                   std::to_string(info.true_bytes) + " bytes, more than the limit of " +
                   std::to_string(artifact::max_true_bytes(part.kind)));
  }
  if (options.codec == Codec::zstd && worth_compressing(part)) {
    PRECAST_ASSIGN(Bytes compressed, artifact::compress_zstd(part.content, options.zstd_level));
    if (compressed.size() < part.content.size()) {
      info.codec = Codec::zstd;
      part.owned = std::move(compressed);
      part.content = part.owned;
    }
  }
  info.stored_bytes = part.content.size();
  info.digest = base::sha256(part.content);
  return info;
}

}  // namespace

Result<Bytes> encode_artifact(const ArtifactContents& contents, const EncodeOptions& options) {
  if (options.codec != Codec::none && options.codec != Codec::zstd) {
    return refused("there is no codec " +
                   std::to_string(static_cast<std::uint32_t>(options.codec)));
  }
  PRECAST_TRY(check(contents));
  std::vector<Part> parts = parts_of(contents);
  std::vector<SectionInfo> sections;
  std::uint64_t size = 0;
  for (Part& part : parts) {
    PRECAST_ASSIGN(const SectionInfo info, store(part, options));
    size += info.stored_bytes;
    sections.push_back(info);
  }
  Bytes out = artifact::encode_header(sections);
  out += artifact::encode_signatures({});
  size += out.size();
  if (size > limits::kMaxArtifactBytes) {
    return refused("it would have " + std::to_string(size) + " bytes, more than the limit of " +
                   std::to_string(limits::kMaxArtifactBytes));
  }
  out.reserve(size);
  for (const Part& part : parts) out.append(part.content);
  return out;
}

}  // namespace precast
