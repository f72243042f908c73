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
// A whole artifact file; larger files are refused before they are read.
inline constexpr std::uint64_t kMaxArtifactBytes = std::uint64_t{8} << 30;

// Key record: fields, items in a field (eight for each of kMaxDevices), bytes of a name, bytes of a
// value.
inline constexpr std::uint32_t kMaxKeyFields = 64;
inline constexpr std::uint32_t kMaxKeyItems = 1 << 23;
inline constexpr std::uint32_t kMaxKeyNameBytes = 1 << 12;
inline constexpr std::uint32_t kMaxKeyValueBytes = 64 << 20;

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

}  // namespace precast::limits
