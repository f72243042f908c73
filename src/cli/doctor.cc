// precast doctor: what works here, what does not, and what to do about it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/probe.h"
#include "cli/request.h"
#include "cli/surroundings.h"
#include "cli/text.h"
#include "cli/unchanged_client.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

struct Arguments {
  PluginArguments plugin;
  std::string cache;
  int timeout_s = 60;
  bool pjrt = false;
};

std::string text_of(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

// A row for each function that Precast can use.
void add_capabilities(const Json& capabilities, Table& facts) {
  for (const auto& [name, value] : capabilities.items()) {
    if (value.is_boolean()) facts.add({value.get<bool>() ? "can" : "cannot", name});
  }
  const std::vector<std::string> shorts =
      capabilities.value("short_extensions", std::vector<std::string>());
  for (const Json& extension : capabilities["extensions"]) {
    const std::string name = text_of(extension);
    const bool is_short = std::find(shorts.begin(), shorts.end(), name) != shorts.end();
    facts.add({"extension", is_short ? name + " (an older, shorter one)" : name});
  }
}

// Facts about a client: how many devices of which kind, and the CPU.
void add_client(const Json& client, Table& facts) {
  facts.add({"platform", text_of(client["platform"])});
  const Json& devices = client["devices"];
  std::vector<std::string> kinds;
  for (const Json& device : devices) {
    const std::string kind = text_of(device["kind"]);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  facts.add({"devices", fmt::format("{} ({})", devices.size(), joined(kinds))});
  if (const Json& cpu = client["cpu"]; cpu.is_object()) {
    std::vector<std::string> features;
    for (const Json& feature : cpu["features"]) {
      if (feature.get<std::string>().starts_with('+')) features.push_back(text_of(feature));
    }
    facts.add({"CPU", fmt::format("{}, {}, {} for XLA", text_of(cpu["name"]),
                                  text_of(cpu["triple"]), client["cpu_count"].dump())});
    facts.add({"CPU features", fmt::format("{}: {}", features.size(), joined(features, " "))});
  }
}

void print_plugin(const Json& plugin, Output& out) {
  out.print(fmt::format("\n{} ({})\n", out.styled(Style::bold, "plugin " + text_of(plugin["name"])),
                        text_of(plugin["origin"])));
  Table facts({{""}, {"", false, true}});
  facts.add({"path", text_of(plugin["path"])});
  if (plugin.contains("api_version")) facts.add({"PJRT API", text_of(plugin["api_version"])});
  if (plugin.contains("file")) facts.add({"sha256", text_of(plugin["file"]["sha256"])});
  if (plugin.contains("attributes")) {
    for (const auto& [name, value] : plugin["attributes"].items()) {
      facts.add({printable(name), text_of(value)});
    }
  }
  if (plugin.contains("capabilities")) {
    add_capabilities(plugin["capabilities"], facts);
  }
  if (plugin.contains("client")) add_client(plugin["client"], facts);
  if (plugin.contains("self_test")) {
    const Json& test = plugin["self_test"];
    facts.add(
        {"self-test", test["ok"].get<bool>() ? "compiled, stored, loaded and ran" : "failed"});
    for (const auto& [question, words] : test["answers"].items()) {
      if (words.is_null()) {
        facts.add({"answers", question});
      } else {
        facts.add({"refuses", fmt::format("{}: {}", question, text_of(words))});
      }
    }
  }
  out.print(facts, 2);
}

void print_cache(const Json& cache, Output& out) {
  out.print("\n" + out.styled(Style::bold, "cache") + "\n");
  Table facts({{""}, {"", false, true}});
  facts.add({"folder", cache["directory"].is_null() ? "none" : text_of(cache["directory"])});
  facts.add({"chosen by", text_of(cache["origin"])});
  facts.add({"usable", cache["usable"].get<bool>() ? "yes" : "no"});
  if (cache["entries"].is_number()) {
    facts.add({"entries", fmt::format("{} ({})", cache["entries"].dump(),
                                      bytes_text(cache["bytes"].get<std::uint64_t>()))});
  }
  if (cache["free_bytes"].is_number()) {
    facts.add({"free space", bytes_text(cache["free_bytes"].get<std::uint64_t>())});
  }
  out.print(facts, 2);
}

void print_environment(const Json& environment, Output& out) {
  out.print("\n" + out.styled(Style::bold, "environment") + "\n");
  Table facts({{""}, {"", false, true}});
  for (const auto& [name, value] : environment.items())
    facts.add({printable(name), text_of(value)});
  if (facts.empty()) facts.add({"nothing that matters is set"});
  out.print(facts, 2);
}

std::string list_text(const Json& list, std::string_view word) {
  std::string text;
  for (const Json& item : list) {
    text += fmt::format("{}: {}\n  next step: {}\n", word,
                        printable_lines(item["what"].get<std::string>()),
                        printable_lines(item["next_step"].get<std::string>()));
  }
  return text;
}

// Finds and probes the plugins; their problems join the list.
Result<Json> look_at_plugins(const Arguments& arguments, Json& problems) {
  std::vector<FoundPlugin> found;
  if (arguments.plugin.plugin.empty()) {
    found = find_plugins();
  } else {
    found.push_back({arguments.plugin.plugin, arguments.plugin.plugin, "--plugin"});
  }
  ProbeRequest request;
  request.self_test = true;
  request.timeout_s = arguments.timeout_s;
  for (const std::string& text : arguments.plugin.client_options) {
    PRECAST_ASSIGN(NamedValue option, NamedValue::parse(text));
    request.client_options.push_back(std::move(option));
  }
  Json plugins = Json::array();
  for (const FoundPlugin& plugin : found) {
    request.plugin = plugin.path;
    Json object = {{"name", plugin.name}, {"path", plugin.path}, {"origin", plugin.origin}};
    object.update(probe_plugin(request));
    for (const Json& problem : object["problems"]) {
      problems.push_back(
          {{"what", fmt::format("plugin {}: {}", plugin.name, problem["what"].get<std::string>())},
           {"next_step", problem["next_step"]}});
    }
    plugins.push_back(std::move(object));
  }
  if (plugins.empty()) {
    problems.push_back({{"what", "no PJRT plugin is found"},
                        {"next_step",
                         "name one with --plugin or PRECAST_PLUGIN, or activate the "
                         "virtual environment that holds one"}});
  }
  return plugins;
}

Result<ExitCode> doctor(const Arguments& arguments, Output& out) {
  Json problems = Json::array();
  Json notes = Json::array();
  // First: the plugins are opened in children, which a process without threads can have.
  Json clients;
  Json plugins = Json::array();
  if (arguments.pjrt) {
    clients = look_at_unchanged_clients(arguments.timeout_s, problems, notes);
  } else {
    PRECAST_ASSIGN(plugins, look_at_plugins(arguments, problems));
  }
  const Json cache = look_at_cache(arguments.cache, problems, notes);
  const Json environment = look_at_environment(problems, notes);

  out.print(fmt::format("precast {}\n", PRECAST_VERSION));
  for (const Json& plugin : plugins) print_plugin(plugin, out);
  if (arguments.pjrt) print_unchanged_clients(clients, out);
  print_cache(cache, out);
  print_environment(environment, out);
  out.print("\n");
  out.print(list_text(notes, "note"));
  out.answer(list_text(problems, out.styled(Style::bad, "problem")));
  if (problems.empty()) out.print(out.styled(Style::good, "everything works") + "\n");
  out.object({{"schema", "precast.doctor/1"},
              {"version", PRECAST_VERSION},
              {"plugins", plugins},
              {"pjrt", clients},
              {"cache", cache},
              {"environment", environment},
              {"problems", problems},
              {"notes", notes}});
  return problems.empty() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

Verb add_doctor(CLI::App& root) {
  VerbOptions options(root, "doctor", "show what works here, and what does not and why",
                      "precast doctor\nprecast doctor --pjrt");
  auto arguments = std::make_shared<Arguments>();
  arguments->plugin.add_to(options);
  options.add(arguments->timeout_s, 1, kLongestTimeout,
              {.names = "--timeout",
               .help = "seconds that a plugin may take (60)",
               .value = "S",
               .group = "Plugin"});
  options.add(arguments->pjrt,
              {.names = "--pjrt",
               .help = "what an unchanged client would open, in place of the plugins",
               .group = "Plugin"});
  options.add(arguments->cache,
              {.names = "--cache", .help = "cache folder", .value = "DIR", .group = "Cache"});
  return {options.app(), [arguments](Output& out) { return doctor(*arguments, out); }};
}

}  // namespace precast::cli
