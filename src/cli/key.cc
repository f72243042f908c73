// precast key: the key that a compile has, without compiling.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/files.h"
#include "cli/record_view.h"
#include "cli/request.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/explain.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string program;
  bool items = false;
  std::string save;
  RequestArguments request;
};

Result<ExitCode> key(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const Program program, Program::from_file(arguments.program));
  PRECAST_ASSIGN(const CompileOptions options, arguments.request.compile_options());
  PRECAST_ASSIGN(const Session session, open_session(arguments.request.plugin, out));
  // A key needs no cache folder, so none is opened.
  CacheConfig config;
  config.disabled = true;
  PRECAST_ASSIGN(const RequestOptions request, arguments.request.request_options());
  auto made = Cache::open(std::move(config)).key(session.client, program, options, request);
  if (!made) return std::move(made).error().with("program '" + program.name() + "'");

  for (const std::string& warning : made->warnings) out.warning(warning);
  Json object = {{"schema", "precast.key/1"},
                 {"key", made->record ? Json(made->record->digest().hex()) : Json()},
                 {"reason", to_string(made->bypass)},
                 {"detail", made->detail},
                 {"warnings", made->warnings},
                 {"plugin", json_of_plugin(session)},
                 {"fields", Json::array()}};
  if (!made->record) {
    out.answer(fmt::format("no key ({}): {}\n", to_string(made->bypass), printable(made->detail)));
    out.object(object);
    return ExitCode::negative;
  }
  const KeyRecord& record = *made->record;
  if (!arguments.save.empty()) {
    SavedRecord saved = SavedRecord::from_program(program);
    saved.record = record;
    PRECAST_TRY(write_output(arguments.save, saved.encode()));
  }
  object["fields"] = json_of_fields(record, arguments.items);
  out.object(object);
  out.answer(record.digest().hex() + "\n");
  out.print("\n");
  if (arguments.items) {
    out.print(text_of_items(record));
  } else {
    out.print(table_of_fields(record), 2);
  }
  return ExitCode::done;
}

}  // namespace

Verb add_key(CLI::App& root) {
  VerbOptions options(root, "key", "show the key of a compile, without compiling",
                      "precast key ranker.mlirbc --items");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->program,
              {.names = "PROGRAM",
               .help = "StableHLO text or bytecode, or an HLO proto; - reads standard input",
               .required = true});
  options.add(arguments->items,
              {.names = "--items", .help = "show every item of every field", .group = "Output"});
  options.add(arguments->save, {.names = "--save",
                                .help = "write the record to a file, for diff and explain",
                                .value = "FILE",
                                .group = "Output"});
  arguments->request.add_to(options, "--device-ids");
  return {options.app(), [arguments](Output& out) { return key(*arguments, out); }};
}

}  // namespace precast::cli
