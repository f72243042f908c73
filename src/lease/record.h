// What a lease file says: who holds it, and once it has ended, how. Pure.
//
//   file    := frame(owner) [frame(ending)]
//   frame   := magic (4 bytes), payload length (u32), payload, check (8 bytes)
//   check   := the first bytes of SHA-256 over everything before it in the frame
//   payload := a protobuf message, whose unknown fields are ignored
//
// The holder's frame is there when the file becomes visible; the ending is written behind it by the
// holder, while others may be reading. Persisted: another grammar takes other magic bytes, and
// field numbers are append only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "precast/bytes.h"

namespace precast::lease {

// Longer names and labels are cut.
inline constexpr std::size_t kMaxOwnerTextBytes = 256;
// A longer message is not shared: an ending that was cut is none.
inline constexpr std::size_t kMaxEndingMessageBytes = std::size_t{64} << 10;
// A whole file; what lies behind is not read.
inline constexpr std::size_t kMaxLeaseBytes = kMaxEndingMessageBytes + (std::size_t{4} << 10);

// Who holds a lease. What is not known is empty or 0.
struct Owner {
  std::string host;
  std::string boot_id;              // the kernel's, of this start of the machine
  std::uint64_t pid_namespace = 0;  // its number, which holds with boot_id
  std::int64_t pid = 0;             // in that namespace
  std::uint64_t start_ticks = 0;    // when that process started: pids are used again
  std::string token;                // random, so that no two records are the same
  std::string program;
  std::string label;
  std::int64_t since_unix_s = 0;

  bool operator==(const Owner&) const = default;
};

// How a compile ended, for those who waited. Persisted: append only.
enum class Verdict : std::uint8_t {
  published = 1,   // the entry is there
  not_stored = 2,  // it cannot be stored: everybody compiles
  failed = 3,      // the plugin refused the program, and would again
};
struct Ending {
  Verdict verdict = Verdict::not_stored;
  int pjrt_code = 0;         // of failed
  std::string message = {};  // of failed

  bool operator==(const Ending&) const = default;
};

// The frame of an owner; text that is too long is cut.
Bytes encode(const Owner& owner);
// The frame of an ending. What has too long a message becomes not_stored, which is as true.
Bytes encode(const Ending& ending);

// What can be read of a lease file; any bytes will do. Text has no control characters, so that it
// may be shown.
struct Record {
  std::optional<Owner> owner;
  std::optional<Ending> ending;
};
Record decode(BytesView file);

}  // namespace precast::lease
