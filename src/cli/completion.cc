// precast completion: prints a script that teaches a shell the command line, made from the same
// tree that parses it.
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// "auto|always|never": choices are written in lower case, other values in capitals.
std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> words;
  if (value.find('|') == std::string::npos ||
      std::any_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return words;
  }
  std::size_t at = 0;
  while (at <= value.size()) {
    const std::size_t end = std::min(value.find('|', at), value.size());
    words.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

ValueKind kind_of(const std::string& value) {
  const std::string word = value.substr(0, value.find('.'));
  if (word == "FILE" || word == "PATH" || word == "PROGRAM" || word == "SOURCE")
    return ValueKind::file;
  if (word == "DIR") return ValueKind::folder;
  if (word == "P") return ValueKind::plugin;
  if (word == "KEY") return ValueKind::key;
  return ValueKind::none;
}

CompletionOption describe(const CLI::Option& option) {
  CompletionOption described;
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  described.help = option.get_description();
  described.takes_value = option.get_items_expected_max() > 0;
  described.repeatable = option.get_items_expected_max() > 1;
  described.value = option.get_option_text();
  if (described.names.empty() && described.value.empty()) {
    described.value = option.get_name(true);
  }
  described.words = choices_of(described.value);
  described.kind = described.words.empty() ? kind_of(described.value) : ValueKind::words;
  return described;
}

std::vector<CompletionVerb> describe_verbs(const CLI::App& root) {
  std::vector<CompletionVerb> verbs;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
    if (app->get_group().empty()) continue;  // hidden
    CompletionVerb verb{app->get_name(), app->get_description(), {}, {}};
    for (const CLI::Option* option : app->get_options()) {
      CompletionOption described = describe(*option);
      auto& list = described.names.empty() ? verb.arguments : verb.options;
      list.push_back(std::move(described));
    }
    verbs.push_back(std::move(verb));
  }
  return verbs;
}

Result<ExitCode> completion(const CLI::App& root, const std::string& shell, Output& out) {
  const std::vector<CompletionVerb> verbs = describe_verbs(root);
  const std::string script = shell == "bash"  ? bash_completion(verbs)
                             : shell == "zsh" ? zsh_completion(verbs)
                                              : fish_completion(verbs);
  out.answer(script);
  out.object({{"schema", "precast.completion/1"}, {"shell", shell}, {"script", script}});
  return ExitCode::done;
}

}  // namespace

Verb add_completion(CLI::App& root) {
  VerbOptions options(
      root, "completion", "print a script that completes the command in a shell",
      "precast completion bash > ~/.local/share/bash-completion/completions/precast\n"
      "precast completion zsh > ~/.zfunc/_precast       # a folder of $fpath\n"
      "precast completion fish > ~/.config/fish/completions/precast.fish");
  auto shell = std::make_shared<std::string>();
  options.add_choice(*shell, kShells, {.names = "SHELL", .help = "the shell", .required = true});
  return {options.app(), [&root, shell](Output& out) { return completion(root, *shell, out); }};
}

}  // namespace precast::cli
