// The numbers of docs/format.md. Everything here is persisted: append only.
//
//   header      fixed part, then one table entry per section
//   root        SHA-256 of the header
//   signatures  a count, then (public key, signature over the root) for each
//   sections    one after the other in the order of the table; nothing follows
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "precast/artifact.h"

namespace precast::artifact {

// The first byte is no text in ASCII or UTF-8 and loses its top bit on a seven-bit path; CR LF and
// the lone LF show a transfer that converts line ends; ^Z stops a terminal that types the file out.
inline constexpr std::string_view kMagic = "\x9EPCA\r\n\x1A\n";

inline constexpr std::uint32_t kFormatVersion = 1;

// The fixed part: magic, then four 32-bit numbers.
inline constexpr std::size_t kVersionOffset = 8;
inline constexpr std::size_t kHeaderBytesOffset = 12;
inline constexpr std::size_t kSectionCountOffset = 16;
inline constexpr std::size_t kFlagsOffset = 20;
inline constexpr std::size_t kFixedHeaderBytes = 24;

// A table entry: kind, codec, stored size, true size, SHA-256 of the stored bytes.
inline constexpr std::size_t kEntryKindOffset = 0;
inline constexpr std::size_t kEntryCodecOffset = 4;
inline constexpr std::size_t kEntryStoredBytesOffset = 8;
inline constexpr std::size_t kEntryTrueBytesOffset = 16;
inline constexpr std::size_t kEntryDigestOffset = 24;
inline constexpr std::size_t kEntryBytes = 56;

inline constexpr std::size_t kRootBytes = 32;
inline constexpr std::size_t kSignatureCountBytes = 4;
inline constexpr std::size_t kPublicKeyBytes = 32;
inline constexpr std::size_t kSignatureBytes = 64;
inline constexpr std::size_t kSignatureEntryBytes = kPublicKeyBytes + kSignatureBytes;

// A section whose kind has this bit may be passed over by a reader that does not know it; any other
// unknown kind is incompatible.
inline constexpr std::uint32_t kIgnorableKindBit = 0x80000000;

// What is signed is this text, with its NUL, followed by the root.
inline constexpr std::string_view kSigningContext{"precast artifact root 1\0", 24};

// The program section begins with the program's format in this many bytes.
inline constexpr std::size_t kProgramFormatBytes = 4;

bool is_known(SectionKind kind);
bool is_known(ProgramFormat format);
bool is_ignorable(SectionKind kind);
// What a section of this kind may have at most, decoded.
std::uint64_t max_true_bytes(SectionKind kind);

}  // namespace precast::artifact
