// precast plugins: the plugins that are found by name.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/probe.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/plugin.h"

namespace precast::cli {
namespace {

struct Arguments {
  bool open = false;
  int timeout_s = 60;
};

std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || !at->is_string() ? "" : printable(at->get<std::string>());
}

Json describe(const FoundPlugin& found, const Arguments& arguments) {
  Json object = {{"name", found.name}, {"path", found.path}, {"origin", found.origin}};
  if (!arguments.open) return object;
  ProbeRequest request;
  request.plugin = found.path;
  request.timeout_s = arguments.timeout_s;
  Json probed = probe_plugin(request);
  object["api_version"] = probed.value("api_version", Json());
  object["platform"] = Json();
  if (probed.contains("client")) object["platform"] = probed["client"]["platform"];
  object["problems"] = std::move(probed["problems"]);
  return object;
}

Result<ExitCode> plugins(const Arguments& arguments, Output& out) {
  Json list = Json::array();
  std::vector<Column> columns = {{"name"}};
  if (arguments.open) {
    columns.push_back({"PJRT API"});
    columns.push_back({"platform"});
  }
  columns.push_back({"found by"});
  columns.push_back({"path", false, true});
  Table table(std::move(columns));
  std::string problems;
  for (const FoundPlugin& found : find_plugins()) {
    list.push_back(describe(found, arguments));
    const Json& object = list.back();
    std::vector<std::string> row = {printable(found.name)};
    if (arguments.open) {
      row.push_back(text_at(object, "api_version"));
      row.push_back(text_at(object, "platform"));
      for (const Json& problem : object["problems"]) {
        problems += fmt::format("\n{}: {}\n  next step: {}\n", printable(found.name),
                                printable_lines(problem["what"].get<std::string>()),
                                printable_lines(problem["next_step"].get<std::string>()));
      }
    }
    row.push_back(printable(found.origin));
    row.push_back(printable(found.path));
    table.add(std::move(row));
    if (out.quiet()) out.answer(printable(found.path) + "\n");
  }
  const bool none = list.empty();
  out.object({{"schema", "precast.plugins/1"}, {"plugins", std::move(list)}});
  if (none) {
    out.print(
        "no plugin found\n  next step: name one with --plugin or PRECAST_PLUGIN, or activate "
        "the virtual environment that holds one\n");
    return ExitCode::negative;
  }
  out.print(table);
  out.print(problems);
  return problems.empty() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

Verb add_plugins(CLI::App& root) {
  VerbOptions options(root, "plugins", "list the plugins that are found", "precast plugins --open");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->open,
              {.names = "--open", .help = "open each one in a child process and ask it"});
  options.add(arguments->timeout_s, 1, kLongestTimeout,
              {.names = "--timeout", .help = "seconds that a plugin may take (60)", .value = "S"});
  return {options.app(), [arguments](Output& out) { return plugins(*arguments, out); }};
}

}  // namespace precast::cli
