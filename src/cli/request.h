// What compile, run and key have in common: the options that say what is compiled, how and for
// which devices, and the plugin that is opened for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/verb_options.h"
#include "precast/precast.h"

namespace precast::cli {

// How a plugin is opened.
struct PluginArguments {
  std::string plugin;
  std::vector<std::string> client_options;

  void add_to(VerbOptions& verb);
};

// What is compiled, and where it is kept. With --options-proto the file is the base, and only the
// options that were given change it.
struct RequestArguments {
  PluginArguments plugin;

  std::optional<int> replicas;
  std::optional<int> partitions;
  bool spmd = false;
  std::vector<std::int64_t> device_ids;
  std::vector<std::string> options;
  std::string options_proto;
  std::string profile;  // a file

  std::string cache;
  std::string name_space;
  bool no_cache = false;
  bool strict = false;
  bool lean = false;
  std::string policy = "read-write";
  std::string pin;  // a root
  int min_compile_ms = 0;
  bool no_lease = false;
  int wait_limit_s = 3600;
  std::string after_wait = "compile";
  bool trial_load = false;
  std::string soft_limit;
  std::string hard_limit;
  RequestOptions request;
  std::vector<std::string> extras;
  std::string annotations;  // a file

  // Adds the options. `devices` names the option of the device ids: "--device-ids" or, where it
  // stands for positions of a loaded artifact too, "--devices,--device-ids".
  void add_to(VerbOptions& verb, const std::string& devices);

  // The compile options; reads --options-proto and --profile.
  Result<CompileOptions> compile_options() const;
  // What the request says beside them; reads --annotations.
  Result<RequestOptions> request_options() const;

  // The cache as the options say. Its warnings are printed.
  CacheConfig cache_config(Output& out) const;

 private:
  void add_policies_to(VerbOptions& verb);
};

// A client and how long it took to get there.
struct Session {
  Plugin plugin;
  Client client;
  std::vector<Phase> phases;  // open_plugin, create_client
};

// Opens the plugin and makes a client. From here on what the plugin prints is kept back
// (cli/chatter.h), unless --verbose was given. On an error, advice goes to `out`.
Result<Session> open_session(const PluginArguments& arguments, Output& out);

// Compiles or loads through `cache`, with a line of progress on a terminal and advice on errors.
Result<CompileOrLoad> compile_or_load(const Cache& cache, const Session& session,
                                      const Program& program, const CompileOptions& options,
                                      const RequestArguments& arguments, Output& out);

// {"path", "api_version", "platform", "platform_version"}.
Json json_of_plugin(const Session& session);
// "cpu 0.115, /path/to/plugin.so".
std::string text_of_plugin(const Session& session);

// Whether PRECAST_DISABLE turns the cache off.
bool disabled_by_environment();

// A sentence about what became of a request: "compiled and stored".
std::string sentence_of(const Report& report);
// The table of phases with their total.
Table table_of(const std::vector<Phase>& phases, double total_ms);
// Outcome, reason, key, artifact and bytes: what the objects of compile and run have in common.
void add_report(Json& object, const Report& report);

}  // namespace precast::cli
