#include "tests/golden/golden_artifacts.h"

#include <limits>

#include "artifact/header.h"
#include "artifact/layout.h"
#include "base/hash.h"

namespace precast::golden {
namespace {

ArtifactContents minimal() {
  ArtifactContents contents;
  contents.key_record = "key record";
  contents.executable = "executable";
  contents.compile_options = "compile options";
  return contents;
}

ArtifactContents full() {
  ArtifactContents contents;
  contents.key_record = Bytes("key\0record", 10);
  contents.executable = Bytes(
      "\x7F"
      "ELF\0\1\2\3",
      8);
  contents.compile_options = Bytes("\x1A\x04\x20\x01\x28\x01", 6);
  ProgramSignature signature;
  signature.name = "jit_rank";
  signature.parameters = {
      {{ElementType::f32, {8, 64}}, {1, 0}, false, "device", "", Donation::none},
      {{ElementType::bf16, {2, 3, 5}},
       {0, 2, 1},
       true,
       "pinned_host",
       Bytes("\x08\0\x12", 3),
       Donation::may_alias},
      {{ElementType::pred, {}}, {}, false, "", "", Donation::must_alias},
      {{ElementType::f6e3m2fn, {std::int64_t{1} << 40}}, {0}, false, "", "", Donation::donor},
  };
  signature.results = {
      {{ElementType::s4, {0}}, {0}, false, "unpinned_host", "", Donation::none},
      {{ElementType::token, {}}, {}, false, "", "", Donation::none},
  };
  contents.signature = signature;
  contents.memory_stats = MemoryStats{1,
                                      128,
                                      1 << 14,
                                      std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min(),
                                      -1};
  contents.cost_analysis = {{"flops", 1.5e9}, {"bytes accessed", 0.0}, {"", -0.25}};
  contents.provenance = {1790000000, "build-7", "0.1.0", "/opt/pjrt/cpu.so", "cpu",
                         "cpu",      "0.115",   612.25,  "nightly",          "jit_rank"};
  contents.program = Bytes("ML\xEFR\0bytes", 10);
  contents.program_format = ProgramFormat::mlir_bytecode;
  contents.front_end = Bytes("front\0end", 9);
  return contents;
}

ArtifactContents large() {
  ArtifactContents contents = full();
  contents.executable.clear();
  for (int i = 0; i < 400; ++i) contents.executable += "instruction " + std::to_string(i) + "\n";
  contents.program = Bytes(2000, 'p');
  contents.program_format = ProgramFormat::hlo_proto;
  return contents;
}

Bytes with_ignorable_section(const Bytes& bytes) {
  const artifact::Header header = artifact::parse_header(bytes).value();
  const Bytes content = "a later version's section";
  std::vector<SectionInfo> sections = header.sections;
  sections.push_back({static_cast<SectionKind>(artifact::kIgnorableKindBit | 1), Codec::none, 0,
                      content.size(), content.size(), base::sha256(content)});
  return artifact::encode_header(sections) + artifact::encode_signatures({}) +
         bytes.substr(header.sections_offset) + content;
}

}  // namespace

SigningKey golden_signer(std::uint8_t number) {
  SigningKey key{};
  key.fill(number);
  return key;
}

Bytes make(const GoldenArtifact& golden) {
  Bytes bytes = encode_artifact(golden.contents, golden.options).value();
  if (golden.has_ignorable_section) bytes = with_ignorable_section(bytes);
  for (const SigningKey& signer : golden.signers) bytes = sign_artifact(bytes, signer).value();
  return bytes;
}

std::vector<GoldenArtifact> golden_artifacts() {
  const EncodeOptions plain{Codec::none, 0};
  const EncodeOptions zstd{Codec::zstd, 3};
  return {
      {"v1/minimal.precast",
       "d4df803dc8bd912eec0ceb2a5733ece2cb54dc7babb0c6ffe179a8f977a811a2",
       minimal(),
       plain,
       {}},
      {"v1/full.precast",
       "79b9da4be614d7f44d35709fb0f364aa33b857553172cc7a983fec3c03090812",
       full(),
       plain,
       {}},
      {"v1/zstd.precast",
       "bbd7b60a504513ef4e95aad5311fc612b981033c7b4f716d413969fc307b3c2a",
       large(),
       zstd,
       {},
       false},
      {"v1/signed.precast",
       "adc64be46e64a5d0e6513defb2b8f3a12971c1ff68c463cd7e92df2b63c0acbd",
       full(),
       plain,
       {golden_signer(1), golden_signer(2)}},
      {"v1/signed-zstd.precast",
       "77d9348085d02468daf86d4e95a683f939d724909bd09a94b2dc3caa2854306d",
       large(),
       zstd,
       {golden_signer(3)},
       false},
      {"v1/ignorable-section.precast",
       "30adec275c2d1181504f79921fa61edac77928257097639d1db2c9e5825e6abc",
       minimal(),
       plain,
       {},
       true,
       true},
  };
}

}  // namespace precast::golden
