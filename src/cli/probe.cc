#include "cli/probe.h"

#include <fmt/format.h>

#include <utility>

#include "cli/child.h"
#include "cli/round_trip.h"
#include "cli/text.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

constexpr char kStage = '@';  // begins a line that names what comes next

void add_problem(Json& object, const std::string& what, const std::string& next_step) {
  object["problems"].push_back({{"what", what}, {"next_step", next_step}});
}

Json cpu_json(const CpuTarget& cpu) {
  return {{"triple", cpu.triple}, {"name", cpu.name}, {"features", cpu.features}};
}

Json client_json(const Client& client, Json& object) {
  Json json = {{"platform", client.platform_name()},
               {"platform_version", client.platform_version()},
               {"cpu_count", client.cpu_count()},
               {"devices", Json::array()},
               {"cpu", Json()}};
  for (const Device& device : client.devices()) json["devices"].push_back(json_of(device));
  if (const auto cpu = cpu_target(client)) {
    json["cpu"] = cpu_json(*cpu);
  } else {
    add_problem(object,
                "the plugin does not say for which CPU it compiles: " + cpu.error().message(),
                "its programs are compiled each time; use a plugin with a newer PJRT API");
  }
  return json;
}

void check_capabilities(const PluginCapabilities& can, Json& object) {
  const std::pair<bool, const char*> needed[] = {
      {can.serialize, "serialize executables"},
      {can.deserialize_and_load, "load serialized executables"},
      {can.override_compile_options, "load executables with other options (PJRT 0.71)"},
  };
  for (const auto& [has, what] : needed) {
    if (has) continue;
    add_problem(object, fmt::format("the plugin cannot {}, so nothing is cached", what),
                "use a plugin with a newer PJRT API");
  }
}

// The child's work. Fills the object; a stage that fails ends it.
void look_at(const ProbeRequest& request, const Write& write, Json& object) {
  const auto stage = [&](const char* name) { write(fmt::format("{}{}\n", kStage, name)); };
  stage("opening the plugin");
  const auto plugin = Plugin::open(request.plugin);
  if (!plugin) {
    add_problem(object, plugin.error().to_string(),
                "use another plugin: --plugin or PRECAST_PLUGIN");
    return;
  }
  object["api_version"] = plugin->api_version().to_string();
  object["struct_size"] = plugin->api_struct_size();
  object["attributes"] = json_of(plugin->attributes());
  object["capabilities"] = json_of(plugin->capabilities());
  check_capabilities(plugin->capabilities(), object);
  stage("hashing the plugin");
  if (const auto file = plugin->mapped_file()) {
    object["file"] = {{"path", file->path}, {"bytes", file->bytes}, {"sha256", file->digest.hex()}};
  } else {
    add_problem(object, file.error().to_string(),
                "the cache is bypassed until the program is started again");
  }
  stage("making a client");
  const auto client = plugin->create_client(request.client_options);
  if (!client) {
    add_problem(object, "no client: " + client.error().to_string(),
                "see what the plugin says above; its device or driver may be missing");
    return;
  }
  object["client"] = client_json(*client, object);
  if (!request.self_test) return;
  stage("compiling, storing and loading a small program");
  const RoundTrip test = try_round_trip(*client);
  object["self_test"] = {
      {"ok", !test.problem.has_value()}, {"compile", test.compile}, {"load", test.load}};
  Json& answers = object["self_test"]["answers"] = Json::object();
  for (const auto& [question, refusal] : test.answers) {
    answers[question] = refusal ? Json(*refusal) : Json();
  }
  if (test.problem) {
    add_problem(object, "the self-test failed: " + *test.problem,
                "run 'precast compile' on a program of yours to see more");
  }
}

// The last line of the answer is the object, unless the child died before.
Json parse_answer(const ChildEnd& end, const std::string& plugin) {
  std::string stage;
  std::string_view rest = end.answer;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    if (line.starts_with(kStage)) {
      stage = line.substr(1);
    } else if (end.finished) {
      Json object = Json::parse(line, nullptr, false);
      if (object.is_object()) return object;
    }
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  }
  Json object = {{"problems", Json::array()}};
  std::string what =
      fmt::format("while {}: {}", stage, end.finished ? "the plugin did not answer" : end.how);
  if (!end.complaints.empty()) what += "; it said:\n" + printable_lines(end.complaints);
  add_problem(object, what,
              fmt::format("do not use '{}' here, or mend what it complains about", plugin));
  return object;
}

}  // namespace

Json probe_plugin(const ProbeRequest& request) {
  const auto end = run_in_child(
      [&request](const Write& write) {
        Json object = {{"problems", Json::array()}};
        look_at(request, write, object);
        write(json_text(object) + "\n");
      },
      request.timeout_s);
  if (end) return parse_answer(*end, request.plugin);
  Json object = {{"problems", Json::array()}};
  add_problem(object, end.error().to_string(), "free some memory or processes");
  return object;
}

}  // namespace precast::cli
