// precast check-flags: the process in which check_flags() tries the flags. Not for people, and not
// in the help.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "cli/orphan.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

// Some of LLVM's options end the process at the first compile only.
constexpr std::string_view kProgram = R"(module @flags {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}
)";

// Errors do not end a process, so that they say nothing about the flags.
Result<ExitCode> check(const std::string& path, Output& out) {
  end_with_parent();
  const auto plugin = Plugin::open(path);
  const auto client = plugin ? plugin->create_client({}) : Result<Client>(plugin.error());
  const auto program = Program::from_bytes(Bytes(kProgram), "flags");
  if (client && program) (void)client->compile(*program, {});
  out.answer("precast: the plugin lives with these flags\n");
  return ExitCode::done;
}

}  // namespace

Verb add_check_flags(CLI::App& root) {
  VerbOptions options(root, "check-flags", "try the flags of XLA in a process of its own",
                      "precast check-flags --plugin cpu");
  options.hide();
  auto plugin = std::make_shared<std::string>();
  options.add(*plugin, {.names = "--plugin", .help = "PJRT plugin", .value = "P"});
  return {options.app(), [plugin](Output& out) { return check(*plugin, out); }};
}

}  // namespace precast::cli
