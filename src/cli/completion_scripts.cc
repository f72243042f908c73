#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/completion.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(what)) {
      out += with;
      at += what.size();
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

// In single quotes, for sh and zsh.
std::string quoted(std::string_view text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// In single quotes, for fish.
std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string names_of(const std::vector<CompletionVerb>& verbs) {
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const CompletionVerb& verb : verbs) names.push_back(verb.name);
  return joined(names, " ");
}

std::string option_names(const CompletionVerb& verb) {
  std::vector<std::string> names;
  for (const CompletionOption& option : verb.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return joined(names, " ");
}

// --- bash

// The words that choose what _precast_value completes.
std::string bash_kind(const CompletionOption& option) {
  switch (option.kind) {
    case ValueKind::none: return "none";
    case ValueKind::words: return "words " + quoted(joined(option.words, " "));
    case ValueKind::file: return "file";
    case ValueKind::folder: return "folder";
    case ValueKind::plugin: return "plugin";
    case ValueKind::key: return "key";
  }
  return "none";
}

constexpr std::string_view kBashHead =
    R"sh(# Completes the precast command in bash; printed by: precast completion bash

_precast_value() {
  local word
  local -a found=()
  case $1 in
    words) mapfile -t found < <(compgen -W "$2" -- "$cur") ;;
    file) mapfile -t found < <(compgen -f -- "$cur") ;;
    folder) mapfile -t found < <(compgen -d -- "$cur") ;;
    plugin | key)
      word=plugins
      [[ $1 != key ]] || word=ls
      mapfile -t found < <(
        compgen -f -- "$cur"
        compgen -W "$(command precast $word --quiet 2>/dev/null)" -- "$cur"
      )
      ;;
  esac
  case $1 in
    file | folder | plugin | key) compopt -o filenames 2>/dev/null ;;
  esac
  for word in "${found[@]}"; do COMPREPLY+=("$word"); done
}

_precast() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at ended=
  local -a positional=(none)
  COMPREPLY=()
  # bash takes --color=never for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]] && ((COMP_CWORD > 1)); then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((at = 2; at < COMP_CWORD; ++at)); do
    [[ ${COMP_WORDS[at]} != -- ]] || ended=1
  done
)sh";

constexpr std::string_view kBashTail = R"sh(  esac
  if [[ $cur == -* && -z $ended ]]; then
    _precast_value words "$options"
  else
    _precast_value "${positional[@]}"
  fi
}

complete -F _precast precast
)sh";

// --- zsh

// What stands in the brackets of an _arguments specification.
std::string zsh_help(std::string_view text) {
  return replaced(replaced(replaced(text, "[", "("), "]", ")"), ":", "\\:");
}

std::string zsh_action(const CompletionOption& option) {
  const std::string name = zsh_help(option.value.empty() ? "VALUE" : option.value);
  switch (option.kind) {
    case ValueKind::none: return fmt::format(":{}: ", name);
    case ValueKind::words: return fmt::format(":{}:({})", name, joined(option.words, " "));
    case ValueKind::file: return fmt::format(":{}:_files", name);
    case ValueKind::folder: return fmt::format(":{}:_files -/", name);
    case ValueKind::plugin: return fmt::format(":{}:_precast_plugins", name);
    case ValueKind::key: return fmt::format(":{}:_precast_keys", name);
  }
  return "";
}

// One specification for each name: '*--option[help]:NAME=VALUE: '. Short and long names exclude
// each other.
std::string zsh_specs(const CompletionOption& option) {
  std::string text;
  const std::string before = option.repeatable ? "*" : "(" + joined(option.names, " ") + ")";
  for (const std::string& name : option.names) {
    std::string spec = before + name;
    // Both --name value and --name=value.
    if (option.takes_value && name.starts_with("--")) spec += "=";
    spec += "[" + zsh_help(option.help) + "]";
    if (option.takes_value) spec += zsh_action(option);
    text += " \\\n        " + quoted(spec);
  }
  return text;
}

constexpr std::string_view kZshHead = R"sh(#compdef precast
# Completes the precast command in zsh; printed by: precast completion zsh

_precast_plugins() {
  local -a plugins
  plugins=(${(f)"$(command precast plugins --quiet 2>/dev/null)"})
  compadd -a plugins
  _files
}

_precast_keys() {
  local -a keys
  keys=(${(f)"$(command precast ls --quiet 2>/dev/null)"})
  compadd -a keys
  _files
}

_precast() {
  local verb
  local -a verbs
)sh";

constexpr std::string_view kZshTail = R"sh(  esac
}

if [ "$funcstack[1]" = _precast ]; then
  _precast "$@"
else
  compdef _precast precast
fi
)sh";

// --- fish

std::string fish_action(const CompletionOption& option) {
  switch (option.kind) {
    case ValueKind::none: return " -x";
    case ValueKind::words: return " -x -a " + fish_quoted(joined(option.words, " "));
    case ValueKind::file: return " -r -F";
    case ValueKind::folder: return " -x -a '(__fish_complete_directories)'";
    case ValueKind::plugin: return " -r -F -a '(precast plugins --quiet 2>/dev/null)'";
    case ValueKind::key: return " -r -F -a '(precast ls --quiet 2>/dev/null)'";
  }
  return "";
}

std::string fish_line(const CompletionVerb& verb, const CompletionOption& option) {
  std::string line =
      fmt::format("complete -c precast -n '__fish_seen_subcommand_from {}'", verb.name);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  line += " -d " + fish_quoted(option.help);
  if (option.takes_value) line += fish_action(option);
  return line + "\n";
}

}  // namespace

std::string bash_completion(const std::vector<CompletionVerb>& verbs) {
  std::string text(kBashHead);
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n    _precast_value words {}\n    return\n  fi\n"
      "  local options=\n  case ${{COMP_WORDS[1]}} in\n",
      quoted(names_of(verbs) + " --help --version"));
  for (const CompletionVerb& verb : verbs) {
    text += fmt::format("    {})\n      case $prev in\n", verb.name);
    for (const CompletionOption& option : verb.options) {
      if (!option.takes_value) continue;
      text += fmt::format("        {}) _precast_value {}; return ;;\n", joined(option.names, " | "),
                          bash_kind(option));
    }
    text += fmt::format("      esac\n      options={}\n", quoted(option_names(verb)));
    if (!verb.arguments.empty()) {
      text += fmt::format("      positional=({})\n", bash_kind(verb.arguments.front()));
    }
    text += "      ;;\n";
  }
  return text.append(kBashTail);
}

std::string zsh_completion(const std::vector<CompletionVerb>& verbs) {
  std::string text(kZshHead);
  text += "  verbs=(\n";
  for (const CompletionVerb& verb : verbs) {
    text += "    " + quoted(verb.name + ":" + replaced(verb.help, ":", "\\:")) + "\n";
  }
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n"
      "  verb=$words[2]\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const CompletionVerb& verb : verbs) {
    text += fmt::format("    {})\n      _arguments -s", verb.name);
    for (const CompletionOption& option : verb.options) text += zsh_specs(option);
    for (const CompletionOption& argument : verb.arguments) {
      text += " \\\n        " + quoted((argument.repeatable ? "*" : "") + zsh_action(argument));
    }
    text += "\n      ;;\n";
  }
  return text.append(kZshTail);
}

std::string fish_completion(const std::vector<CompletionVerb>& verbs) {
  std::string text =
      "# Completes the precast command in fish; printed by: precast completion fish\n"
      "complete -c precast -f\n"
      "complete -c precast -n __fish_use_subcommand -s h -l help -d 'show this help'\n"
      "complete -c precast -n __fish_use_subcommand -l version -d 'show the version'\n";
  for (const CompletionVerb& verb : verbs) {
    text += fmt::format("complete -c precast -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                        fish_quoted(verb.help));
  }
  for (const CompletionVerb& verb : verbs) {
    for (const CompletionOption& option : verb.options) text += fish_line(verb, option);
    for (const CompletionOption& argument : verb.arguments) {
      const std::string action = fish_action(argument);
      if (action == " -x") continue;
      text += fmt::format("complete -c precast -n '__fish_seen_subcommand_from {}'{}\n", verb.name,
                          action);
    }
  }
  return text;
}

}  // namespace precast::cli
