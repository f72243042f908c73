// How the fake plugin's functions fail: they throw, and the wrapper of call.h makes a PJRT_Error.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "pjrt/c_abi.h"

namespace precast::fake {

struct Failure {
  PJRT_Error_Code code;
  std::string message;
};

template <typename... Args>
[[noreturn]] void fail(PJRT_Error_Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{code, fmt::format(format, std::forward<Args>(args)...)};
}

// An error for the caller, who destroys it with PJRT_Error_Destroy.
PJRT_Error* make_error(PJRT_Error_Code code, std::string_view message);

}  // namespace precast::fake
