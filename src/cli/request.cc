#include "cli/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/amounts.h"
#include "cli/chatter.h"
#include "cli/entries.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "cli/text.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

struct NameAndValue {
  std::string name;
  std::string value;
};

// "name=value"; dashes before the name are taken as a slip.
std::optional<NameAndValue> split_option(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(0, equals);
  while (name.starts_with('-')) name.remove_prefix(1);
  if (name.empty()) return std::nullopt;
  return NameAndValue{std::string(name), std::string(text.substr(equals + 1))};
}

// For the parser: empty when the option is well-formed, else what is wrong.
// A year, in the units of the options.
constexpr int kMostSeconds = 366 * 24 * 3600;
constexpr int kMostMs = 24 * 3600 * 1000;

std::string check_size(const std::string& text) {
  const Result<std::uint64_t> bytes = parse_size(text);
  if (!bytes) return bytes.error().message();
  return *bytes == 0 ? "0 would leave no room for anything" : "";
}

std::string check_root(const std::string& text) {
  return Digest::from_hex(text) ? "" : "a root is 64 lower-case hexadecimal digits";
}

std::string check_option(const std::string& text) {
  const std::optional<NameAndValue> option = split_option(text);
  if (!option) return fmt::format("'{}' is not NAME=VALUE", printable(text, 100));
  CompileOptions scratch;
  const Result<void> set = scratch.set_option(option->name, option->value);
  return set ? std::string() : set.error().message();
}

std::string check_extra(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals != 0) return {};
  return fmt::format("'{}' is not NAME=VALUE", printable(text, 100));
}

std::string check_client_option(const std::string& text) {
  const Result<NamedValue> value = NamedValue::parse(text);
  return value ? std::string() : value.error().message();
}

// For an option that the plugin does not know, the name that was probably meant.
void advise_on_compile(const Error& error, const RequestArguments& arguments, Output& out) {
  if (error.code() == ErrorCode::unavailable && !arguments.pin.empty()) {
    out.advise("'precast compile' and 'precast inspect' show the root of what is there");
    return;
  }
  if (error.code() == ErrorCode::unavailable && arguments.policy == to_string(Policy::offline)) {
    out.advise("fill the cache first: the same command with --policy read-write");
    return;
  }
  if (error.code() != ErrorCode::plugin_error) return;
  for (const std::string& text : arguments.options) {
    const std::optional<NameAndValue> option = split_option(text);
    if (!option || error.message().find("'" + option->name + "'") == std::string::npos) continue;
    const std::string nearest = nearest_xla_option(option->name);
    if (!nearest.empty() && nearest != option->name) {
      out.advise(fmt::format("did you mean --option {}={}?", nearest, option->value));
    }
  }
}

// For a plugin that cannot be opened, the name or file that was probably meant.
void advise_on_plugin(const std::string& plugin, Output& out) {
  if (plugin.empty()) return;
  std::vector<std::string> names;
  for (const FoundPlugin& found : find_plugins()) names.push_back(found.name);
  std::string nearest = nearest_word(plugin, names);
  if (nearest.empty() && plugin.find('/') != std::string::npos) nearest = nearest_file(plugin);
  if (!nearest.empty() && nearest != plugin) {
    out.advise(fmt::format("did you mean --plugin {}?", printable(nearest)));
  }
  out.advise("'precast plugins' lists what is found by name");
}

// For a client option that the plugin refuses.
void advise_on_client_option(const NamedValue& option, Output& out) {
  static const std::vector<std::string> known = {"abort_collectives_on_failure",
                                                 "allocator",
                                                 "asynchronous",
                                                 "collective_memory_size",
                                                 "cpu_device_count",
                                                 "memory_fraction",
                                                 "node_id",
                                                 "num_nodes",
                                                 "partition_index",
                                                 "platform_name",
                                                 "preallocate",
                                                 "process_id",
                                                 "visible_devices"};
  const std::string nearest = nearest_word(option.name, known);
  out.advise(
      nearest.empty() || nearest == option.name
          ? fmt::format("check the name and the type of --client-option {}={}", option.name,
                        option.value_text())
          : fmt::format("did you mean --client-option {}={}?", nearest, option.value_text()));
}

}  // namespace

void PluginArguments::add_to(VerbOptions& verb) {
  const std::string group = "Plugin";
  verb.add(plugin, {.names = "--plugin",
                    .help = "PJRT plugin: a path or a short name such as cpu",
                    .value = "P",
                    .group = group});
  verb.add_repeatable(client_options, {.names = "--client-option",
                                       .help = "option of the plugin's client (repeatable)",
                                       .value = "NAME=VALUE",
                                       .group = group,
                                       .check = check_client_option});
}

void RequestArguments::add_to(VerbOptions& verb, const std::string& devices) {
  constexpr int kMost = static_cast<int>(limits::kMaxDevices);
  std::string group = "Compiling";
  verb.add(replicas, 1, kMost,
           {.names = "--replicas", .help = "number of replicas", .value = "N", .group = group});
  verb.add(partitions, 1, kMost,
           {.names = "--partitions", .help = "number of partitions", .value = "N", .group = group});
  verb.add(spmd, {.names = "--spmd", .help = "partition the program (SPMD)", .group = group});
  verb.add(device_ids, {.names = devices,
                        .help = "device ids, one for each replica and partition",
                        .value = "ID,...",
                        .group = group});
  verb.add_repeatable(options, {.names = "--option",
                                .help = "XLA option by its flag name (repeatable)",
                                .value = "NAME=VALUE",
                                .group = group,
                                .check = check_option});
  verb.add(request.cpu_baseline,
           {.names = "--cpu-baseline",
            .help = "compile for every CPU of a level: x86-64-v2, x86-64-v3 or x86-64-v4",
            .value = "LEVEL",
            .group = group});
  verb.add(options_proto, {.names = "--options-proto",
                           .help = "serialized xla.CompileOptionsProto to start from",
                           .value = "FILE",
                           .group = group});
  verb.add(profile, {.names = "--profile",
                     .help = "profile that guides the compiler (FDO); counts by its bytes",
                     .value = "FILE",
                     .group = group});
  plugin.add_to(verb);
  group = "Cache";
  verb.add(cache, {.names = "--cache", .help = "cache folder", .value = "DIR", .group = group});
  add_name_space_option(verb, name_space);
  verb.add(
      no_cache,
      {.names = "--no-cache", .help = "neither look into the cache nor store", .group = group});
  verb.exclude("--no-cache", "--cache");
  verb.add(strict,
           {.names = "--strict", .help = "a fault of the cache is an error", .group = group});
  verb.add(lean, {.names = "--lean",
                  .help = "store executables without metadata for profilers; they load faster",
                  .group = group});
  add_policies_to(verb);
  verb.add(request.salt, {.names = "--salt",
                          .help = "text that makes the key another one",
                          .value = "TEXT",
                          .group = group});
  verb.add_repeatable(extras, {.names = "--extra",
                               .help = "a fact of yours that goes into the key (repeatable)",
                               .value = "NAME=VALUE",
                               .group = group,
                               .check = check_extra});
  verb.add(annotations, {.names = "--annotations",
                         .help = "file of annotations; its bytes go into the key",
                         .value = "FILE",
                         .group = group});
  verb.add(request.label, {.names = "--label",
                           .help = "text kept in the artifact, not in the key",
                           .value = "TEXT",
                           .group = group});
  verb.add(request.keep_program,
           {.names = "--keep-program", .help = "keep the program in the artifact", .group = group});
}

void RequestArguments::add_policies_to(VerbOptions& verb) {
  const std::string group = "Cache";
  verb.add_choice(policy, {"read-write", "read-only", "refresh", "offline"},
                  {.names = "--policy",
                   .help = "what the cache may do; offline: a miss is an error",
                   .group = group});
  verb.add(pin, {.names = "--pin",
                 .help = "only the artifact with this root may load (see precast inspect)",
                 .value = "ROOT",
                 .group = group,
                 .check = check_root});
  // Nothing would be held to it.
  verb.exclude("--no-cache", "--pin");
  verb.add(min_compile_ms, 0, kMostMs,
           {.names = "--min-compile-ms",
            .help = "do not store what compiles faster (default 0)",
            .value = "MS",
            .group = group});
  verb.add(no_lease, {.names = "--no-lease",
                      .help = "do not wait for others who compile the same",
                      .group = group});
  verb.add(wait_limit_s, 0, kMostSeconds,
           {.names = "--wait-limit",
            .help = "longest wait for others who compile the same (default 3600)",
            .value = "SECONDS",
            .group = group});
  verb.add_choice(after_wait, {"compile", "fail"},
                  {.names = "--after-wait",
                   .help = "what to do when the longest wait is over (default compile)",
                   .group = group});
  verb.add(soft_limit, {.names = "--soft-limit",
                        .help = "bytes of the cache that start a collection, as 20GiB",
                        .value = "SIZE",
                        .group = group,
                        .check = check_size});
  verb.add(hard_limit, {.names = "--hard-limit",
                        .help = "bytes of the cache beyond which nothing is stored",
                        .value = "SIZE",
                        .group = group,
                        .check = check_size});
  verb.add(trial_load, {.names = "--trial-load",
                        .help = "load what another host made in a child process first",
                        .group = group});
}

Result<CompileOptions> RequestArguments::compile_options() const {
  CompileOptions compile;
  if (!options_proto.empty()) {
    PRECAST_ASSIGN(Bytes bytes, read_input(options_proto, limits::kMaxSectionBytes));
    auto parsed = CompileOptions::from_serialized(std::move(bytes));
    if (!parsed) return std::move(parsed).error().with("in '" + options_proto + "'");
    compile = std::move(parsed).value();
  }
  if (replicas) compile.set_replicas(*replicas);
  if (partitions) compile.set_partitions(*partitions);
  if (spmd) compile.set_use_spmd(true);
  if (!profile.empty()) {
    PRECAST_ASSIGN(const Bytes bytes, read_input(profile, limits::kMaxOptionContentBytes));
    compile.set_profile(bytes);
  }
  for (const std::string& text : options) {
    const std::optional<NameAndValue> option = split_option(text);
    if (option) PRECAST_TRY(compile.set_option(option->name, option->value));
  }
  if (!device_ids.empty()) {
    const auto wanted = static_cast<std::size_t>(compile.replicas()) *
                        static_cast<std::size_t>(compile.partitions());
    if (device_ids.size() != wanted) {
      return Error(
          ErrorCode::invalid_argument,
          fmt::format("{} given ({}), but {} x {} need {}; set --replicas or --partitions, "
                      "or give as many device ids",
                      counted(device_ids.size(), "device id"), joined(device_ids),
                      counted(static_cast<std::uint64_t>(compile.replicas()), "replica"),
                      counted(static_cast<std::uint64_t>(compile.partitions()), "partition"),
                      wanted));
    }
    compile.set_assignment(DeviceAssignment{compile.replicas(), compile.partitions(), device_ids});
  }
  return compile;
}

Result<RequestOptions> RequestArguments::request_options() const {
  RequestOptions filled = request;
  if (!pin.empty()) filled.pin = Digest::from_hex(pin);
  if (!annotations.empty()) {
    PRECAST_ASSIGN(filled.annotations, read_input(annotations, limits::kMaxOptionContentBytes));
  }
  for (const std::string& text : extras) {
    const std::size_t equals = text.find('=');
    filled.extras[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return filled;
}

CacheConfig RequestArguments::cache_config(Output& out) const {
  CacheConfig config;
  config.directory = cache;
  config.name_space = name_space;
  // Checked when the command line was read.
  if (!soft_limit.empty()) config.soft_limit_bytes = parse_size(soft_limit).value();
  if (!hard_limit.empty()) config.hard_limit_bytes = parse_size(hard_limit).value();
  config.disabled = no_cache;
  config.strict = strict;
  config.lean = lean;
  for (const Policy known :
       {Policy::read_write, Policy::read_only, Policy::refresh, Policy::offline}) {
    if (policy == to_string(known)) config.policy = known;
  }
  config.min_compile_ms = min_compile_ms;
  config.leases = !no_lease;
  config.wait_limit_s = wait_limit_s;
  config.after_wait = after_wait == "fail" ? AfterWait::fail : AfterWait::compile;
  config.trial_load = trial_load;
  config.command = "/proc/self/exe";
  config.on_waiting = [](const Waiting& waiting) {
    Progress::show_instead(
        fmt::format("waiting for process {} on {}, which has compiled it for {:.0f} s", waiting.pid,
                    printable(waiting.host), waiting.holding_s));
  };
  config.log = [&out](LogLevel level, const std::string& text) {
    if (level == LogLevel::warn) out.warning(text);
  };
  return config;
}

namespace {

// Flags that end the process would end this one without a word of ours.
Result<void> check_flags_of(const Plugin& plugin, std::vector<Phase>& phases) {
  const Stopwatch watch;
  const FlagsVerdict verdict = check_flags(plugin, {.command = "/proc/self/exe"});
  if (verdict.asked) phases.push_back({"check_flags", watch.ms()});
  if (verdict.kind != FlagsVerdict::Kind::ends) return {};
  return Error(ErrorCode::invalid_argument, verdict.message);
}

}  // namespace

Result<Session> open_session(const PluginArguments& arguments, Output& out) {
  std::vector<NamedValue> options;
  for (const std::string& text : arguments.client_options) {
    PRECAST_ASSIGN(NamedValue option, NamedValue::parse(text));
    options.push_back(std::move(option));
  }
  if (!out.verbose()) keep_back_chatter();
  std::vector<Phase> phases;
  auto plugin = timed(phases, "open_plugin", [&] { return Plugin::open(arguments.plugin); });
  if (!plugin) {
    advise_on_plugin(arguments.plugin, out);
    return std::move(plugin).error();
  }
  PRECAST_TRY(check_flags_of(*plugin, phases));
  auto client = timed(phases, "create_client", [&] { return plugin->create_client(options); });
  if (!client) {
    for (const NamedValue& option : options) {
      if (client.error().message().find(option.name) == std::string::npos) continue;
      advise_on_client_option(option, out);
    }
    return std::move(client).error().with(fmt::format("plugin '{}'", plugin->path()));
  }
  return Session{*std::move(plugin), *std::move(client), std::move(phases)};
}

Result<CompileOrLoad> compile_or_load(const Cache& cache, const Session& session,
                                      const Program& program, const CompileOptions& options,
                                      const RequestArguments& arguments, Output& out) {
  const Progress progress("compiling " + printable(program.name()), out);
  PRECAST_ASSIGN(const RequestOptions request, arguments.request_options());
  auto done = cache.compile_or_load(session.client, program, options, request);
  if (!done) advise_on_compile(done.error(), arguments, out);
  return done;
}

Json json_of_plugin(const Session& session) {
  return {{"path", session.plugin.path()},
          {"api_version", session.plugin.api_version().to_string()},
          {"platform", session.client.platform_name()},
          {"platform_version", session.client.platform_version()}};
}

std::string text_of_plugin(const Session& session) {
  return fmt::format("{} {}, {}", printable(session.client.platform_name()),
                     session.plugin.api_version().to_string(), printable(session.plugin.path()));
}

std::string sentence_of(const Report& report) {
  std::string text;
  switch (report.outcome) {
    case Outcome::hit:
      return report.reason == Reason::none ? "loaded from the cache"
                                           : "loaded from the cache: " + printable(report.detail);
    case Outcome::miss: text = "compiled and stored"; break;
    case Outcome::skip: text = "compiled, not stored"; break;
    case Outcome::bypass: text = "compiled without the cache"; break;
    case Outcome::error: text = "not compiled"; break;
  }
  text += fmt::format(" ({})", to_string(report.reason));
  // What was a warning stands on standard error already.
  const auto& warned = report.warnings;
  if (!report.detail.empty() &&
      std::find(warned.begin(), warned.end(), report.detail) == warned.end()) {
    text += ": " + printable(report.detail);
  }
  return text;
}

Table table_of(const std::vector<Phase>& phases, double total_ms) {
  Table table({{"phase"}, {"ms", true}});
  for (const Phase& phase : phases) table.add({phase.name, ms_text(phase.ms)});
  table.add({"total", ms_text(total_ms)});
  return table;
}

void add_report(Json& object, const Report& report) {
  object["outcome"] = to_string(report.outcome);
  object["reason"] = to_string(report.reason);
  object["detail"] = report.detail;
  object["key"] = report.key ? Json(report.key->hex()) : Json();
  // Without bytes there is no entry: the path is only where it would be.
  const bool stored = report.artifact_bytes != 0 && !report.artifact_path.empty();
  object["artifact"] = stored ? Json(report.artifact_path) : Json();
  object["root"] = report.root ? Json(report.root->hex()) : Json();
  object["bytes"] = {{"program", report.program_bytes},
                     {"executable", report.executable_bytes},
                     {"artifact", report.artifact_bytes}};
  object["warnings"] = report.warnings;
}

bool disabled_by_environment() {
  const char* value = ::secure_getenv("PRECAST_DISABLE");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace precast::cli
