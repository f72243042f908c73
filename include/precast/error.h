// Errors as values.
//
// Every fallible function of Precast returns Result<T> (result.h) whose error is an Error: a code
// that tells the caller what to do, a message that says what was wrong, where, and what to do about
// it, and frames that were added on the way up ("while reading store entry 3f..."). The library
// throws nothing, prints nothing and never exits.
//
// Error is a value type: copyable, not thread-safe to mutate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/export.h"

namespace precast {

// What an error means for the caller. The effect on compile-or-load is the table of
// docs/architecture.md. Append only: the numbers stand in logs and in the C ABI.
enum class ErrorCode : std::uint8_t {
  invalid_argument = 1,  // the caller's input is wrong; fix it, do not retry
  unsupported = 2,       // the plugin lacks the function; compile without storing
  incompatible =
      3,        // a sound artifact for another plugin, placement or CPU, or a future format; a miss
  corrupt = 4,  // format, checksum, length or record is wrong; compile again
  untrusted = 5,           // signature missing or wrong under the policy; never handed to PJRT
  unavailable = 6,         // a store is down; may be retried later
  deadline_exceeded = 7,   // a store or a wait took too long; may be retried later
  permission_denied = 8,   // the environment refuses; not retried
  resource_exhausted = 9,  // disk, memory or another resource is used up
  io_error = 10,           // any other failure of the environment
  plugin_error =
      11,         // PJRT reported an error; plugin_code() has its code, message() its whole text
  internal = 12,  // an invariant of Precast broke
};

// The name as it prints in JSON and on the command line, for example "invalid_argument".
PRECAST_EXPORT std::string_view to_string(ErrorCode code);

class [[nodiscard]] PRECAST_EXPORT Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // An error that PJRT reported. `pjrt_code` is PJRT_Error_Code (the absl status codes, 1 to 16).
  static Error from_plugin(int pjrt_code, std::string message);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // PJRT's own code when code() is plugin_error, else 0.
  int plugin_code() const { return plugin_code_; }

  // What was going on when the error happened, innermost first.
  const std::vector<std::string>& frames() const { return frames_; }

  // Adds a frame; returns the error for chaining: `return error.with("while reading '" + path +
  // "'")`.
  Error&& with(std::string frame) && {
    frames_.push_back(std::move(frame));
    return std::move(*this);
  }

  // "corrupt: the header's digest does not match (while reading 'a.precast')".
  std::string to_string() const;

 private:
  ErrorCode code_;
  int plugin_code_ = 0;
  std::string message_;
  std::vector<std::string> frames_;
};

// The absl name of a PJRT error code: 3 gives "INVALID_ARGUMENT"; unknown numbers give "CODE_<n>".
PRECAST_EXPORT std::string pjrt_code_name(int pjrt_code);

}  // namespace precast
