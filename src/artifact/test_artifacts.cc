#include "artifact/test_artifacts.h"

#include <algorithm>

#include "artifact/layout.h"
#include "base/hash.h"
#include "base/little_endian.h"

namespace precast::artifact {
namespace {

// Compressible, and unlike any other.
Bytes filler(std::size_t size, std::uint64_t seed) {
  Bytes bytes;
  while (bytes.size() < size) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    bytes += "word" + std::to_string(seed >> 58) + " ";
  }
  bytes.resize(size);
  return bytes;
}

template <typename T>
void set(Bytes& bytes, std::size_t offset, T value) {
  Bytes little;
  base::append_little_endian(little, value);
  bytes.replace(offset, little.size(), little);
}

}  // namespace

ArtifactContents small_contents() {
  ArtifactContents contents;
  contents.key_record = "key";
  contents.executable = "executable";
  contents.compile_options = "options";
  contents.provenance.host = "h";
  return contents;
}

ArtifactContents full_contents() {
  ArtifactContents contents;
  contents.key_record = filler(900, 1);
  contents.executable = filler(6000, 2);
  contents.compile_options = filler(700, 3);
  ProgramSignature signature;
  signature.name = "jit_score";
  TensorSpec row_major{{ElementType::f32, {4, 8}}, {1, 0}, false, "device", "", Donation::none};
  TensorSpec odd{{ElementType::bf16, {2, 3, 5}}, {0, 2, 1},           true, "pinned_host",
                 Bytes("\x08\x00\x12", 3),       Donation::must_alias};
  TensorSpec scalar{{ElementType::pred, {}}, {}, false, "", "", Donation::donor};
  signature.parameters = {row_major, odd, scalar, row_major};
  signature.results = {odd, scalar};
  contents.signature = signature;
  contents.memory_stats = MemoryStats{1, 2, 3, std::int64_t{1} << 40, -5, 6};
  contents.cost_analysis = {{"flops", 1.5e9}, {"bytes accessed", -0.0}, {"", 1e-300}};
  contents.provenance = {1790000000, "build-7", "0.1.0", "/opt/plugin.so", "cpu",
                         "cpu",      "0.115",   612.25,  "nightly",        "jit_score"};
  contents.program = filler(3000, 4);
  contents.program_format = ProgramFormat::hlo_proto;
  contents.front_end = filler(600, 5);
  contents.outline = filler(800, 6);
  return contents;
}

ArtifactContents contents_of(const VerifiedArtifact& artifact) {
  ArtifactContents contents;
  contents.key_record = artifact.key_record();
  contents.executable = artifact.executable();
  contents.compile_options = artifact.compile_options();
  contents.signature = artifact.signature();
  contents.memory_stats = artifact.memory_stats();
  contents.cost_analysis = artifact.cost_analysis();
  contents.provenance = artifact.provenance();
  if (artifact.program()) contents.program = Bytes(*artifact.program());
  contents.program_format = artifact.program_format();
  contents.front_end = artifact.front_end();
  contents.outline = artifact.outline();
  return contents;
}

bool same_contents(const ArtifactContents& left, const ArtifactContents& right) {
  return left.key_record == right.key_record && left.executable == right.executable &&
         left.compile_options == right.compile_options && left.signature == right.signature &&
         left.memory_stats == right.memory_stats && left.cost_analysis == right.cost_analysis &&
         left.provenance == right.provenance && left.program == right.program &&
         left.program_format == right.program_format && left.front_end == right.front_end &&
         left.outline == right.outline;
}

Bytes reseal(Bytes file) {
  if (file.size() < kFixedHeaderBytes) return file;
  const std::size_t header = base::read_little_endian<std::uint32_t>(file, kHeaderBytesOffset);
  if (header < kFixedHeaderBytes || header > file.size()) return file;
  const std::size_t block = header + kRootBytes;
  if (file.size() < block + kSignatureCountBytes) return file;
  const std::size_t signatures = base::read_little_endian<std::uint32_t>(file, block);
  std::size_t offset = block + kSignatureCountBytes + signatures * kSignatureEntryBytes;
  for (std::size_t at = kFixedHeaderBytes; at + kEntryBytes <= header; at += kEntryBytes) {
    const auto size = base::read_little_endian<std::uint64_t>(file, at + kEntryStoredBytesOffset);
    if (offset > file.size() || size > file.size() - offset) break;
    const Digest digest = base::sha256(BytesView(file).substr(offset, size));
    file.replace(at + kEntryDigestOffset, digest.bytes.size(), digest.view());
    offset += size;
  }
  const Digest root = base::sha256(BytesView(file).substr(0, header));
  file.replace(header, kRootBytes, root.view());
  return file;
}

void set_u32(Bytes& bytes, std::size_t offset, std::uint32_t value) { set(bytes, offset, value); }
void set_u64(Bytes& bytes, std::size_t offset, std::uint64_t value) { set(bytes, offset, value); }

std::size_t entry_offset(std::size_t section) { return kFixedHeaderBytes + section * kEntryBytes; }

}  // namespace precast::artifact
