// Request: the entry in the store, from what is in its place to an executable on devices.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/host.h"
#include "cache/marks.h"
#include "cache/phases.h"
#include "cache/request.h"
#include "cache/trial_load.h"
#include "key/build_record.h"
#include "lease/leases.h"

namespace precast::cache {

void Request::collect() {
  const auto start = std::chrono::steady_clock::now();
  const auto collected = cache_.store->after_publish(report_.artifact_bytes);
  if (!collected || !collected->ran) return;
  // The store knows no leases; those of the dead would stay where nobody asks for their keys again.
  static_cast<void>(cache_.store->ask<std::vector<lease::LeaseInfo>>(
      [](store::DirectoryStore& store) { return lease::Leases(store).sweep(false); }));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  report_.phases.push_back({"gc", took.count()});
}

void Request::dispose() {
  if (step_.entry != Disposal::set_aside || !entry_) return;
  const Result<bool> moved =
      cache_.store->quarantine(report_.key->hex(), entry_->identity, report_.detail);
  // The compile replaces it, if the folder allows that.
  if (!moved) warn("quarantine", moved.error().to_string());
}

std::string Request::said_of_plain_entry() {
  const std::optional<KeyRecord> plain = key::without_profile(record_);
  if (!plain) return {};
  const std::string name = plain->digest().hex();
  const Result<bool> there =
      cache_.store->ask<bool>([name](store::DirectoryStore& store) -> Result<bool> {
        PRECAST_ASSIGN(const std::optional<store::EntryFile> entry, store.open_entry(name));
        return entry.has_value();
      });
  // It explains and decides nothing.
  if (!there || !*there) return {};
  std::string said =
      "the program is asked for with a profile, and the cache has it without one alone (key " +
      name + ")";
  if (cache_.config.log && !told_of_plain_entry_) cache_.config.log(LogLevel::info, said);
  told_of_plain_entry_ = true;
  return said;
}

Result<std::optional<VerifiedArtifact>> Request::fetch() {
  auto place =
      timed(report_.phases, "lookup", [this] { return cache_.store->get(report_.key->hex()); });
  if (!place) {
    PRECAST_TRY(fault(Stage::lookup, std::move(place).error()));
    return std::optional<VerifiedArtifact>();
  }
  if (!*place) {
    const std::string more = said_of_plain_entry();
    PRECAST_TRY(found(Found::nothing, "there is no entry of the key " + report_.key->hex() +
                                          (more.empty() ? "" : "; " + more)));
    report_.detail = more;  // else the reason says it all
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

// The store is asked once more, since the child must not: nobody guards it there.
TrialEnd Request::try_entry(const VerifiedArtifact& artifact) {
  const auto could_not_run = [](const Error& error) {
    return TrialEnd{TrialEnd::Kind::could_not_run, error.to_string()};
  };
  auto place = cache_.store->get(report_.key->hex());
  if (!place) return could_not_run(place.error());
  if (!*place) return {TrialEnd::Kind::could_not_run, "the entry has gone"};
  if (!(*place)->bytes) return could_not_run((*place)->bytes.error());
  const Result<base::Fd> copy = in_memory(*(*place)->bytes);
  if (!copy) return could_not_run(copy.error());
  place = std::optional<store::Fetched>();  // it may be large, and the child reads the copy
  return runtime_.try_load(compile_, copy->get(), artifact.root(), cache_.config.command);
}

Result<bool> Request::admit(const VerifiedArtifact& artifact, MayTry may_try) {
  const std::string key = report_.key->hex();
  const std::optional<Mark> mark = cache_.marks.find(key, artifact.root());
  if (mark && mark->kind == MarkKind::trial_passed) return true;
  if (mark && mark->kind != MarkKind::not_serializable) {
    PRECAST_TRY(found(Found::refused_before,
                      "this host found out before that it cannot be loaded (the policy refresh "
                      "replaces it): " +
                          mark->why));
    return false;
  }
  if (may_try == MayTry::no || !cache_.config.trial_load) return true;
  if (artifact.provenance().host == base::host_name()) return true;
  const TrialEnd end = timed(report_.phases, "trial_load", [&] { return try_entry(artifact); });
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

Result<std::optional<RuntimeExecutable>> Request::look_up() {
  auto loaded = load_what_is_there();
  if (!loaded || !*loaded) dispose();
  return loaded;
}

Result<std::optional<RuntimeExecutable>> Request::load_what_is_there() {
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
  if (!artifact) return std::optional<RuntimeExecutable>();
  PRECAST_ASSIGN(const bool admitted, admit(*artifact, MayTry::yes));
  if (!admitted) return std::optional<RuntimeExecutable>();
  auto loaded = timed(report_.phases, "load", [&] { return load_entry(*artifact); });
  if (!loaded) {
    const bool about_artifact = is_about_artifact(loaded.error());
    PRECAST_TRY(fault(Stage::load, std::move(loaded).error().with("while loading entry '" +
                                                                  report_.artifact_path + "'")));
    if (step_.entry == Disposal::remember && about_artifact) {
      cache_.marks.put(report_.key->hex(), artifact->root(), MarkKind::load_refused,
                       report_.detail);
    }
    return std::optional<RuntimeExecutable>();
  }
  step_ = {Action::finish, Outcome::hit, Reason::none};
  report_.executable_bytes = artifact->executable().size();
  report_.artifact_bytes = artifact->file_bytes();
  report_.root = artifact->root();
  compiled_in_ms_ = artifact->provenance().compile_ms;
  if (hooks_.on_hit) hooks_.on_hit(*artifact);
  // A use that is not kept lets a collection take the entry earlier, and no more.
  if (rules_.policy == Policy::read_write) {
    static_cast<void>(
        cache_.store->used(report_.key->hex(), entry_->identity, entry_->used_unix_s));
  }
  return std::optional<RuntimeExecutable>(std::move(loaded).value());
}

// The stored options with this request's devices. The key does not see device ids, so the stored
// options may name others; everything else in them is what the key saw, or was proven not to
// matter.
Result<RuntimeExecutable> Request::load_entry(const VerifiedArtifact& artifact) {
  auto stored = CompileOptions::from_serialized(Bytes(artifact.compile_options()));
  if (!stored) return Error(ErrorCode::corrupt, "compile options: " + stored.error().message());
  stored->set_assignment(options_.assignment());
  return runtime_.load(compile_, record_, artifact, *stored);
}

}  // namespace precast::cache
