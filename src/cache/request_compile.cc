// Request: compiling, and what becomes of the compiled executable.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cache/identity.h"
#include "cache/marks.h"
#include "cache/phases.h"
#include "cache/request.h"
#include "precast/limits.h"
#include "proto/executable_edit.h"
#include "proto/lean.h"
#include "topology/cpu_features.h"

namespace precast::cache {

Result<RuntimeExecutable> Request::compile() {
  // An error of the runtime here is the answer of the compile itself, unchanged.
  const bool bypassed = step_.outcome == Outcome::bypass;
  PRECAST_ASSIGN(const Compiled compiled, runtime_.compile(compile_, bypassed, report_.phases));
  double compile_ms = 0;
  for (const Phase& phase : report_.phases) {
    if (phase.name == "compile") compile_ms = phase.ms;
  }
  compiled_name_ = compiled.name;
  PRECAST_ASSIGN(const bool worth_storing, is_worth_storing(compile_ms));
  if (worth_storing) {
    auto serialized = timed(report_.phases, "serialize", compiled.serialize);
    PRECAST_TRY(store(compiled.executable, std::move(serialized), compile_ms));
  }
  return compiled.executable;
}

Result<void> Request::publish_missing(const Ahead& ahead, double compile_ms) {
  PRECAST_ASSIGN(const bool named, name());
  if (!named || step_.action != Action::look_up) return {};
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> there, fetch());
  if (there) return {};
  dispose();
  PRECAST_ASSIGN(const bool worth_storing, is_worth_storing(compile_ms));
  if (!worth_storing) return {};
  auto serialized = timed(report_.phases, "serialize", ahead.serialize);
  if (!serialized) return fault(Stage::serialize, std::move(serialized).error());
  // What the entry says about it, a loaded one tells.
  auto loaded = timed(report_.phases, "load", [&] { return ahead.load(*serialized); });
  if (!loaded) return fault(Stage::prove, std::move(loaded).error());
  compiled_name_ = loaded->name;
  PRECAST_TRY(store(loaded->executable, std::move(serialized), compile_ms));
  collect();
  return {};
}

Result<Report> Request::publish_ahead(const Ahead& ahead, double compile_ms) {
  report_.program_bytes = program_.bytes().size();
  PRECAST_TRY(publish_missing(ahead, compile_ms));
  report_.outcome = Outcome::bypass;
  report_.reason = Reason::ahead_of_time;
  count(compile_ms);
  return std::move(report_);
}

Result<bool> Request::is_worth_storing(double compile_ms) {
  if (step_.action != Action::compile_and_store) return false;
  const double least = cache_.config.min_compile_ms;
  if (compile_ms >= least) return true;
  PRECAST_TRY(found(Found::compiled_fast,
                    fmt::format("it compiled in {:.1f} ms, faster than the least of {:.1f} ms",
                                compile_ms, least)));
  return false;
}

// The compiler reads the files after the key did.
bool Request::named_files_changed() const {
  if (!names_files(record_)) return false;
  const auto again = runtime_.identify(compile_);
  return !again || again->record != record_;
}

std::optional<std::string> Request::beyond_baseline(BytesView executable) const {
  const topology::Baseline* baseline = topology::find_baseline(wishes_.cpu_baseline);
  if (baseline == nullptr) return std::nullopt;
  const std::optional<proto::CpuTarget> needed = proto::cpu_requirement(executable);
  if (!needed) return "the executable does not say for which CPU it is";
  const std::vector<std::string> beyond = topology::beyond_baseline(*baseline, needed->features);
  if (beyond.empty()) return std::nullopt;
  return fmt::format("the executable holds code for {}, which {} has not", fmt::join(beyond, ", "),
                     baseline->name);
}

Result<void> Request::store(const RuntimeExecutable& compiled, Result<Bytes> serialized,
                            double compile_ms) {
  if (!serialized) {
    // The next time nobody waits for it.
    if (is_deterministic(serialized.error())) {
      cache_.marks.put(report_.key->hex(), {}, MarkKind::not_serializable,
                       serialized.error().message());
    }
    return fault(Stage::serialize, std::move(serialized).error());
  }
  if (serialized->size() > limits::kMaxExecutableBytes) {
    return found(Found::too_large,
                 fmt::format("the executable has {} bytes, more than can be loaded again ({}, "
                             "kMaxExecutableBytes)",
                             serialized->size(), limits::kMaxExecutableBytes));
  }
  if (std::optional<std::string> why = beyond_baseline(*serialized)) {
    step_ = {Action::finish, Outcome::skip, Reason::beyond_baseline, false};
    report_.detail = *std::move(why);
    return {};
  }
  if (named_files_changed()) {
    step_ = {Action::finish, Outcome::skip, Reason::option_names_file, false};
    report_.detail = "a file that an option names changed while the program was compiled";
    return {};
  }
  auto artifact = timed(report_.phases, "encode", [&] {
    if (auto quiet = proto::without_dump_folder(*serialized)) serialized = *std::move(quiet);
    if (cache_.config.lean && runtime_.facts().platform == "cpu") {
      if (auto lean = proto::lean_cpu_executable(*serialized)) serialized = *std::move(lean);
    }
    return encode(compiled, *serialized, compile_ms);
  });
  report_.executable_bytes = serialized->size();
  if (!artifact) return fault(Stage::prove, std::move(artifact).error());
  auto proven = timed(report_.phases, "prove", [&] { return prove(*artifact, *serialized); });
  if (!proven) return fault(Stage::prove, std::move(proven).error());
  if (published_meanwhile()) return {};
  // An error here says nothing about the entry; publishing will.
  if (const auto room = cache_.store->has_room(artifact->size()); room && !*room) {
    return found(Found::store_full,
                 fmt::format("the artifact has {} bytes, and with it the store would pass its hard "
                             "limit; precast gc makes room",
                             artifact->size()));
  }
  auto published = timed(report_.phases, "publish",
                         [&] { return cache_.store->put(report_.key->hex(), *artifact); });
  if (!published) return fault(Stage::publish, std::move(published).error());
  report_.artifact_bytes = artifact->size();
  report_.root = *proven;
  // Whatever was remembered was about another artifact, or about none.
  cache_.marks.forget(report_.key->hex());
  return {};
}

// Two publishes of a key are equal in effect, but not in their roots: whoever pinned the first one
// must not lose it to a holder that had been stopped, or to one that compiled beside.
bool Request::published_meanwhile() {
  const bool alone = lease_ && !lease_->lost();
  if (alone || rules_.policy == Policy::refresh) return false;
  auto place = cache_.store->get(report_.key->hex());
  if (!place || !*place || !(*place)->bytes) return false;
  const auto there =
      VerifiedArtifact::decode(*std::move((*place)->bytes), cache_.config.signatures);
  if (!there || there->key_record() != record_.encode()) return false;
  report_.artifact_bytes = there->file_bytes();
  report_.root = there->root();
  return true;
}

Result<Bytes> Request::encode(const RuntimeExecutable& compiled, Bytes serialized,
                              double compile_ms) {
  ArtifactContents contents;
  contents.key_record = record_.encode();
  contents.executable = std::move(serialized);
  contents.compile_options = Bytes(options_.serialized());
  ExecutableFacts facts = runtime_.describe(compiled);
  contents.signature = std::move(facts.signature);
  contents.memory_stats = facts.memory_stats;
  contents.cost_analysis = std::move(facts.cost_analysis);
  contents.provenance = provenance(compile_ms);
  contents.outline = outline().encode();
  contents.front_end = runtime_.front_end().value_or(wishes_.front_end);
  if (wishes_.keep_program) {
    contents.program = Bytes(program_.bytes());
    contents.program_format = program_.format();
  }
  return encode_artifact(contents, cache_.config.encode);
}

Result<Digest> Request::prove(const Bytes& artifact, BytesView serialized) {
  PRECAST_ASSIGN(const VerifiedArtifact decoded, VerifiedArtifact::decode(artifact));
  if (decoded.executable() != serialized || decoded.key_record() != record_.encode() ||
      decoded.compile_options() != options_.serialized()) {
    return Error(ErrorCode::internal, "the encoded artifact does not decode to what was encoded");
  }
  // A second copy on an accelerator could take the memory that the caller's executable needs.
  if (!cache_.config.prove || runtime_.facts().platform != "cpu") return decoded.root();
  auto loaded = load_entry(decoded);
  if (!loaded) return std::move(loaded).error().with("in the trial load before publishing");
  return decoded.root();
}

}  // namespace precast::cache
