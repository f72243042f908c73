// precast compile: compiles a program, or finds that it was compiled before.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/files.h"
#include "cli/request.h"
#include "cli/stopwatch.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string program;
  std::string file;  // -o
  RequestArguments request;
};

// Where the compile looks and stores. Without a usable cache, -o still gets its file: through a
// private store that lives for this command.
struct Place {
  Cache cache;
  std::optional<TemporaryFolder> folder;
  Reason bypass = Reason::none;  // why the private store is used
};

Result<Place> private_place(CacheConfig config, Reason why) {
  PRECAST_ASSIGN(TemporaryFolder folder, TemporaryFolder::create());
  // The variable turns the user's cache off; the private store is none.
  ::unsetenv("PRECAST_DISABLE");
  config.disabled = false;
  config.directory = folder.path();
  // What was asked of the user's cache does not hold for this one.
  config.policy = Policy::read_write;
  config.name_space.clear();
  config.leases = false;
  config.min_compile_ms = 0;
  config.soft_limit_bytes = 0;
  config.hard_limit_bytes = 0;
  config.keep_misses = false;  // what became of the user's own request is told by its own record
  return Place{Cache::open(std::move(config)), std::move(folder), why};
}

Result<Place> open_place(const Arguments& arguments, Output& out) {
  const CacheConfig config = arguments.request.cache_config(out);
  const bool wants_file = !arguments.file.empty();
  if (wants_file && (config.disabled || disabled_by_environment())) {
    return private_place(config, Reason::disabled);
  }
  Cache cache = Cache::open(config);
  if (wants_file && cache.unusable() && !config.strict) {
    return private_place(config, Reason::store_unavailable);
  }
  return Place{std::move(cache), std::nullopt, Reason::none};
}

// Why there is nothing to write, with the code that its cause has.
Error no_artifact(const Report& report, const std::string& file) {
  ErrorCode code = ErrorCode::unsupported;
  switch (report.reason) {
    case Reason::not_serializable:
    case Reason::load_failed: code = ErrorCode::plugin_error; break;
    case Reason::store_failed:
    case Reason::store_unavailable:
    case Reason::entry_unreadable: code = ErrorCode::unavailable; break;
    case Reason::proof_failed: code = ErrorCode::internal; break;
    case Reason::entry_untrusted: code = ErrorCode::untrusted; break;
    default: break;
  }
  return {code,
          fmt::format("'{}' is not written: there is no artifact ({}){}{}", file,
                      to_string(report.reason), report.detail.empty() ? "" : ": ", report.detail)};
}

// Whether the cache alone is why there is no artifact.
bool could_not_be_kept(const Report& report) {
  if (report.artifact_bytes != 0) return false;
  switch (report.reason) {
    // There can be none.
    case Reason::not_serializable:
    case Reason::cannot_serialize:
    case Reason::proof_failed:
    case Reason::beyond_baseline:
    case Reason::option_names_file:
    case Reason::too_large: return false;
    default: return report.outcome == Outcome::skip || report.reason == Reason::store_hung;
  }
}

// Copies the entry to the file that was asked for.
Result<void> write_file(const Arguments& arguments, const Report& report, Output& out) {
  if (report.artifact_bytes == 0) {
    if (report.outcome == Outcome::skip && report.reason != Reason::not_serializable &&
        report.reason != Reason::cannot_serialize && !arguments.request.no_cache) {
      out.advise("compile past the cache: --no-cache");
    }
    return no_artifact(report, arguments.file);
  }
  PRECAST_ASSIGN(const Bytes bytes, read_input(report.artifact_path, limits::kMaxArtifactBytes));
  return write_output(arguments.file, bytes);
}

void print(const Program& program, const Session& session, const CompileOrLoad& done,
           const std::string& file, Output& out) {
  const Report& report = done.report;
  const Style style = report.outcome == Outcome::hit    ? Style::good
                      : report.outcome == Outcome::miss ? Style::bold
                                                        : Style::warn;
  out.print(fmt::format("{}: {}: {}\n", out.styled(style, to_string(report.outcome)),
                        printable(program.name()), sentence_of(report)));
  Table facts({{""}, {"", false, true}});
  if (report.key) facts.add({"key", report.key->hex()});
  if (report.artifact_bytes != 0 && !report.artifact_path.empty())
    facts.add({"artifact", printable(report.artifact_path)});
  if (report.root) facts.add({"root", report.root->hex()});
  if (!file.empty()) facts.add({"file", printable(file)});
  facts.add({"devices", joined(done.executable.device_ids())});
  facts.add({"plugin", text_of_plugin(session)});
  std::string sizes = "program " + bytes_text(report.program_bytes);
  if (report.executable_bytes != 0) sizes += ", executable " + bytes_text(report.executable_bytes);
  if (report.artifact_bytes != 0) sizes += ", artifact " + bytes_text(report.artifact_bytes);
  facts.add({"bytes", sizes});
  out.print(facts, 2);
}

Result<ExitCode> compile(const Arguments& arguments, Output& out) {
  const Stopwatch total;
  if (arguments.file == "-") return out.usage("-o takes the name of a file, not -");
  PRECAST_ASSIGN(const Program program, Program::from_file(arguments.program));
  std::error_code ignored;
  if (!arguments.file.empty() &&
      std::filesystem::equivalent(arguments.file, arguments.program, ignored)) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("-o '{}' is the program itself; name another file", arguments.file));
  }
  PRECAST_ASSIGN(const CompileOptions options, arguments.request.compile_options());
  PRECAST_ASSIGN(Session session, open_session(arguments.request.plugin, out));
  PRECAST_ASSIGN(const Place first, open_place(arguments, out));
  std::optional<Place> again;
  PRECAST_ASSIGN(CompileOrLoad done,
                 compile_or_load(first.cache, session, program, options, arguments.request, out));
  std::vector<Phase> phases = std::move(session.phases);
  phases.insert(phases.end(), done.report.phases.begin(), done.report.phases.end());
  if (!arguments.file.empty() && could_not_be_kept(done.report)) {
    // The file is wanted all the same, so the program is compiled once more, past the cache.
    PRECAST_ASSIGN(Place past_it,
                   private_place(arguments.request.cache_config(out), done.report.reason));
    again.emplace(std::move(past_it));
    std::vector<std::string> warnings = std::move(done.report.warnings);
    std::string detail = std::move(done.report.detail);
    PRECAST_ASSIGN(
        done, compile_or_load(again->cache, session, program, options, arguments.request, out));
    phases.insert(phases.end(), done.report.phases.begin(), done.report.phases.end());
    done.report.warnings.insert(done.report.warnings.begin(), warnings.begin(), warnings.end());
    done.report.detail = std::move(detail);
  }
  if (!arguments.file.empty()) {
    PRECAST_TRY(timed(phases, "write", [&] { return write_file(arguments, done.report, out); }));
  }
  const Place& place = again ? *again : first;
  if (place.bypass != Reason::none) {
    // What the private store did is not what became of the user's cache.
    done.report.outcome = place.bypass == Reason::disabled ||
                                  place.bypass == Reason::store_unavailable ||
                                  place.bypass == Reason::store_hung
                              ? Outcome::bypass
                              : Outcome::skip;
    done.report.reason = place.bypass;
    done.report.artifact_path.clear();
  }
  const double total_ms = total.ms();

  print(program, session, done, arguments.file, out);
  out.print("\n");
  out.print(table_of(phases, total_ms), 2);
  Json object = {{"schema", "precast.compile/1"}};
  add_report(object, done.report);
  object["file"] = arguments.file.empty() ? Json() : Json(arguments.file);
  object["program"] = {{"name", program.name()}, {"format", to_string(program.format())}};
  object["plugin"] = json_of_plugin(session);
  object["replicas"] = done.executable.replicas();
  object["partitions"] = done.executable.partitions();
  object["devices"] = done.executable.device_ids();
  object["phases_ms"] = json_of(phases, total_ms);
  out.object(object);
  return ExitCode::done;
}

}  // namespace

Verb add_compile(CLI::App& root) {
  VerbOptions options(root, "compile", "compile a program, or find it compiled",
                      "precast compile ranker.mlirbc\n"
                      "precast compile ranker.mlirbc --no-cache -o ranker.precast");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->program,
              {.names = "PROGRAM",
               .help = "StableHLO text or bytecode, or an HLO proto; - reads standard input",
               .required = true});
  options.add(
      arguments->file,
      {.names = "-o,--output", .help = "also write the artifact to this file", .value = "FILE"});
  arguments->request.add_to(options, "--device-ids");
  return {options.app(), [arguments](Output& out) { return compile(*arguments, out); }};
}

}  // namespace precast::cli
