// The verbs of the command, one file each.
#pragma once

#include <functional>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "precast/result.h"

namespace CLI {
class App;
}

namespace precast::cli {

// Does a verb's work after the command line was read. An Error is printed by the caller, and its
// code gives the exit code.
using Action = std::function<Result<ExitCode>(Output&)>;

struct Verb {
  CLI::App* app = nullptr;
  Action action;
};

// Each adds a subcommand with its options to `root`. What the options write to lives as long as the
// verb's action.
Verb add_compile(CLI::App& root);
Verb add_run(CLI::App& root);
Verb add_key(CLI::App& root);
Verb add_would_hit(CLI::App& root);
Verb add_explain(CLI::App& root);
Verb add_diff(CLI::App& root);
Verb add_inspect(CLI::App& root);
Verb add_verify(CLI::App& root);
Verb add_plugins(CLI::App& root);
Verb add_doctor(CLI::App& root);
Verb add_env(CLI::App& root);
Verb add_version(CLI::App& root);
Verb add_ls(CLI::App& root);
Verb add_rm(CLI::App& root);
Verb add_clear(CLI::App& root);
Verb add_stats(CLI::App& root);
Verb add_pin(CLI::App& root);
Verb add_unpin(CLI::App& root);
Verb add_gc(CLI::App& root);
Verb add_fsck(CLI::App& root);
// Hidden: see check_flags() of precast/flags.h.
Verb add_check_flags(CLI::App& root);
// Hidden: see src/cache/trial_load.h.
Verb add_trial_load(CLI::App& root);
// Add it last: it completes the verbs that are there when it is run.
Verb add_completion(CLI::App& root);

}  // namespace precast::cli
