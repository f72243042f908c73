#include "cli/verb_app.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace precast::cli {

CLI::App* add_verb(CLI::App& root, const std::string& name, const std::string& description,
                   const std::string& example) {
  CLI::App* app = root.add_subcommand(name, description);
  std::string footer = "Example:\n";
  std::istringstream lines(example);
  for (std::string line; std::getline(lines, line);) footer += "  " + line + "\n";
  footer.pop_back();
  app->footer(footer);
  return app;
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  const std::string group = "Output";
  app.add_flag("--json", options.json, "one JSON object on standard output")->group(group);
  app.add_flag("-q,--quiet", options.quiet, "only the answer itself, no warnings")->group(group);
  app.add_option("--color", options.color, "auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->group(group);
}

}  // namespace precast::cli
