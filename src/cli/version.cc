// precast version: the version of Precast and of what it was built with.
#include "precast/version.h"

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

Result<ExitCode> version(Output& out) {
  out.answer(fmt::format("precast {}\n", PRECAST_VERSION));
  // Another libprecast may be found at run time than the one that this was built with.
  if (precast::version() != PRECAST_VERSION) {
    out.print(fmt::format("libprecast {}\n", precast::version()));
  }
  out.print(fmt::format("built with {}, C++{}\n", kCompiler, __cplusplus / 100 % 100));
  out.object({{"schema", "precast.version/1"},
              {"version", PRECAST_VERSION},
              {"library_version", precast::version()},
              {"compiler", kCompiler},
              {"cplusplus", __cplusplus}});
  return ExitCode::done;
}

}  // namespace

Verb add_version(CLI::App& root) {
  const VerbOptions options(root, "version", "show the version", "precast version --json");
  return {options.app(), version};
}

}  // namespace precast::cli
