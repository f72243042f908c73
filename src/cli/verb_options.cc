#include "cli/verb_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/text.h"

namespace precast::cli {
namespace {

// CLI11 would print the bounds into the help line; the help says what matters.
CLI::Validator in_range(int least, int most) { return CLI::Range(least, most).description(""); }

std::string no_choice(const std::string& word, const std::vector<std::string>& choices) {
  const std::string nearest = nearest_word(word, choices);
  return fmt::format("'{}' is none of {}{}", printable(word, 100), joined(choices),
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

}  // namespace

VerbOptions::VerbOptions(CLI::App& root, const std::string& name, const std::string& description,
                         const std::string& example)
    : app_(root.add_subcommand(name, description)->group("Verbs")) {
  std::string footer = "Example:\n";
  std::istringstream lines(example);
  for (std::string line; std::getline(lines, line);) footer += "  " + line + "\n";
  footer.pop_back();
  app_->footer(footer);
}

void VerbOptions::describe(CLI::Option& option, const OptionText& text) {
  option.option_text(text.value)->group(text.group)->required(text.required);
  if (text.check) option.check(CLI::Validator(text.check, ""));
}

void VerbOptions::add(std::string& target, const OptionText& text) {
  describe(*app_->add_option(text.names, target, text.help), text);
}

void VerbOptions::add(bool& target, const OptionText& text) {
  describe(*app_->add_flag(text.names, target, text.help), text);
}

void VerbOptions::add(int& target, int least, int most, const OptionText& text) {
  CLI::Option* option = app_->add_option(text.names, target, text.help);
  option->check(in_range(least, most));
  describe(*option, text);
}

void VerbOptions::add(std::optional<int>& target, int least, int most, const OptionText& text) {
  CLI::Option* option = app_->add_option(text.names, target, text.help);
  option->check(in_range(least, most));
  describe(*option, text);
}

void VerbOptions::add_choice(std::string& target, const std::vector<std::string>& choices,
                             const OptionText& text) {
  OptionText with_choices = text;
  with_choices.value = joined(choices, "|");
  with_choices.check = [choices](const std::string& word) {
    return std::find(choices.begin(), choices.end(), word) != choices.end()
               ? ""
               : no_choice(word, choices);
  };
  describe(*app_->add_option(text.names, target, text.help), with_choices);
}

void VerbOptions::add(std::vector<std::int64_t>& target, const OptionText& text) {
  CLI::Option* option = app_->add_option(text.names, target, text.help);
  option->delimiter(',')->allow_extra_args(false);
  describe(*option, text);
}

void VerbOptions::add_repeatable(std::vector<std::string>& target, const OptionText& text) {
  CLI::Option* option = app_->add_option(text.names, target, text.help);
  option->allow_extra_args(false);
  describe(*option, text);
}

void VerbOptions::add_many(std::vector<std::string>& target, const OptionText& text) {
  describe(*app_->add_option(text.names, target, text.help), text);
}

void VerbOptions::hide() { app_->group(""); }

void VerbOptions::exclude(const std::string& one, const std::string& other) {
  app_->get_option(one)->excludes(app_->get_option(other));
}

std::vector<std::string> given_of(const CLI::App& app, const std::vector<std::string>& groups,
                                  const std::string& except) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 ||
        std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      continue;
    }
    std::string name = "--" + option->get_single_name();
    if (name != except) names.push_back(std::move(name));
  }
  return names;
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  const std::string group = "Output";
  app.add_flag("--json", options.json, "one JSON object on standard output")->group(group);
  app.add_flag("-q,--quiet", options.quiet, "only the answer itself, no warnings")->group(group);
  app.add_flag("-v,--verbose", options.verbose, "also what the plugin prints")->group(group);
  app.add_option("--color", options.color, "auto, always or never")
      ->option_text("auto|always|never")
      ->check(CLI::Validator(
          [](const std::string& word) {
            const std::vector<std::string> choices = {"auto", "always", "never"};
            return std::find(choices.begin(), choices.end(), word) != choices.end()
                       ? std::string()
                       : no_choice(word, choices);
          },
          ""))
      ->group(group);
}

}  // namespace precast::cli
