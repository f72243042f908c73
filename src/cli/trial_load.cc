// precast trial-load: the process in which an artifact is loaded that may end its process. Not for
// people, and not in the help. src/cache/trial_load.h starts it and reads what
// it says.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/orphan.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string plugin;
  std::string artifact;
  std::string root;
  std::vector<std::string> client_options;
  std::vector<std::int64_t> devices;
};

// One line. It reaches the parent before anything is taken down, which may crash too.
void say(Output& out, std::string_view what, std::string text = {}) {
  std::ranges::replace_if(
      text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  out.answer(fmt::format("precast: trial load: {}{}\n", what, text));
  std::fflush(stdout);
}

Result<Client> make_client(const Arguments& arguments) {
  PRECAST_ASSIGN(const Plugin plugin, Plugin::open(arguments.plugin));
  std::vector<NamedValue> options;
  for (const std::string& text : arguments.client_options) {
    PRECAST_ASSIGN(NamedValue option, NamedValue::parse(text));
    options.push_back(std::move(option));
  }
  return plugin.create_client(options);
}

Result<VerifiedArtifact> read_artifact(const Arguments& arguments) {
  PRECAST_ASSIGN(VerifiedArtifact artifact, VerifiedArtifact::from_file(arguments.artifact));
  if (artifact.root().hex() == arguments.root) return artifact;
  return Error(ErrorCode::invalid_argument,
               "'" + arguments.artifact + "' is another artifact than the one to be tried");
}

Result<ExitCode> trial_load(const Arguments& arguments, Output& out) {
  end_with_parent();
  const auto artifact = read_artifact(arguments);
  if (!artifact) {
    say(out, "not run: ", artifact.error().to_string());
    return ExitCode::done;
  }
  const auto client = make_client(arguments);
  if (!client) {
    say(out, "not run: ", client.error().to_string());
    return ExitCode::done;
  }
  say(out, "begins");
  const auto executable = load(*client, *artifact, {.device_ids = arguments.devices});
  if (executable) {
    say(out, "loads");
  } else if (executable.error().code() == ErrorCode::plugin_error) {
    say(out, "refused: ", executable.error().to_string());
  } else {
    say(out, "not run: ", executable.error().to_string());
  }
  return ExitCode::done;
}

}  // namespace

Verb add_trial_load(CLI::App& root) {
  VerbOptions options(root, "trial-load", "load an artifact in a process of its own",
                      "precast trial-load --plugin cpu --artifact a.precast --root SHA256");
  options.hide();
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->plugin, {.names = "--plugin", .help = "PJRT plugin", .value = "P"});
  options.add(arguments->artifact, {.names = "--artifact", .help = "artifact", .value = "FILE"});
  options.add(arguments->root, {.names = "--root", .help = "its root", .value = "SHA256"});
  options.add_repeatable(
      arguments->client_options,
      {.names = "--client-option", .help = "option of the plugin's client", .value = "NAME=VALUE"});
  options.add(arguments->devices, {.names = "--devices", .help = "devices", .value = "IDS"});
  return {options.app(), [arguments](Output& out) { return trial_load(*arguments, out); }};
}

}  // namespace precast::cli
