#include "cache/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "cache/compatible.h"
#include "cache/identity.h"
#include "cache/load.h"
#include "cache/misses.h"
#include "cache/phases.h"
#include "pjrt/internal.h"
#include "precast/explain.h"
#include "precast/outline.h"
#include "precast/plugin.h"
#include "precast/version.h"
#include "proto/lean.h"

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

Result<void> Request::fault(Stage stage, Error error) {
  step_ = on_error(stage, error.code(), cache_.config.strict);
  if (step_.action == Action::return_error) return error;
  report_.detail = error.to_string();
  if (step_.warn) {
    report_.warnings.push_back(error.to_string());
    cache_.warn_once(std::string(to_string(step_.reason)), error.to_string());
  }
  return {};
}

Result<CompileOrLoad> Request::run() {
  report_.program_bytes = program_.bytes().size();
  PRECAST_ASSIGN(const bool named, name());
  std::optional<LoadedExecutable> executable;
  if (named) {
    PRECAST_ASSIGN(executable, look_up());
  }
  if (!executable) {
    PRECAST_ASSIGN(executable, compile());
  }
  report_.outcome = step_.outcome;
  report_.reason = step_.reason;
  if (report_.outcome != Outcome::hit) leave_record();
  return CompileOrLoad{*std::move(executable), std::move(report_)};
}

Result<bool> Request::name() {
  const auto bypass = [this](Reason reason, std::string detail) {
    step_ = {Action::compile_only, Outcome::bypass, reason, false};
    report_.detail = std::move(detail);
    return false;
  };
  if (cache_.disabled) return bypass(Reason::disabled, {});
  if (cache_.unusable) {
    report_.warnings.push_back(cache_.unusable->to_string());
    return bypass(Reason::store_unavailable, cache_.unusable->to_string());
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
  if (!key->record) return bypass(key->bypass, std::move(key->detail));
  record_ = *std::move(key->record);
  report_.key = record_.digest();
  report_.artifact_path = cache_.store->locate(report_.key->hex());
  return true;
}

Result<std::optional<VerifiedArtifact>> Request::fetch() {
  auto found =
      timed(report_.phases, "lookup", [this] { return cache_.store->get(report_.key->hex()); });
  if (!found) {
    PRECAST_TRY(fault(Stage::lookup, std::move(found).error()));
    return std::optional<VerifiedArtifact>();
  }
  if (!*found) return std::optional<VerifiedArtifact>();
  auto artifact = timed(report_.phases, "verify", [&]() -> Result<VerifiedArtifact> {
    PRECAST_ASSIGN(Bytes bytes, std::move((*found)->bytes));
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
  return std::optional(std::move(artifact).value());
}

Result<std::optional<LoadedExecutable>> Request::look_up() {
  PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
  if (!artifact) return std::optional<LoadedExecutable>();
  auto loaded = timed(report_.phases, "load", [&] { return load_entry(*artifact); });
  if (!loaded) {
    PRECAST_TRY(fault(Stage::load, std::move(loaded).error().with("while loading entry '" +
                                                                  report_.artifact_path + "'")));
    return std::optional<LoadedExecutable>();
  }
  pjrt::note_layout_wishes(*loaded, &program_, options_);
  step_ = {Action::finish, Outcome::hit, Reason::none, false};
  report_.executable_bytes = artifact->executable().size();
  report_.artifact_bytes = artifact->file_bytes();
  return std::optional<LoadedExecutable>(std::move(loaded).value());
}

Result<Lookup> Request::would_hit() {
  PRECAST_ASSIGN(const bool named, name());
  if (named) {
    PRECAST_ASSIGN(const std::optional<VerifiedArtifact> artifact, fetch());
    if (artifact) {
      Result<void> compatible = check_compatible(client_, record_, RecordOrigin::this_request,
                                                 artifact->executable(), options_);
      if (compatible) {
        step_ = {Action::finish, Outcome::hit, Reason::none, false};
        report_.artifact_bytes = artifact->file_bytes();
      } else {
        PRECAST_TRY(fault(Stage::load, std::move(compatible).error()));
      }
    }
  }
  Lookup lookup{.hit = step_.outcome == Outcome::hit,
                .outcome = step_.outcome,
                .reason = step_.reason,
                .detail = std::move(report_.detail),
                .record = std::nullopt,
                .artifact_path = std::move(report_.artifact_path),
                .artifact_bytes = report_.artifact_bytes};
  if (named) lookup.record = std::move(record_);
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

Result<LoadedExecutable> Request::compile() {
  if (!wishes_.cpu_baseline.empty()) {
    const topology::Baseline* baseline = topology::find_baseline(wishes_.cpu_baseline);
    if (baseline != nullptr) return compile_for_baseline(*baseline);
  }
  // An error of the plugin here is the answer of the compile itself, unchanged.
  PRECAST_ASSIGN(CompiledExecutable compiled, timed(report_.phases, "compile", [this] {
                   return client_.compile(program_, options_);
                 }));
  const double compile_ms = report_.phases.back().ms;
  if (step_.action == Action::compile_and_store) {
    auto serialized = timed(report_.phases, "serialize", [&] { return compiled.serialize(); });
    PRECAST_TRY(store(compiled, std::move(serialized), compile_ms));
  }
  return LoadedExecutable(compiled);
}

// The client's own topology with the baseline for its CPU: XLA's cap on instruction sets would
// leave those of the host that it has no name for. The plugin gives bytes, which are loaded here.
Result<LoadedExecutable> Request::compile_for_baseline(const topology::Baseline& baseline) {
  auto serialized = timed(report_.phases, "compile", [&]() -> Result<Bytes> {
    PRECAST_ASSIGN(const proto::CpuTarget host, host_cpu(client_));
    PRECAST_ASSIGN(const TopologyFacts facts, client_.topology());
    PRECAST_ASSIGN(
        const Bytes described,
        proto::topology_for_cpu(facts.serialized, {host.triple, std::string(baseline.name),
                                                   std::string(baseline.features)}));
    return pjrt::compile_for_topology(client_, described, program_, options_);
  });
  if (!serialized) return std::move(serialized).error().with("for the baseline");
  const double compile_ms = report_.phases.back().ms;
  PRECAST_ASSIGN(LoadedExecutable executable, timed(report_.phases, "load", [&] {
                   return pjrt::deserialize_and_load(client_, *serialized, options_.serialized());
                 }));
  pjrt::set_signature(executable, pjrt::read_signature(executable));
  pjrt::note_layout_wishes(executable, &program_, options_);
  if (step_.action == Action::compile_and_store) {
    PRECAST_TRY(store(executable, std::move(serialized), compile_ms));
  }
  return executable;
}

// The compiler reads the files after the key did.
bool Request::named_files_changed() const {
  if (!names_files(record_)) return false;
  const auto again = identify(client_, program_, options_, wishes_);
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

Result<void> Request::store(const LoadedExecutable& compiled, Result<Bytes> serialized,
                            double compile_ms) {
  if (!serialized) return fault(Stage::serialize, std::move(serialized).error());
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
    if (cache_.config.lean && client_.platform_name() == "cpu") {
      if (auto lean = proto::lean_cpu_executable(*serialized)) serialized = *std::move(lean);
    }
    return encode(compiled, *serialized, compile_ms);
  });
  report_.executable_bytes = serialized->size();
  if (!artifact) return fault(Stage::prove, std::move(artifact).error());
  auto proven = timed(report_.phases, "prove", [&] { return prove(*artifact, *serialized); });
  if (!proven) return fault(Stage::prove, std::move(proven).error());
  auto published = timed(report_.phases, "publish",
                         [&] { return cache_.store->put(report_.key->hex(), *artifact); });
  if (!published) return fault(Stage::publish, std::move(published).error());
  report_.artifact_bytes = artifact->size();
  return {};
}

Result<Bytes> Request::encode(const LoadedExecutable& compiled, Bytes serialized,
                              double compile_ms) {
  ArtifactContents contents;
  contents.key_record = record_.encode();
  contents.executable = std::move(serialized);
  contents.compile_options = Bytes(options_.serialized());
  contents.signature = compiled.signature();
  if (auto stats = compiled.memory_stats()) contents.memory_stats = *stats;
  if (auto costs = compiled.cost_analysis()) contents.cost_analysis = *std::move(costs);
  contents.provenance = provenance(compile_ms);
  contents.outline = outline().encode();
  if (wishes_.keep_program) {
    contents.program = Bytes(program_.bytes());
    contents.program_format = program_.format();
  }
  return encode_artifact(contents, cache_.config.encode);
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

Result<void> Request::prove(const Bytes& artifact, BytesView serialized) {
  PRECAST_ASSIGN(const VerifiedArtifact decoded, VerifiedArtifact::decode(artifact));
  if (decoded.executable() != serialized || decoded.key_record() != record_.encode() ||
      decoded.compile_options() != options_.serialized()) {
    return Error(ErrorCode::internal, "the encoded artifact does not decode to what was encoded");
  }
  // A second copy on an accelerator could take the memory that the caller's executable needs.
  if (!cache_.config.prove || client_.platform_name() != "cpu") return {};
  auto loaded = load_entry(decoded);
  if (!loaded) return std::move(loaded).error().with("in the trial load before publishing");
  return {};
}

}  // namespace precast::cache
