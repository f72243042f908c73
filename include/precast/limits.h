// Every bound of Precast, in one place. A limit that is hit is named in the error message.
#pragma once

#include <cstddef>
#include <cstdint>

namespace precast::limits {

// A program file. XLA's own bound on a serialized message is 2 GiB.
inline constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{2} << 30;

// A tensor file given as input (.npy).
inline constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{64} << 30;

// Artifact: the header (fixed part, section table), one section as stored and as decoded, and the
// number of sections.
inline constexpr std::uint64_t kMaxHeaderBytes = 64 << 10;
inline constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{4} << 30;
inline constexpr std::uint32_t kMaxSections = 64;
inline constexpr std::uint32_t kMaxSignatures = 16;
// The largest window that a zstd frame may ask for: 2^27 bytes, what the zstd command accepts by
// default.
inline constexpr int kMaxZstdWindowLog = 27;
// What is kept in an artifact for people and for checks: one such section as decoded, and the
// number of cost items.
inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;
inline constexpr std::uint32_t kMaxCostItems = 1 << 16;
// An executable as the plugin serialized it. XLA's messages are parsed with 32-bit signed sizes.
inline constexpr std::uint64_t kMaxExecutableBytes = (std::uint64_t{1} << 31) - 1;
// A whole artifact file; larger files are refused before they are read.
inline constexpr std::uint64_t kMaxArtifactBytes = std::uint64_t{8} << 30;

// Key record: fields, items in a field (eight for each of kMaxDevices), bytes of a name, bytes of a
// value.
inline constexpr std::uint32_t kMaxKeyFields = 64;
inline constexpr std::uint32_t kMaxKeyItems = 1 << 23;
inline constexpr std::uint32_t kMaxKeyNameBytes = 1 << 12;
inline constexpr std::uint32_t kMaxKeyValueBytes = 64 << 20;

// Files that compile options and flags name: how many, files in one folder, bytes of all of them,
// and of a file that holds flags. Beyond these the cache is bypassed.
inline constexpr std::uint32_t kMaxOptionFiles = 1024;
inline constexpr std::uint32_t kMaxOptionFolderFiles = 4096;
inline constexpr std::uint64_t kMaxOptionContentBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxFlagsFileBytes = std::uint64_t{1} << 20;

// Compile options: fields of a message and values in all.
inline constexpr std::uint32_t kMaxOptionItems = 1 << 16;

// Program signature: parameters, results, dimensions of one tensor.
inline constexpr std::uint32_t kMaxParameters = 1 << 20;
inline constexpr std::uint32_t kMaxDimensions = 64;
// Nesting of tuple shapes and of protobuf messages that are walked.
inline constexpr int kMaxNesting = 64;

// Placement: replicas x partitions.
inline constexpr std::uint64_t kMaxDevices = 1 << 20;

// Spare bytes behind every PJRT argument struct: a newer plugin reads zeros there and may write
// results there.
inline constexpr std::size_t kPjrtSpareBytes = 128;

// A plugin's digest is not remembered when the file changed less than this before it was hashed: on
// a coarse clock a second change could carry the same time stamp.
inline constexpr std::int64_t kPluginDigestMinAgeSeconds = 2;

// Digest of a program by its structure. Bytecode: the entries of one table of the file (strings,
// attributes, types, operation names, property sets, resources; a large program has a few
// thousand), how deep attributes, types and regions nest, and the bytes of a name of a dialect, an
// operation, an attribute or a resource. Text: how deep brackets nest.
inline constexpr std::uint64_t kMaxBytecodeEntries = 1 << 22;
inline constexpr int kMaxBytecodeNesting = 128;
inline constexpr std::size_t kMaxBytecodeNameBytes = 1 << 10;
inline constexpr std::size_t kMaxTextNesting = 1 << 10;
// What a program may expand to while it is digested: real ones stay below their own size, hostile
// ones refer to one large thing very often.
constexpr std::uint64_t program_expansion_bytes(std::uint64_t program_bytes) {
  return 8 * program_bytes + (64 << 10);
}
// An outline of a program, encoded. What does not fit is left out and counted.
inline constexpr std::size_t kMaxOutlineBytes = std::size_t{256} << 10;
// A saved key record, how many of them are kept on a machine, and how many entries a search for the
// nearest looks at.
inline constexpr std::uint64_t kMaxSavedRecordBytes = std::uint64_t{80} << 20;
inline constexpr std::size_t kMaxMissRecords = 128;
inline constexpr std::size_t kMaxNearestCandidates = 20000;
// Distinct targets of custom calls that are listed.
inline constexpr std::size_t kMaxCustomCallTargets = 256;

}  // namespace precast::limits
