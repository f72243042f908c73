// precast env: the variables with which a client that knows nothing of Precast uses its cache.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "cli/wrapper.h"

namespace precast::cli {
namespace {

// docs/any-client.md has a section for each.
const std::vector<std::string> kClients = {"jax",  "pytorch-xla", "pypjrt", "gomlx", "gopjrt",
                                           "exla", "reactant",    "zml",    "other"};

// JAX knows the plugin by this name.
constexpr std::string_view kPlatform = "precast";

struct Arguments {
  std::string client;
  std::string plugin;
  std::string wrapper;
};

struct Advice {
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> notes;
};

// A word that every POSIX shell reads as it is.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,=+-@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// In the Python package: what makes JAX's CUDA package open the wrapper (python/precast/pjrt.py).
std::string jax_cuda_folder(const std::string& wrapper) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(wrapper).parent_path().parent_path() / "jax_cuda";
  std::error_code error;
  return fs::is_directory(folder / "jax_plugins", error) ? folder.string() : std::string();
}

void advise_jax(const FoundPlugin& plugin, const std::string& wrapper, Advice& advice) {
  if (plugin.name == "tpu") {
    advice.variables = {{"TPU_LIBRARY_PATH", wrapper}, {"JAX_PLATFORMS", "tpu"}};
    return;
  }
  if (const std::string folder = jax_cuda_folder(wrapper);
      plugin.name == "cuda" && !folder.empty()) {
    const char* before = ::secure_getenv("PYTHONPATH");
    const bool none = before == nullptr || *before == '\0';
    advice.variables = {{"PYTHONPATH", none ? folder : folder + ":" + before},
                        {"JAX_PLATFORMS", "cuda"}};
    return;
  }
  advice.variables = {{"PJRT_NAMES_AND_LIBRARY_PATHS", fmt::format("{}:{}", kPlatform, wrapper)},
                      {"JAX_PLATFORMS", std::string(kPlatform)}};
  if (plugin.name == "cuda") {
    advice.notes.emplace_back(
        "JAX's CUDA package opens its own library whatever is set here, and registers JAX's own "
        "kernels only there: Precast's Python package has what makes it open this one "
        "(docs/any-client.md)");
  }
}

void advise_pytorch_xla(const FoundPlugin& plugin, const std::string& wrapper, Advice& advice) {
  if (plugin.name == "tpu") {
    advice.variables = {{"PJRT_DEVICE", "TPU"}, {"TPU_LIBRARY_PATH", wrapper}};
  } else {
    advice.variables = {{"PJRT_DEVICE", "LIBRARY"}, {"PJRT_LIBRARY_PATH", wrapper}};
  }
}

// For clients that take the path in code: where.
std::string open_in_code(const std::string& client, const std::string& wrapper) {
  if (client == "gopjrt") return fmt::format("in Go: pjrt.GetPlugin(\"{}\")", wrapper);
  if (client == "exla") {
    return fmt::format(R"(in Elixir: EXLA.NIF.load_pjrt_plugin("{}", "{}"))", kPlatform, wrapper);
  }
  if (client == "reactant") {
    return fmt::format(R"(in Julia: Reactant.XLA.PJRT.MakeClientUsingPluginAPI("{}", "{}", "{}"))",
                       wrapper, kPlatform, kPlatform);
  }
  if (client == "zml") return fmt::format("in Zig: pjrt.Api.loadFrom(\"{}\")", wrapper);
  return fmt::format("the client has to open '{}' in place of the plugin", wrapper);
}

// What JAX parts names and paths at.
Result<void> check_path(const Arguments& arguments, const std::string& wrapper) {
  if (arguments.client != "jax" || wrapper.find_first_of(",:") == std::string::npos) return {};
  return Error(ErrorCode::invalid_argument,
               fmt::format("JAX cannot be told of '{}', since it parts paths at ':' and ','; use a "
                           "copy or a link elsewhere, with --wrapper",
                           wrapper));
}

Advice advise(const Arguments& arguments, const FoundPlugin& plugin, const std::string& wrapper) {
  Advice advice;
  if (arguments.client == "jax") {
    advise_jax(plugin, wrapper, advice);
  } else if (arguments.client == "pytorch-xla") {
    advise_pytorch_xla(plugin, wrapper, advice);
  } else if (arguments.client == "pypjrt") {
    advice.variables = {{"PYPJRT_PLUGIN", wrapper}};
  } else if (arguments.client == "gomlx") {
    advice.variables = {{"GOMLX_BACKEND", "xla:" + wrapper}};
  } else {
    advice.notes.push_back(open_in_code(arguments.client, wrapper));
  }
  advice.variables.emplace_back("PRECAST_PJRT_PLUGIN", plugin.path);
  return advice;
}

Result<ExitCode> env(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const std::string wrapper, find_wrapper(arguments.wrapper));
  PRECAST_ASSIGN(const FoundPlugin plugin, choose_plugin(arguments.plugin));
  PRECAST_TRY(check_path(arguments, wrapper));
  const Advice advice = advise(arguments, plugin, wrapper);

  Json variables = Json::object();
  // What a shell reads: comments are not evaluated, and so they may stand among it.
  for (const std::string& note : advice.notes) out.answer("# " + printable(note) + "\n");
  for (const auto& [name, value] : advice.variables) {
    variables[name] = value;
    out.answer(fmt::format("export {}={}\n", name, shell_word(value)));
  }
  out.object({{"schema", "precast.env/1"},
              {"client", arguments.client},
              {"variables", variables},
              {"wrapper", wrapper},
              {"plugin", {{"name", plugin.name}, {"path", plugin.path}, {"origin", plugin.origin}}},
              {"notes", advice.notes}});
  return ExitCode::done;
}

}  // namespace

Verb add_env(CLI::App& root) {
  VerbOptions options(root, "env",
                      "print the variables with which an unchanged client uses the cache",
                      "eval \"$(precast env jax)\"\n"
                      "precast env pypjrt --plugin /opt/plugins/cpu.so");
  auto arguments = std::make_shared<Arguments>();
  options.add_choice(arguments->client, kClients,
                     {.names = "CLIENT", .help = "the client", .required = true});
  options.add(arguments->plugin, {.names = "--plugin",
                                  .help = "the plugin that compiles: a path or a short name; "
                                          "else the first that is found",
                                  .value = "P"});
  options.add(arguments->wrapper, {.names = "--wrapper",
                                   .help = "libprecast_pjrt.so, or a copy of it; else the one "
                                           "beside the library",
                                   .value = "FILE"});
  return {options.app(), [arguments](Output& out) { return env(*arguments, out); }};
}

}  // namespace precast::cli
