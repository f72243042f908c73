#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "artifact/codec.h"
#include "artifact/header.h"
#include "artifact/layout.h"
#include "artifact/messages.h"
#include "artifact/signing.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/artifact.h"
#include "precast/limits.h"

namespace precast {

// Filled in place and then never changed. Views look into `file`, or into `unpacked` where a
// section was compressed.
struct [[gnu::visibility("hidden")]] VerifiedArtifact::Impl {
  Bytes file;
  artifact::Header header;
  std::deque<artifact::Content> unpacked;

  BytesView key_record;
  BytesView executable;
  BytesView compile_options;
  BytesView front_end;
  BytesView outline;
  std::optional<BytesView> program;
  ProgramFormat program_format = ProgramFormat::mlir_bytecode;
  std::optional<ProgramSignature> signature;
  std::optional<MemoryStats> memory_stats;
  std::vector<CostItem> cost_analysis;
  Provenance provenance;

  BytesView stored(const SectionInfo& section) const {
    return BytesView(file).substr(section.offset, section.stored_bytes);
  }

  Result<void> check_digests() const;
  Result<BytesView> content_of(const SectionInfo& section);
  Result<void> read(const SectionInfo& section);
  Result<void> read_program(BytesView content);
  Result<void> check_complete() const;
};

namespace {

std::string frame_of(const SectionInfo& section) {
  return "in the section " + to_string(section.kind) + " at byte " + std::to_string(section.offset);
}

template <typename T, typename U>
Result<void> keep(Result<T> result, U& target) {
  PRECAST_ASSIGN(target, std::move(result));
  return {};
}

}  // namespace

Result<void> VerifiedArtifact::Impl::check_digests() const {
  for (const SectionInfo& section : header.sections) {
    if (base::sha256(stored(section)) != section.digest) {
      return artifact::damaged(
          section.offset,
          "the digest of the section " + to_string(section.kind) + " is not the one in the header");
    }
  }
  return {};
}

Result<BytesView> VerifiedArtifact::Impl::content_of(const SectionInfo& section) {
  if (section.codec == Codec::none) return stored(section);
  PRECAST_ASSIGN(artifact::Content content,
                 artifact::decompress_zstd(stored(section), section.true_bytes));
  return unpacked.emplace_back(std::move(content)).view();
}

Result<void> VerifiedArtifact::Impl::read_program(BytesView content) {
  if (content.size() < artifact::kProgramFormatBytes) {
    return Error(ErrorCode::corrupt, "it is too short to name the program's format");
  }
  const auto number = base::read_little_endian<std::uint32_t>(content, 0);
  if (number > std::numeric_limits<std::uint8_t>::max() ||
      !artifact::is_known(static_cast<ProgramFormat>(number))) {
    return Error(ErrorCode::incompatible,
                 "the program has a format that this Precast does not know (" +
                     std::to_string(number) + ")");
  }
  program_format = static_cast<ProgramFormat>(number);
  program = content.substr(artifact::kProgramFormatBytes);
  return {};
}

Result<void> VerifiedArtifact::Impl::read(const SectionInfo& section) {
  if (!artifact::is_known(section.kind)) return {};
  PRECAST_ASSIGN(const BytesView content, content_of(section));
  switch (section.kind) {
    case SectionKind::key_record: key_record = content; return {};
    case SectionKind::executable: executable = content; return {};
    case SectionKind::compile_options: compile_options = content; return {};
    case SectionKind::signature: return keep(artifact::decode_signature(content), signature);
    case SectionKind::memory_stats:
      return keep(artifact::decode_memory_stats(content), memory_stats);
    case SectionKind::cost_analysis:
      return keep(artifact::decode_cost_analysis(content), cost_analysis);
    case SectionKind::provenance: return keep(artifact::decode_provenance(content), provenance);
    case SectionKind::program: return read_program(content);
    case SectionKind::front_end: front_end = content; return {};
    case SectionKind::outline: outline = content; return {};
  }
  return {};
}

Result<void> VerifiedArtifact::Impl::check_complete() const {
  const auto missing = [](SectionKind kind) {
    return Error(ErrorCode::corrupt,
                 "the artifact has no section " + to_string(kind) + ", or it is empty");
  };
  if (key_record.empty()) return missing(SectionKind::key_record);
  if (executable.empty()) return missing(SectionKind::executable);
  if (compile_options.empty()) return missing(SectionKind::compile_options);
  return {};
}

Result<VerifiedArtifact> VerifiedArtifact::decode(Bytes bytes, const SignaturePolicy& policy) {
  auto impl = std::make_shared<Impl>();
  impl->file = std::move(bytes);
  PRECAST_ASSIGN(impl->header, artifact::parse_header(impl->file));
  PRECAST_TRY(artifact::check_signatures(impl->header, policy));
  PRECAST_TRY(impl->check_digests());
  for (const SectionInfo& section : impl->header.sections) {
    PRECAST_TRY(impl->read(section).with(frame_of(section)));
  }
  PRECAST_TRY(impl->check_complete());
  return VerifiedArtifact(std::move(impl));
}

Result<VerifiedArtifact> VerifiedArtifact::from_file(const std::string& path,
                                                     const SignaturePolicy& policy) {
  PRECAST_ASSIGN(Bytes bytes, base::read_file(path, limits::kMaxArtifactBytes));
  return decode(std::move(bytes), policy).with("while reading '" + path + "'");
}

std::uint32_t VerifiedArtifact::format_version() const { return impl_->header.version; }
const Digest& VerifiedArtifact::root() const { return impl_->header.root; }
std::uint64_t VerifiedArtifact::file_bytes() const { return impl_->file.size(); }
BytesView VerifiedArtifact::bytes() const { return impl_->file; }
const std::vector<SectionInfo>& VerifiedArtifact::sections() const {
  return impl_->header.sections;
}
const std::vector<ArtifactSignature>& VerifiedArtifact::signatures() const {
  return impl_->header.signatures;
}
BytesView VerifiedArtifact::key_record() const { return impl_->key_record; }
BytesView VerifiedArtifact::executable() const { return impl_->executable; }
BytesView VerifiedArtifact::compile_options() const { return impl_->compile_options; }
BytesView VerifiedArtifact::front_end() const { return impl_->front_end; }
BytesView VerifiedArtifact::outline() const { return impl_->outline; }
std::optional<BytesView> VerifiedArtifact::program() const { return impl_->program; }
ProgramFormat VerifiedArtifact::program_format() const { return impl_->program_format; }
const std::optional<ProgramSignature>& VerifiedArtifact::signature() const {
  return impl_->signature;
}
const std::optional<MemoryStats>& VerifiedArtifact::memory_stats() const {
  return impl_->memory_stats;
}
const std::vector<CostItem>& VerifiedArtifact::cost_analysis() const {
  return impl_->cost_analysis;
}
const Provenance& VerifiedArtifact::provenance() const { return impl_->provenance; }

}  // namespace precast
