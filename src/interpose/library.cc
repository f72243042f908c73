// The one symbol of libprecast_pjrt.so.
#include <dlfcn.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "interpose/entry.h"
#include "interpose/refusal.h"
#include "interpose/settings.h"
#include "pjrt/c_abi.h"

namespace {

// The file that this code is mapped from, as it was named when it was opened.
std::string own_path(const void* code) {
  Dl_info info{};
  if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

const PJRT_Api* open_table(const void* code) noexcept {
  try {
    return precast::interpose::open_wrapped(
        precast::interpose::read_settings(
            [](const char* name) -> const char* { return ::secure_getenv(name); }),
        own_path(code));
  } catch (const std::exception& exception) {
    return precast::interpose::refusal(std::string("precast: ") + exception.what());
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api* const table = open_table(reinterpret_cast<const void*>(&GetPjrtApi));
  return table;
}
