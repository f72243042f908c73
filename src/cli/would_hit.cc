// precast would-hit: whether a compile would be a hit, without compiling.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/request.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string program;
  RequestArguments request;
};

Result<ExitCode> would_hit(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const Program program, Program::from_file(arguments.program));
  PRECAST_ASSIGN(const CompileOptions options, arguments.request.compile_options());
  PRECAST_ASSIGN(const Session session, open_session(arguments.request.plugin, out));
  const Cache cache = Cache::open(arguments.request.cache_config(out));
  PRECAST_ASSIGN(const RequestOptions request, arguments.request.request_options());
  auto lookup = cache.would_hit(session.client, program, options, request);
  if (!lookup) return std::move(lookup).error().with("program '" + program.name() + "'");

  Json object = {{"schema", "precast.would-hit/1"},
                 {"hit", lookup->hit},
                 {"outcome", to_string(lookup->outcome)},
                 {"reason", to_string(lookup->reason)},
                 {"detail", lookup->detail},
                 {"key", lookup->record ? Json(lookup->record->digest().hex()) : Json()},
                 {"artifact", lookup->hit ? Json(lookup->artifact_path) : Json()},
                 {"plugin", json_of_plugin(session)}};
  out.object(object);
  if (lookup->hit) {
    out.answer(fmt::format("hit: {}\n", printable(lookup->artifact_path)));
    return ExitCode::done;
  }
  out.answer(fmt::format("{}: {}{}{}\n", to_string(lookup->outcome), to_string(lookup->reason),
                         lookup->detail.empty() ? "" : ": ", printable(lookup->detail)));
  return ExitCode::negative;
}

}  // namespace

Verb add_would_hit(CLI::App& root) {
  VerbOptions options(root, "would-hit", "say whether a compile would be a hit, without compiling",
                      "precast would-hit ranker.mlirbc && ./deploy");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->program,
              {.names = "PROGRAM",
               .help = "StableHLO text or bytecode, or an HLO proto; - reads standard input",
               .required = true});
  arguments->request.add_to(options, "--device-ids");
  return {options.app(), [arguments](Output& out) { return would_hit(*arguments, out); }};
}

}  // namespace precast::cli
