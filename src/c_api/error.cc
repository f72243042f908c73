#include <array>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

namespace precast::c_api {
namespace {

template <ErrorCode code, int number>
constexpr bool kSameCode = static_cast<int>(code) == number;

static_assert(kSameCode<ErrorCode::invalid_argument, PRECAST_INVALID_ARGUMENT>);
static_assert(kSameCode<ErrorCode::unsupported, PRECAST_UNSUPPORTED>);
static_assert(kSameCode<ErrorCode::incompatible, PRECAST_INCOMPATIBLE>);
static_assert(kSameCode<ErrorCode::corrupt, PRECAST_CORRUPT>);
static_assert(kSameCode<ErrorCode::untrusted, PRECAST_UNTRUSTED>);
static_assert(kSameCode<ErrorCode::unavailable, PRECAST_UNAVAILABLE>);
static_assert(kSameCode<ErrorCode::deadline_exceeded, PRECAST_DEADLINE_EXCEEDED>);
static_assert(kSameCode<ErrorCode::permission_denied, PRECAST_PERMISSION_DENIED>);
static_assert(kSameCode<ErrorCode::resource_exhausted, PRECAST_RESOURCE_EXHAUSTED>);
static_assert(kSameCode<ErrorCode::io_error, PRECAST_IO_ERROR>);
static_assert(kSameCode<ErrorCode::plugin_error, PRECAST_PLUGIN_ERROR>);
static_assert(kSameCode<ErrorCode::internal, PRECAST_INTERNAL>);

}  // namespace

int32_t give_error(Error error, precast_error** out) noexcept {
  const auto code = static_cast<int32_t>(error.code());
  if (out == nullptr) return code;
  try {
    std::string text = error.to_string();
    *out = new precast_error{std::move(error), std::move(text)};
  } catch (...) {
    // Without memory there is only the code.
    *out = nullptr;
  }
  return code;
}

int32_t give_error(ErrorCode code, const char* message, precast_error** out) noexcept {
  try {
    return give_error(Error(code, message), out);
  } catch (...) {
    return static_cast<int32_t>(code);
  }
}

}  // namespace precast::c_api

extern "C" {

const char* precast_code_name(int32_t code) {
  if (code == PRECAST_OK) return "ok";
  if (code < 0 || code > PRECAST_INTERNAL) return "unknown";
  // The names are literals, so they end with NUL.
  return precast::to_string(static_cast<precast::ErrorCode>(code)).data();
}

int32_t precast_error_code(const precast_error* error) {
  return error == nullptr ? PRECAST_OK : static_cast<int32_t>(error->error.code());
}

int32_t precast_error_plugin_code(const precast_error* error) {
  return error == nullptr ? 0 : error->error.plugin_code();
}

const char* precast_error_text(const precast_error* error) {
  return error == nullptr ? "" : error->text.c_str();
}

const char* precast_error_message(const precast_error* error) {
  return error == nullptr ? "" : error->error.message().c_str();
}

void precast_error_free(precast_error* error) { delete error; }

}  // extern "C"
