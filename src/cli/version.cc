// precast version: the version of Precast and of what it was built with.
#include "precast/version.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "cli/verb_options.h"
#include "cli/verbs.h"

// jemalloc's, where the command is linked with it.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* fresh,
                       std::size_t fresh_size) __attribute__((weak));

namespace precast::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

// The allocator of this process, as it says itself.
std::string allocator() {
  if (mallctl == nullptr) return "system";
  const char* text = nullptr;
  std::size_t size = sizeof(text);
  if (mallctl("version", static_cast<void*>(&text), &size, nullptr, 0) != 0) return "jemalloc";
  const std::string full(text);
  return "jemalloc " + full.substr(0, full.find('-'));
}

Result<ExitCode> version(Output& out) {
  out.answer(fmt::format("precast {}\n", PRECAST_VERSION));
  // Another libprecast may be found at run time than the one that this was built with.
  if (precast::version() != PRECAST_VERSION) {
    out.print(fmt::format("libprecast {}\n", precast::version()));
  }
  out.print(fmt::format("built with {}, C++{}; allocator: {}\n", kCompiler, __cplusplus / 100 % 100,
                        allocator()));
  out.object({{"schema", "precast.version/1"},
              {"version", PRECAST_VERSION},
              {"library_version", precast::version()},
              {"compiler", kCompiler},
              {"cplusplus", __cplusplus},
              {"allocator", allocator()}});
  return ExitCode::done;
}

}  // namespace

Verb add_version(CLI::App& root) {
  const VerbOptions options(root, "version", "show the version", "precast version --json");
  return {options.app(), version};
}

}  // namespace precast::cli
