#include "interpose/compile.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/prepare.h"
#include "interpose/log.h"
#include "pjrt/adopt.h"
#include "pjrt/client_impl.h"
#include "pjrt/executable_impl.h"
#include "proto/flags_parse.h"

namespace precast::interpose {
namespace {

Result<Program> program_of(const PJRT_Program& program) {
  // The name of the module stands for it as soon as it is compiled.
  return Program::from_bytes(Bytes(program.code, program.code_size), "");
}

std::string_view format_of(const PJRT_Program& program) {
  if (program.format == nullptr) return {};
  return {program.format, program.format_size};
}

// As the host calls it: MLIR, as text or bytecode, or an HLO module.
bool is_known_format(const PJRT_Program& program) {
  return format_of(program) == "mlir" || format_of(program) == "hlo";
}

bool fits_format(const PJRT_Program& program, ProgramFormat found) {
  return (format_of(program) == "hlo") == (found == ProgramFormat::hlo_proto);
}

proto::FlagsText flags_of(const Client& client) {
  const Client::FlagSnapshot& snapshot = client.flags();
  proto::FlagsText flags = proto::parse_flags_text(snapshot.xla_flags);
  if (!flags.flags_file || !snapshot.xla_flags_file) return flags;
  return proto::parse_flags_file(*flags.flags_file, *snapshot.xla_flags_file);
}

// Whether it will be the same for the next program of this process: then whoever set it up should
// hear of it.
bool is_about_surroundings(Reason reason) {
  switch (reason) {
    case Reason::plugin_bytes_unknown:
    case Reason::cpu_unknown:
    case Reason::platform_unknown:
    case Reason::flags_unknown:
    case Reason::libraries_unknown:
    case Reason::unknown_arguments: return true;
    default: return false;
  }
}

}  // namespace

std::optional<int> unknown_extension(const PJRT_Extension_Base* of_arguments,
                                     const PJRT_Extension_Base* of_program) {
  for (const PJRT_Extension_Base* chain : {of_arguments, of_program}) {
    for (; chain != nullptr; chain = chain->next) {
      // Which part of a profile the compile belongs to.
      if (chain->type != PJRT_Extension_Type_Profiler) return chain->type;
    }
  }
  return std::nullopt;
}

double HostCompile::elapsed_ms() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
      .count();
}

PJRT_Error* HostCompile::compile_as_asked() {
  answered_ = true;
  error_ = wrapper_.real().PJRT_Client_Compile(&args_);
  return error_;
}

Result<CompiledExecutable> HostCompile::compile(const Program& program,
                                                const CompileOptions& options) {
  const pjrt::Api& api = client_.impl()->api();
  if (compile_as_asked() != nullptr) return api.read_error(error_);
  return pjrt::describe_compiled(client_, pjrt::borrow(args_.executable), program, options);
}

void HostCompile::hand_out(const CompileOrLoad& hit) {
  const std::string name = hit.executable.name();
  if (!dumps_.folder.empty() && hit.report.key) {
    const auto program = pjrt::optimized_program(*hit.executable.impl());
    const auto path = program ? write_final_program(dumps_, name, *hit.report.key, *program)
                              : Result<std::string>(program.error());
    if (!path) {
      say(LogLevel::warn, "the final program of a hit was not dumped: " + path.error().to_string());
    }
  }
  wrapper_.state().origins.add(hit.executable.impl()->loaded.get(), std::move(origin_));
  args_.executable = pjrt::release(hit.executable);
  answered_ = true;
}

bool HostCompile::is_news(const Report& report) {
  if (report.outcome != Outcome::bypass || !is_about_surroundings(report.reason)) return false;
  Wrapper::State& state = wrapper_.state();
  const std::lock_guard lock(state.mutex);
  return state.warned.insert(report.reason).second;
}

void HostCompile::tell(const Report& report, const std::string& name) {
  const double spent_ms = elapsed_ms();
  wrapper_.state().summary.count(report.outcome, report.reason, spent_ms, compile_ms_);
  if (is_news(report)) {
    say(LogLevel::warn,
        fmt::format("nothing is cached here ({}): {}", to_string(report.reason), report.detail));
  }
  if (!says(LogLevel::info)) return;
  std::string text = fmt::format("{} {}", to_string(report.outcome), name);
  if (report.reason != Reason::none) text += fmt::format(" ({})", to_string(report.reason));
  if (report.key) text += fmt::format(", key {}", report.key->hex().substr(0, 12));
  text += fmt::format(", {:.1f} ms", spent_ms);
  if (report.outcome == Outcome::hit) {
    text += fmt::format(" instead of {:.1f} ms", compile_ms_);
  }
  if (!report.detail.empty()) text += ": " + report.detail;
  say(LogLevel::info, text);
  if (!says(LogLevel::debug)) return;
  for (const Phase& phase : report.phases) {
    say(LogLevel::debug, fmt::format("  {} {:.2f} ms", phase.name, phase.ms));
  }
}

void HostCompile::ask_cache() {
  // What the plugin does not take may still look like a program to us.
  if (!is_known_format(*args_.program)) return;
  const auto program = program_of(*args_.program);
  auto options =
      CompileOptions::from_serialized(Bytes(args_.compile_options, args_.compile_options_size));
  if (!program || !options || !fits_format(*args_.program, program->format())) return;

  const auto placed = cache::with_assignment(client_, *options);
  if (!placed) return;
  cache::Hooks hooks;
  hooks.compile = [&] { return compile(*program, *options); };
  hooks.on_hit = [&, this](const VerifiedArtifact& artifact) {
    origin_ = std::make_shared<const LoadedFrom>(
        LoadedFrom{Bytes(artifact.bytes()), options->assignment(), placed->assignment()});
    compile_ms_ = artifact.provenance().compile_ms;
  };
  dumps_ = dumps_of(*options, flags_of(client_));
  if (has_more_than_known(args_) || has_more_than_known(*args_.program)) {
    hooks.bypass = {Reason::unknown_arguments,
                    "the host's arguments are longer than Precast knows, and say something there"};
  } else if (const auto type =
                 unknown_extension(args_.extension_start, args_.program->extension_start)) {
    hooks.bypass = {
        Reason::unknown_arguments,
        fmt::format("the host gave the compile an extension of type {}, of which nothing is known",
                    *type)};
  } else if (!dumps_.needs_compile.empty()) {
    hooks.bypass = {Reason::dumps_wanted, dumps_.needs_compile + " is set"};
  }
  RequestOptions request;
  request.label = wrapper_.settings().label;
  const auto done =
      cache::compile_or_load(wrapper_.cache(), client_, *program, *options, request, hooks);
  if (!done) {
    if (!answered_) {
      say(LogLevel::debug, "the plugin is asked itself: " + done.error().to_string());
    }
    return;
  }
  const std::string name = done->executable.name();
  if (!answered_) hand_out(*done);
  tell(done->report, name);
}

PJRT_Error* HostCompile::run() {
  try {
    ask_cache();
  } catch (...) {
    say(LogLevel::warn, "there is not enough memory for the cache");
  }
  const bool by_cache = answered_;
  if (!answered_) compile_as_asked();
  if (by_cache && error_ == nullptr) return nullptr;  // and told
  try {
    const bool failed = error_ != nullptr;
    wrapper_.state().summary.count(failed ? Outcome::error : Outcome::bypass,
                                   failed ? Reason::compile_failed : Reason::key_failed,
                                   elapsed_ms(), 0);
  } catch (...) {
    say(LogLevel::debug, "there is not enough memory to count a compile");
  }
  return error_;
}

}  // namespace precast::interpose
