#include "artifact/layout.h"

#include "precast/limits.h"

namespace precast {

std::string to_string(SectionKind kind) {
  switch (kind) {
    case SectionKind::key_record: return "key_record";
    case SectionKind::executable: return "executable";
    case SectionKind::compile_options: return "compile_options";
    case SectionKind::signature: return "signature";
    case SectionKind::memory_stats: return "memory_stats";
    case SectionKind::cost_analysis: return "cost_analysis";
    case SectionKind::provenance: return "provenance";
    case SectionKind::program: return "program";
    case SectionKind::front_end: return "front_end";
    case SectionKind::outline: return "outline";
  }
  return "kind" + std::to_string(static_cast<std::uint32_t>(kind));
}

std::string to_string(Codec codec) {
  switch (codec) {
    case Codec::none: return "none";
    case Codec::zstd: return "zstd";
  }
  return "codec" + std::to_string(static_cast<std::uint32_t>(codec));
}

bool looks_like_artifact(BytesView bytes) { return bytes.starts_with(artifact::kMagic); }

namespace artifact {

bool is_known(SectionKind kind) {
  return (kind >= SectionKind::key_record && kind <= SectionKind::front_end) ||
         kind == SectionKind::outline;
}

bool is_known(ProgramFormat format) {
  return format >= ProgramFormat::mlir_text && format <= ProgramFormat::hlo_proto;
}

bool is_ignorable(SectionKind kind) {
  return (static_cast<std::uint32_t>(kind) & kIgnorableKindBit) != 0;
}

std::uint64_t max_true_bytes(SectionKind kind) {
  switch (kind) {
    case SectionKind::signature:
    case SectionKind::memory_stats:
    case SectionKind::cost_analysis:
    case SectionKind::provenance: return limits::kMaxMetadataBytes;
    case SectionKind::program: return limits::kMaxProgramBytes + kProgramFormatBytes;
    case SectionKind::outline: return limits::kMaxOutlineBytes;
    default: return limits::kMaxSectionBytes;
  }
}

}  // namespace artifact
}  // namespace precast
