#include "cache/request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "cache/compatible.h"
#include "cache/identity.h"
#include "cache/load.h"
#include "cache/marks.h"
#include "cache/misses.h"
#include "cache/phases.h"
#include "cache/trial_load.h"
#include "pjrt/internal.h"
#include "precast/explain.h"
#include "precast/outline.h"
#include "precast/plugin.h"
#include "precast/version.h"

namespace precast::cache {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Request::Request(Cache::Impl& cache, const Client& client, const Program& program,
                 const CompileOptions& options, const RequestOptions& wishes)
    : cache_(cache),
      client_(client),
      program_(program),
      options_(options),
      wishes_(wishes),
      rules_{.policy = wishes.policy.value_or(cache.config.policy),
             .strict = cache.config.strict,
             .pinned = wishes.pin.has_value(),
             .after_wait = cache.config.after_wait},
      step_(at_start(rules_)) {}

Result<void> Request::follow(const Step& step, Error why, std::string detail) {
  step_ = step;
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
  report_.detail = std::move(detail);
  if (step.warn) {
    report_.warnings.push_back(report_.detail);
    cache_.warn_once(std::string(to_string(step.reason)), report_.detail);
  }
  return {};
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

Result<CompileOrLoad> Request::run() {
  const auto start = std::chrono::steady_clock::now();
  report_.program_bytes = program_.bytes().size();
  auto executable = proceed();
  report_.outcome = step_.outcome;
  report_.reason = step_.reason;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  count(took.count());
  if (!executable) return std::move(executable).error();
  if (report_.outcome != Outcome::hit) leave_record();
  return CompileOrLoad{*std::move(executable), std::move(report_)};
}

void Request::count(double total_ms) {
  if (cache_.recorder == nullptr) return;
  const bool hit = report_.outcome == Outcome::hit;
  const std::string name = counted_as(report_.outcome, report_.reason);
  cache_.recorder->count({.name = name,
                          .label = wishes_.label,
                          .phases = report_.phases,
                          .total_ms = total_ms,
                          .saved_ms = hit ? compiled_in_ms_ - total_ms : 0,
                          .bytes_read = hit ? report_.artifact_bytes : 0,
                          .bytes_written = hit ? 0 : report_.artifact_bytes});
}

Result<LoadedExecutable> Request::proceed() {
  PRECAST_ASSIGN(const bool named, name());
  if (named && step_.action == Action::look_up) {
    PRECAST_ASSIGN(std::optional<LoadedExecutable> loaded, look_up());
    if (loaded) return *std::move(loaded);
    dispose();
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
  Result<KeyResult> key = timed(report_.phases, "key",
                                [this] { return identify(client_, program_, options_, wishes_); });
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

void Request::collect() {
  const auto start = std::chrono::steady_clock::now();
  const auto collected = cache_.store->after_publish(report_.artifact_bytes);
  if (!collected || !collected->ran) return;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  report_.phases.push_back({"gc", took.count()});
}

void Request::dispose() {
  if (step_.entry != Disposal::set_aside || !entry_) return;
  const Result<bool> moved =
      cache_.store->quarantine(report_.key->hex(), entry_->identity, report_.detail);
  // The compile replaces it, if the folder allows that.
  if (!moved) report_.warnings.push_back(moved.error().to_string());
}

Result<std::optional<VerifiedArtifact>> Request::fetch() {
  auto place =
      timed(report_.phases, "lookup", [this] { return cache_.store->get(report_.key->hex()); });
  if (!place) {
    PRECAST_TRY(fault(Stage::lookup, std::move(place).error()));
    return std::optional<VerifiedArtifact>();
  }
  if (!*place) {
    PRECAST_TRY(found(Found::nothing, "there is no entry of the key " + report_.key->hex()));
    report_.detail.clear();  // the reason says it all
    return std::optional<VerifiedArtifact>();
  }
  entry_ = Entry{(*place)->identity, (*place)->used_unix_s};
  auto artifact = timed(report_.phases, "verify", [&]() -> Result<VerifiedArtifact> {
    PRECAST_ASSIGN(Bytes bytes, std::move((*place)->bytes));
    PRECAST_ASSIGN(VerifiedArtifact decoded,
                   VerifiedArtifact::decode(std::move(bytes), cache_.config.signatures));
    // Equal digests with unequal records: a damaged or renamed entry, or a collision. Never a hit.
    if (decoded.key_record() != record_.encode()) {
      return Error(ErrorCode::corrupt, "the entry's key record is not the one of this key");
    }
    return decoded;
  });
  if (!artifact) {
    PRECAST_TRY(fault(Stage::verify, std::move(artifact).error().with(
                                         "in entry '" + report_.artifact_path + "'")));
    return std::optional<VerifiedArtifact>();
  }
  if (wishes_.pin && artifact->root() != *wishes_.pin) {
    PRECAST_TRY(
        found(Found::another_artifact, fmt::format("the entry '{}' has the root {}",
                                                   report_.artifact_path, artifact->root().hex())));
    return std::optional<VerifiedArtifact>();
  }
  return std::optional(std::move(artifact).value());
}

Result<bool> Request::admit(const VerifiedArtifact& artifact, MayTry may_try) {
  const std::string key = report_.key->hex();
  const std::optional<Mark> mark = cache_.marks.find(key, artifact.root());
  if (mark && mark->kind == MarkKind::trial_passed) return true;
  if (mark && mark->kind != MarkKind::not_serializable) {
    PRECAST_TRY(found(Found::refused_before,
                      "this host found out before that it cannot be loaded: " + mark->why));
    return false;
  }
  if (may_try == MayTry::no || !cache_.config.trial_load) return true;
  if (artifact.provenance().host == host_name()) return true;
  const TrialEnd end = timed(report_.phases, "trial_load", [&] {
    return trial_load({.command = cache_.config.command,
                       .plugin = client_.plugin().path(),
                       .options = client_.options(),
                       .artifact = report_.artifact_path,
                       .root = artifact.root(),
                       .device_ids = options_.assignment()->device_ids});
  });
  switch (end.kind) {
    case TrialEnd::Kind::loads:
      cache_.marks.put(key, artifact.root(), MarkKind::trial_passed, {});
      return true;
    // It refuses here too, with the plugin's own error.
    case TrialEnd::Kind::refused: return true;
    case TrialEnd::Kind::crashed:
    case TrialEnd::Kind::timed_out:
      cache_.marks.put(key, artifact.root(), MarkKind::trial_crashed, end.text);
      PRECAST_TRY(found(Found::trial_crashed, end.text));
      return false;
    case TrialEnd::Kind::could_not_run:
      PRECAST_TRY(found(Found::trial_impossible,
                        "another host made it and it could not be tried: " + end.text));
      return false;
  }
  return false;
}

Result<std::optional<LoadedExecutable>> Request::look_up() {
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
  if (!artifact) return std::optional<LoadedExecutable>();
  PRECAST_ASSIGN(const bool admitted, admit(*artifact, MayTry::yes));
  if (!admitted) return std::optional<LoadedExecutable>();
  auto loaded = timed(report_.phases, "load", [&] { return load_entry(*artifact); });
  if (!loaded) {
    const bool about_artifact = is_about_artifact(loaded.error());
    PRECAST_TRY(fault(Stage::load, std::move(loaded).error().with("while loading entry '" +
                                                                  report_.artifact_path + "'")));
    if (step_.entry == Disposal::remember && about_artifact) {
      cache_.marks.put(report_.key->hex(), artifact->root(), MarkKind::load_refused,
                       report_.detail);
    }
    return std::optional<LoadedExecutable>();
  }
  pjrt::note_layout_wishes(*loaded, &program_, options_);
  step_ = {Action::finish, Outcome::hit, Reason::none};
  report_.executable_bytes = artifact->executable().size();
  report_.artifact_bytes = artifact->file_bytes();
  report_.root = artifact->root();
  compiled_in_ms_ = artifact->provenance().compile_ms;
  // A use that is not kept lets a collection take the entry earlier, and no more.
  if (rules_.policy == Policy::read_write) {
    static_cast<void>(
        cache_.store->used(report_.key->hex(), entry_->identity, entry_->used_unix_s));
  }
  return std::optional<LoadedExecutable>(std::move(loaded).value());
}

Result<void> Request::look_only() {
  PRECAST_ASSIGN(const bool named, name());
  if (!named || step_.action != Action::look_up) return {};
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
  if (!artifact) return {};
  PRECAST_ASSIGN(const bool admitted, admit(*artifact, MayTry::no));
  if (!admitted) return {};
  Result<void> compatible = check_compatible(client_, record_, RecordOrigin::this_request,
                                             artifact->executable(), options_);
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

// The stored options with this request's devices. The key does not see device ids, so the stored
// options may name others; everything else in them is what the key saw, or was proven not to
// matter.
Result<LoadedExecutable> Request::load_entry(const VerifiedArtifact& artifact) {
  auto stored = CompileOptions::from_serialized(Bytes(artifact.compile_options()));
  if (!stored) return Error(ErrorCode::corrupt, "compile options: " + stored.error().message());
  stored->set_assignment(options_.assignment());
  return load_verified(client_, artifact, record_, RecordOrigin::this_request, *stored);
}

Provenance Request::provenance(double compile_ms) const {
  const Plugin plugin = client_.plugin();
  return {.created_unix_s = unix_seconds(),
          .host = host_name(),
          .precast_version = PRECAST_VERSION,
          .plugin_path = plugin.path(),
          .platform = client_.platform_name(),
          .platform_version = client_.platform_version(),
          .api_version = plugin.api_version().to_string(),
          .compile_ms = compile_ms,
          .label = wishes_.label,
          .program_name = program_.name()};
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
  // It explains and decides nothing, so a full disk is not worth a word here.
  static_cast<void>(timed(report_.phases, "record", [&] {
    return keep_miss(cache_.state, report_.key->hex(), saved.encode());
  }));
}

}  // namespace precast::cache
