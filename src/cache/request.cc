#include "cache/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/guard.h"
#include "base/host.h"
#include "cache/misses.h"
#include "cache/phases.h"
#include "precast/explain.h"
#include "precast/outline.h"
#include "precast/version.h"

namespace precast::cache {
Request::Request(Cache::Impl& cache, const Runtime& runtime, const Program& program,
                 const CompileOptions& options, const RequestOptions& wishes, const Hooks& hooks)
    : cache_(cache),
      runtime_(runtime),
      program_(program),
      options_(options),
      wishes_(wishes),
      compile_{program, options, wishes},
      hooks_(hooks),
      rules_{.policy = wishes.policy.value_or(cache.config.policy),
             .strict = cache.config.strict,
             .pinned = wishes.pin.has_value(),
             .after_wait = cache.config.after_wait},
      step_(at_start(rules_)) {}

Result<void> Request::follow(const Step& step, Error why, std::string detail) {
  step_ = step;
  report_.detail = detail;
  if (step.action == Action::return_error) {
    switch (step.reason) {
      case Reason::offline:
        return Error(ErrorCode::unavailable,
                     "the policy offline compiles nothing, and " + std::move(detail));
      case Reason::not_pinned:
        return Error(ErrorCode::unavailable,
                     fmt::format("only the artifact with the root {} may load, and {}",
                                 wishes_.pin ? wishes_.pin->hex() : "", detail));
      default: return why;
    }
  }
  if (step.warn) warn(std::string(to_string(step.reason)), report_.detail);
  return {};
}

void Request::warn(const std::string& kind, const std::string& text) {
  std::vector<std::string>& told = report_.warnings;
  if (std::find(told.begin(), told.end(), text) == told.end()) told.push_back(text);
  cache_.warn_once(kind, text);
}

Result<void> Request::fault(Stage stage, Error error) {
  std::string detail = error.to_string();
  const Step step = on_error(stage, error.code(), rules_);
  return follow(step, std::move(error), std::move(detail));
}

Result<void> Request::found(Found found, const std::string& detail) {
  // The code of what is returned where the plan returns it.
  const ErrorCode code =
      found == Found::wait_limit ? ErrorCode::deadline_exceeded : ErrorCode::unavailable;
  return follow(on_found(found, rules_), Error(code, detail), detail);
}

Result<Done> Request::run() {
  const auto start = std::chrono::steady_clock::now();
  report_.program_bytes = program_.bytes().size();
  auto executable = proceed();
  report_.outcome = step_.outcome;
  report_.reason = step_.reason;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  count(took.count());
  if (!executable) return std::move(executable).error();
  if (report_.outcome != Outcome::hit) leave_record();
  return Done{*std::move(executable), std::move(report_)};
}

void Request::count(double total_ms) {
  const bool hit = report_.outcome == Outcome::hit;
  const std::string name = counted_as(report_.outcome, report_.reason);
  double saved_ms = hit ? compiled_in_ms_ - total_ms : 0;
  // Who waited took as long as the compile, and saved its work.
  if (report_.reason == Reason::waited) saved_ms = std::max(saved_ms, 0.0);
  report_.saved_ms = saved_ms;
  if (cache_.recorder == nullptr) return;
  cache_.recorder->count({.name = name,
                          .label = wishes_.label,
                          .phases = report_.phases,
                          .total_ms = total_ms,
                          .saved_ms = saved_ms,
                          .bytes_read = hit ? report_.artifact_bytes : 0,
                          .bytes_written = hit ? 0 : report_.artifact_bytes});
}

Result<RuntimeExecutable> Request::proceed() {
  PRECAST_ASSIGN(const bool named, name());
  if (named && step_.action == Action::look_up) {
    PRECAST_ASSIGN(std::optional<RuntimeExecutable> loaded, look_up());
    if (loaded) return *std::move(loaded);
    PRECAST_ASSIGN(loaded, share());
    if (loaded) return *std::move(loaded);
  }
  auto compiled = compile();
  if (!compiled && step_.action != Action::return_error) {
    step_ = {Action::return_error, Outcome::error, Reason::compile_failed};
  }
  end_lease(compiled);
  if (compiled && step_.outcome == Outcome::miss) collect();
  return compiled;
}

Result<bool> Request::name() {
  const auto bypass = [this](Reason reason, const std::string& detail) -> Result<bool> {
    PRECAST_TRY(follow(on_bypass(reason, rules_), Error(ErrorCode::unavailable, detail), detail));
    return false;
  };
  if (cache_.disabled) return bypass(Reason::disabled, {});
  if (cache_.unusable) {
    report_.warnings.push_back(cache_.unusable->to_string());
    const bool hung = cache_.unusable->code() == ErrorCode::deadline_exceeded;
    return bypass(hung ? Reason::store_hung : Reason::store_unavailable,
                  cache_.unusable->to_string());
  }
  if (hooks_.bypass) return bypass(hooks_.bypass->reason, hooks_.bypass->detail);
  Result<KeyResult> key =
      timed(report_.phases, "key", [this] { return runtime_.identify(compile_); });
  if (!key) {
    PRECAST_TRY(fault(Stage::key, std::move(key).error()));
    return false;
  }
  for (const std::string& warning : key->warnings) {
    report_.warnings.push_back(warning);
    cache_.warn_once("flags", warning);
  }
  if (!key->record) return bypass(key->bypass, key->detail);
  record_ = *std::move(key->record);
  report_.key = record_.digest();
  report_.artifact_path = cache_.store->locate(report_.key->hex());
  return true;
}

Result<void> Request::look_only() {
  PRECAST_ASSIGN(const bool named, name());
  if (!named || step_.action != Action::look_up) return {};
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
  if (!artifact) return {};
  PRECAST_ASSIGN(const bool admitted, admit(*artifact, MayTry::no));
  if (!admitted) return {};
  Result<void> compatible = runtime_.check(artifact->executable());
  if (!compatible) return fault(Stage::load, std::move(compatible).error());
  step_ = {Action::finish, Outcome::hit, Reason::none};
  report_.artifact_bytes = artifact->file_bytes();
  return {};
}

Result<Lookup> Request::would_hit() {
  if (Result<void> looked = look_only(); !looked) {
    // That a policy makes an error of it is what the request would come to.
    const bool by_policy = step_.reason == Reason::offline || step_.reason == Reason::not_pinned;
    if (!by_policy) return std::move(looked).error();
    report_.detail = looked.error().message();
  }
  Lookup lookup{.hit = step_.outcome == Outcome::hit,
                .outcome = step_.outcome,
                .reason = step_.reason,
                .detail = std::move(report_.detail),
                .record = std::nullopt,
                .artifact_path = std::move(report_.artifact_path),
                .artifact_bytes = report_.artifact_bytes};
  if (report_.key) lookup.record = std::move(record_);
  return lookup;
}

Provenance Request::provenance(double compile_ms) const {
  RuntimeFacts facts = runtime_.facts();
  return {.created_unix_s = base::unix_seconds(),
          .host = base::host_name(),
          .precast_version = PRECAST_VERSION,
          .plugin_path = std::move(facts.plugin_path),
          .platform = std::move(facts.platform),
          .platform_version = std::move(facts.platform_version),
          .api_version = std::move(facts.api_version),
          .compile_ms = compile_ms,
          .label = wishes_.label,
          .program_name = program_.name().empty() ? compiled_name_ : program_.name()};
}

const Outline& Request::outline() {
  if (!outline_) outline_ = outline_of(program_);
  return *outline_;
}

void Request::leave_record() {
  // Without a key there is nothing to compare; the report says why there was none.
  if (!report_.key || !cache_.config.keep_misses || cache_.state.empty()) return;
  double compile_ms = 0;
  for (const Phase& phase : report_.phases) {
    if (phase.name == "compile") compile_ms = phase.ms;
  }
  const SavedRecord saved{.record = std::move(record_),
                          .outline = outline(),
                          .provenance = provenance(compile_ms),
                          .outcome = report_.outcome,
                          .reason = report_.reason,
                          .detail = report_.detail};
  // It explains and decides nothing, so a full disk, or one that hangs, is not worth a word
  // here.
  static_cast<void>(timed(report_.phases, "record", [&] {
    return base::do_if_it_answers(
        cache_.state, [state = cache_.state, key = report_.key->hex(), record = saved.encode()] {
          static_cast<void>(keep_miss(state, key, record));
        });
  }));
}

}  // namespace precast::cache
