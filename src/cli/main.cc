// The precast command: reads the command line and runs one verb.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/chatter.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/stats.h"
#include "precast/version.h"

namespace precast::cli {
namespace {

// CLI11's help with one blank line between groups instead of two, and without its remarks on
// options.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(34);
    label("SUBCOMMAND", "VERB");
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode),
                                         "\n\n\n", "\n\n");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& text = option->get_option_text();
    return text.empty() ? "" : " " + text;
  }
};

std::vector<std::string> names_of(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (!verb.app->get_group().empty()) names.push_back(verb.app->get_name());
  }
  return names;
}

// "did you mean" for an option that the verb does not have.
std::string nearest_option(const CLI::App& app, const std::string& text) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return nearest_word(text.substr(0, text.find('=')), names);
}

// An error of the parser, in our words where its own help less.
std::string message_of(const CLI::ParseError& error, const CLI::App& root) {
  std::string message = error.what();
  const CLI::App* app = &root;
  for (const CLI::App* sub : root.get_subcommands()) app = sub;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app->remaining();
    if (!extras.empty() && extras[0].starts_with('-')) {
      message = "'" + app->get_name() + "' has no option '" + printable(extras[0], 100) + "'";
      const std::string nearest = nearest_option(*app, extras[0]);
      if (!nearest.empty()) message += "; did you mean " + nearest + "?";
    } else if (!extras.empty()) {
      message = "'" + app->get_name() + "' takes nothing more: '" + printable(extras[0], 100) + "'";
    }
  }
  return message;
}

// The verb that was given, to name its help; VERB when there is none.
std::string verb_of(const CLI::App& root) {
  for (const CLI::App* sub : root.get_subcommands()) return sub->get_name();
  return "VERB";
}

// The verb when the first word is none, so that the answer is about verbs and not about options.
bool is_unknown_verb(const std::vector<std::string>& words, const std::vector<Verb>& verbs) {
  if (words.empty() || words[0].starts_with('-')) return false;
  for (const Verb& verb : verbs) {
    if (verb.app->get_name() == words[0]) return false;
  }
  return true;
}

// What the command line asks for before the parser knows: errors of the parser are JSON, too.
bool asks_for_json(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

ExitCode unknown_verb(const std::string& word, const std::vector<Verb>& verbs, Output& out) {
  const std::vector<std::string> names = names_of(verbs);
  const std::string nearest = nearest_word(word, names);
  std::string message = "there is no verb '" + printable(word, 100) + "'";
  message +=
      nearest.empty() ? "; the verbs are " + joined(names) : "; did you mean '" + nearest + "'?";
  return out.usage(message);
}

// The library throws nothing, but a plugin may, and the standard library.
Result<ExitCode> act(const Verb& verb, Output& out) {
  try {
    return verb.action(out);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted, "out of memory");
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, std::string("an exception was thrown: ") + error.what());
  }
}

ExitCode run_verb(const std::vector<Verb>& verbs, Output& out) {
  for (const Verb& verb : verbs) {
    if (!verb.app->parsed()) continue;
    const Result<ExitCode> code = act(verb, out);
    // What the plugin printed matters when something went wrong, and to nobody otherwise.
    const std::string chatter = take_chatter();
    if (code) return *code;
    const ExitCode exit_code = out.error(code.error());
    out.plugin_said(chatter);
    return exit_code;
  }
  return out.usage("no verb given");
}

int command(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  // What many commands understand: help, help VERB.
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  CLI::App root("precast: XLA executables, compiled once, loaded anywhere.\n", "precast");
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "show this help");
  root.set_version_flag("--version", "precast " PRECAST_VERSION, "show the version");
  root.require_subcommand(1);
  root.footer("'precast VERB --help' shows a verb's options and an example.");
  OutputOptions options;
  const std::vector<Verb> verbs = {
      add_compile(root),     add_run(root),        add_key(root),       add_would_hit(root),
      add_explain(root),     add_diff(root),       add_inspect(root),   add_verify(root),
      add_ls(root),          add_rm(root),         add_clear(root),     add_pin(root),
      add_unpin(root),       add_gc(root),         add_fsck(root),      add_stats(root),
      add_plugins(root),     add_doctor(root),     add_env(root),       add_version(root),
      add_check_flags(root), add_trial_load(root), add_completion(root)};
  for (const Verb& verb : verbs) add_output_options(*verb.app, options);
  Output out(options);
  const auto finish = [&out](ExitCode code) { return static_cast<int>(out.finish(code)); };

  options.json = asks_for_json(words);
  if (is_unknown_verb(words, verbs)) return finish(unknown_verb(words[0], verbs, out));
  if (words.empty()) {
    std::fputs(root.help().c_str(), stderr);
    return finish(ExitCode::usage);
  }
  try {
    // The parser takes the words from the last one on.
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    options.json = false;
    root.exit(success);
    return finish(ExitCode::done);
  } catch (const CLI::ParseError& error) {
    out.advise("'precast " + verb_of(root) + " --help' shows the options");
    return finish(out.usage(message_of(error, root)));
  }
  return finish(run_verb(verbs, out));
}

}  // namespace
}  // namespace precast::cli

int main(int argc, char** argv) {
  // A reader that has seen enough closes the pipe: writing then fails, and the command ends.
  std::signal(SIGPIPE, SIG_IGN);
  precast::write_stats_at_exit_only();
  // A cache entry beyond the user's file size limit is a cache fault, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  // Others wait for what this process compiles: they are told before it ends.
  precast::release_leases_when_told_to_end();
  try {
    return precast::cli::command(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("precast: error: out of memory\n", stderr);
    return static_cast<int>(precast::cli::ExitCode::environment);
  } catch (const std::exception& error) {
    // The library throws nothing; this is what the standard library may.
    std::fprintf(stderr, "precast: error: internal: %s\n", error.what());
    return static_cast<int>(precast::cli::ExitCode::internal);
  }
}
