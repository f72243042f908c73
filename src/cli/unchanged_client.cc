#include "cli/unchanged_client.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/probe.h"
#include "cli/text.h"
#include "cli/wrapper.h"
#include "precast/wrapper.h"

namespace precast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNames = "PJRT_NAMES_AND_LIBRARY_PATHS";
constexpr std::string_view kPlatforms = "JAX_PLATFORMS";
// Those that hold one path, as docs/any-client.md has them, and what may stand before it.
struct PathVariable {
  std::string_view name;
  std::string_view prefix;
};
constexpr std::array<PathVariable, 4> kPathVariables = {{
    {"TPU_LIBRARY_PATH", ""},
    {"PJRT_LIBRARY_PATH", ""},
    {"PYPJRT_PLUGIN", ""},
    {"GOMLX_BACKEND", "xla:"},
}};

struct Told {  // What a variable tells a client to open.
  std::string variable;
  std::string name;  // of PJRT_NAMES_AND_LIBRARY_PATHS
  std::string library;
};

std::string variable(std::string_view name) {
  const char* value = ::secure_getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// JAX takes a file of settings in place of a library.
std::string library_in(const std::string& path) {
  if (!path.ends_with(".json")) return path;
  const Json settings = Json::parse(content_of(path), nullptr, false);
  if (!settings.is_object()) return path;
  return settings.value("library_path", path);
}

std::vector<Told> told_by_environment() {
  std::vector<Told> told;
  const std::string names = variable(kNames);
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) continue;
    told.push_back({std::string(kNames), std::string(entry.substr(0, colon)),
                    library_in(std::string(entry.substr(colon + 1)))});
  }
  for (const PathVariable& known : kPathVariables) {
    const std::string value = variable(known.name);
    if (value.size() <= known.prefix.size() || !value.starts_with(known.prefix)) continue;
    told.push_back({std::string(known.name), "", value.substr(known.prefix.size())});
  }
  return told;
}

// A copy may have any name: then its bytes tell.
bool is_wrapper(const std::string& path, const std::string& wrapper) {
  if (fs::path(path).filename().string().starts_with(kWrapperName)) return true;
  std::error_code error;
  if (wrapper.empty() || !fs::is_regular_file(path, error)) return false;
  if (fs::file_size(path, error) != fs::file_size(wrapper, error) || error) return false;
  return content_of(path) == content_of(wrapper);
}

void add(Json& list, const std::string& what, const std::string& next_step) {
  list.push_back({{"what", what}, {"next_step", next_step}});
}

// JAX uses of the plugins that it knows those that JAX_PLATFORMS names, if it names any.
void check_platforms(const Told& told, Json& problems, Json& notes) {
  if (told.variable != kNames) return;
  const std::string platforms = variable(kPlatforms);
  if (platforms.empty()) {
    add(notes, fmt::format("{} is not set: JAX chooses among its platforms itself", kPlatforms),
        fmt::format("{}={}", kPlatforms, told.name));
  } else if (("," + platforms + ",").find("," + told.name + ",") == std::string::npos) {
    add(problems,
        fmt::format("JAX does not use the wrapper: {} is '{}', and {} calls it '{}'", kPlatforms,
                    platforms, kNames, told.name),
        fmt::format("{}={}", kPlatforms, told.name));
  }
}

// What a client sees that opens the wrapper: a process of its own.
void open_wrapper(const std::string& wrapper, int timeout_s, Json& seen, Json& problems) {
  ProbeRequest request;
  request.plugin = wrapper;
  request.timeout_s = timeout_s;
  Json probed = probe_plugin(request);
  seen["api_version"] = probed.value("api_version", Json());
  if (probed.contains("client")) seen["platform"] = probed["client"]["platform"];
  for (Json& problem : probed["problems"]) problems.push_back(std::move(problem));
}

}  // namespace

Json look_at_unchanged_clients(int timeout_s, Json& problems, Json& notes) {
  Json seen = {{"wrapper", Json()}, {"clients", Json::array()}, {"plugin", Json()},
               {"refusal", Json()}, {"api_version", Json()},    {"platform", Json()}};
  const auto beside = find_wrapper("");
  std::string wrapper = beside ? *beside : "";
  std::optional<std::string> told_wrapper;
  for (const Told& told : told_by_environment()) {
    const bool own = is_wrapper(told.library, wrapper);
    seen["clients"].push_back({{"variable", told.variable},
                               {"name", told.name.empty() ? Json() : Json(told.name)},
                               {"library", told.library},
                               {"is_wrapper", own}});
    if (!own) continue;
    if (!told_wrapper) told_wrapper = told.library;
    check_platforms(told, problems, notes);
  }
  if (told_wrapper) {
    wrapper = *told_wrapper;
  } else {
    add(notes, "no variable tells a client to open Precast's plugin",
        "'precast env' prints what to export, for example: eval \"$(precast env jax)\"");
  }
  if (wrapper.empty()) {
    add(problems, beside.error().message(), "install it beside the library");
    return seen;
  }
  seen["wrapper"] = wrapper;
  const auto plugin = find_wrapped_plugin(wrapper);
  if (!plugin) {
    seen["refusal"] = plugin.error().message();
    add(problems, "the wrapper opens no plugin: " + plugin.error().message(),
        "'precast env' prints what to export, for example: eval \"$(precast env jax)\"");
    return seen;
  }
  seen["plugin"] = {{"name", plugin->name}, {"path", plugin->path}, {"origin", plugin->origin}};
  open_wrapper(wrapper, timeout_s, seen, problems);
  return seen;
}

void print_unchanged_clients(const Json& seen, Output& out) {
  const auto text = [](const Json& value) {
    return value.is_string() ? printable(value.get<std::string>()) : std::string("none");
  };
  out.print("\n" + out.styled(Style::bold, "clients that know nothing of Precast") + "\n");
  Table facts({{""}, {"", false, true}});
  for (const Json& client : seen["clients"]) {
    facts.add({text(client["variable"]),
               fmt::format("{} ({})", text(client["library"]),
                           client["is_wrapper"].get<bool>() ? "Precast's" : "not Precast's")});
  }
  facts.add({"wrapper", text(seen["wrapper"])});
  if (const Json& plugin = seen["plugin"]; plugin.is_object()) {
    facts.add({"wraps", fmt::format("{} ({})", text(plugin["path"]), text(plugin["origin"]))});
  } else {
    facts.add({"wraps", "nothing"});
  }
  facts.add({"PJRT API", text(seen["api_version"])});
  facts.add({"platform", text(seen["platform"])});
  out.print(facts, 2);
}

}  // namespace precast::cli
