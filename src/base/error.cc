#include "precast/error.h"

#include <array>

namespace precast {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::incompatible: return "incompatible";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::untrusted: return "untrusted";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::resource_exhausted: return "resource_exhausted";
    case ErrorCode::io_error: return "io_error";
    case ErrorCode::plugin_error: return "plugin_error";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

std::string pjrt_code_name(int pjrt_code) {
  static constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                              "CANCELLED",
                                                              "UNKNOWN",
                                                              "INVALID_ARGUMENT",
                                                              "DEADLINE_EXCEEDED",
                                                              "NOT_FOUND",
                                                              "ALREADY_EXISTS",
                                                              "PERMISSION_DENIED",
                                                              "RESOURCE_EXHAUSTED",
                                                              "FAILED_PRECONDITION",
                                                              "ABORTED",
                                                              "OUT_OF_RANGE",
                                                              "UNIMPLEMENTED",
                                                              "INTERNAL",
                                                              "UNAVAILABLE",
                                                              "DATA_LOSS",
                                                              "UNAUTHENTICATED"};
  if (pjrt_code >= 0 && pjrt_code < static_cast<int>(kNames.size())) {
    return std::string(kNames[static_cast<std::size_t>(pjrt_code)]);
  }
  return "CODE_" + std::to_string(pjrt_code);
}

Error Error::from_plugin(int pjrt_code, std::string message) {
  Error error(ErrorCode::plugin_error, std::move(message));
  error.plugin_code_ = pjrt_code;
  return error;
}

std::string Error::to_string() const {
  std::string text(precast::to_string(code_));
  if (code_ == ErrorCode::plugin_error) text += " (" + pjrt_code_name(plugin_code_) + ")";
  text += ": " + message_;
  if (!frames_.empty()) {
    text += " (";
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (i != 0) text += "; ";
      text += frames_[i];
    }
    text += ")";
  }
  return text;
}

}  // namespace precast
