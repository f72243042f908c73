// Artifacts: one file that holds an executable and everything that is needed to load it safely.
//
//   PRECAST_ASSIGN(VerifiedArtifact artifact, VerifiedArtifact::from_file("ranker.precast"));
//   PRECAST_ASSIGN(Loaded loaded, load(client, artifact, {}));          // cache.h
//
// Bytes are hostile until they are a VerifiedArtifact: decode() checks magic, format version, sizes
// against limits.h, signatures under the policy and the SHA-256 of every section, and only then
// decompresses. Only a VerifiedArtifact can be loaded. No pickle, no code; docs/format.md has the
// byte tables.
//
// Encoding and decoding are pure: bytes in, bytes out. All types are immutable values, safe to
// share between threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/digest.h"
#include "precast/executable.h"
#include "precast/export.h"
#include "precast/program.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast {

// Persisted: append only.
enum class SectionKind : std::uint32_t {
  key_record = 1,
  executable = 2,
  compile_options = 3,
  signature = 4,
  memory_stats = 5,
  cost_analysis = 6,
  provenance = 7,
  program = 8,
  front_end = 9,  // a front end's own bytes
  // With the top bit: a reader that does not know it passes over it.
  outline = 0x80000002,  // Outline::encode() of the program
};
PRECAST_EXPORT std::string to_string(SectionKind kind);

// Persisted: append only.
enum class Codec : std::uint32_t { none = 0, zstd = 1 };
PRECAST_EXPORT std::string to_string(Codec codec);

// Where an artifact comes from. For people: nothing here is in the key.
struct Provenance {
  std::int64_t created_unix_s = 0;
  std::string host;
  std::string precast_version;
  std::string plugin_path;
  std::string platform;  // "cpu"
  std::string platform_version;
  std::string api_version;  // "0.115"
  double compile_ms = 0;
  std::string label;  // the user's own
  std::string program_name;
  bool operator==(const Provenance&) const = default;
};

// What goes into an artifact.
struct ArtifactContents {
  Bytes key_record;       // KeyRecord::encode(); opaque here
  Bytes executable;       // as the plugin serialized it
  Bytes compile_options;  // serialized xla.CompileOptionsProto, as it was compiled
  std::optional<ProgramSignature> signature;
  std::optional<MemoryStats> memory_stats;
  std::vector<CostItem> cost_analysis;
  Provenance provenance;
  std::optional<Bytes> program;
  ProgramFormat program_format = ProgramFormat::mlir_bytecode;  // meaningful with a program
  Bytes front_end;
  Bytes outline;  // Outline::encode(); opaque here
};

struct EncodeOptions {  // How to store it; the content is the same.
  // The codec of large sections; a section that it does not make smaller is stored as it is.
  Codec codec = Codec::zstd;
  int zstd_level = 3;
};

// Ed25519, raw: a 32-byte seed, a 32-byte public key.
using SigningKey = std::array<std::uint8_t, 32>;
using VerifyKey = std::array<std::uint8_t, 32>;

struct SignaturePolicy {  // Whose artifacts are taken.
  // With required, at least one signature by one of the trusted keys must be there and right, else
  // untrusted. Without, signatures are listed but decide nothing.
  bool required = false;
  std::vector<VerifyKey> trusted;
};

// A section as the header describes it.
struct SectionInfo {
  SectionKind kind;
  Codec codec;
  std::uint64_t offset;  // from the start of the file
  std::uint64_t stored_bytes;
  std::uint64_t true_bytes;
  Digest digest;  // of the stored bytes
};

struct ArtifactSignature {  // Ed25519, over the root.
  VerifyKey key;
  std::array<std::uint8_t, 64> signature;
};

// invalid_argument when a part exceeds its limit or the key record, executable or compile options
// are empty.
PRECAST_EXPORT Result<Bytes> encode_artifact(const ArtifactContents& contents,
                                             const EncodeOptions& options = {});

// A copy of a sound artifact with a signature over its root added. Errors as
// VerifiedArtifact::decode; resource_exhausted beyond limits::kMaxSignatures.
PRECAST_EXPORT Result<Bytes> sign_artifact(BytesView artifact, const SigningKey& key);

// The public half of a signing key.
PRECAST_EXPORT Result<VerifyKey> verify_key_of(const SigningKey& key);

class PRECAST_EXPORT VerifiedArtifact {
 public:
  // Takes the bytes; nothing is copied but what must be decompressed. Errors: corrupt (what is
  // wrong and at which byte); incompatible for a future format version or codec; untrusted under
  // the policy.
  static Result<VerifiedArtifact> decode(Bytes bytes, const SignaturePolicy& policy = {});
  // Reads the file once (at most limits::kMaxArtifactBytes) and decodes.
  static Result<VerifiedArtifact> from_file(const std::string& path,
                                            const SignaturePolicy& policy = {});

  std::uint32_t format_version() const;
  // SHA-256 of the header, which holds the digest of every section: it names the artifact's whole
  // content.
  const Digest& root() const;
  std::uint64_t file_bytes() const;
  BytesView bytes() const;  // the whole file
  const std::vector<SectionInfo>& sections() const;
  const std::vector<ArtifactSignature>& signatures() const;

  BytesView key_record() const;
  BytesView executable() const;
  BytesView compile_options() const;
  BytesView front_end() const;
  BytesView outline() const;  // empty when there is none
  std::optional<BytesView> program() const;
  ProgramFormat program_format() const;
  const std::optional<ProgramSignature>& signature() const;
  const std::optional<MemoryStats>& memory_stats() const;
  const std::vector<CostItem>& cost_analysis() const;
  const Provenance& provenance() const;

 private:
  struct Impl;
  explicit VerifiedArtifact(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Whether bytes begin like an artifact. Decides nothing else.
PRECAST_EXPORT bool looks_like_artifact(BytesView bytes);

}  // namespace precast
