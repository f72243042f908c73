// What shells are told about the command line.
#pragma once

#include <string>
#include <vector>

namespace precast::cli {

// What can stand for a value, as far as a shell can help.
enum class ValueKind { none, words, file, folder, plugin, key };

struct CompletionOption {
  std::vector<std::string> names;  // "-o", "--output"; empty for what has none (an argument)
  std::string help;
  bool takes_value = false;
  std::string value;  // as the help says: "FILE"
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words;  // of ValueKind::words
  bool repeatable = false;
};

struct CompletionVerb {
  std::string name;
  std::string help;
  std::vector<CompletionOption> options;
  std::vector<CompletionOption> arguments;
};

// A script for one shell, which completes verbs, options and values.
std::string bash_completion(const std::vector<CompletionVerb>& verbs);
std::string zsh_completion(const std::vector<CompletionVerb>& verbs);
std::string fish_completion(const std::vector<CompletionVerb>& verbs);

}  // namespace precast::cli
