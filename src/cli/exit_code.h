// Exit codes of the command: one table, the same as in docs/cli.md. Scripts rely on the numbers:
// append only.
#pragma once

#include "precast/error.h"

namespace precast::cli {

enum class ExitCode : int {
  done = 0,
  negative = 1,  // the answer is no: does not verify, has no key, does not work
  usage = 2,     // the command line itself is wrong
  invalid_input =
      3,             // a program, tensor, artifact, plugin or device that is not there or not right
  unsupported = 4,   // the plugin cannot do this
  incompatible = 5,  // a sound artifact for another plugin, placement or CPU, or a future format
  corrupt = 6,       // a damaged artifact
  untrusted = 7,     // an artifact that the signature policy refuses
  store = 8,         // a store is unavailable or too slow
  environment = 9,   // permission, space or another failure of the machine
  plugin = 10,       // the plugin reported an error
  internal = 11,     // a bug of Precast
};

constexpr ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return ExitCode::invalid_input;
    case ErrorCode::unsupported: return ExitCode::unsupported;
    case ErrorCode::incompatible: return ExitCode::incompatible;
    case ErrorCode::corrupt: return ExitCode::corrupt;
    case ErrorCode::untrusted: return ExitCode::untrusted;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded: return ExitCode::store;
    case ErrorCode::permission_denied:
    case ErrorCode::resource_exhausted:
    case ErrorCode::io_error: return ExitCode::environment;
    case ErrorCode::plugin_error: return ExitCode::plugin;
    case ErrorCode::internal: return ExitCode::internal;
  }
  return ExitCode::internal;
}

}  // namespace precast::cli
