#include "cache/runtime_foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/host.h"
#include "base/per_process.h"
#include "cache/compatible.h"
#include "cache/load.h"
#include "cache/phases.h"
#include "cache/prepare.h"
#include "cache/settings.h"
#include "key/build_record.h"
#include "pjrt/digest_memory.h"
#include "pjrt/mapped_file.h"
#include "pjrt/plugin_environment.h"
#include "precast/version.h"
#include "program/program_digest.h"
#include "proto/executable_view.h"
#include "topology/placement.h"

namespace precast {
namespace cache {
namespace {

// Why a program on these devices must not be cached, before anything costly is read.
std::optional<KeyResult> bypass_by_runtime(const ForeignFacts& facts,
                                           const CompileOptions& options) {
  if (facts.platform != "cpu") {
    return bypass(Reason::platform_unknown, "the key does not yet cover what executables of '" +
                                                facts.name + "' on platform '" + facts.platform +
                                                "' depend on");
  }
  if (!facts.flags.certain) {
    return bypass(Reason::flags_unknown,
                  "'" + facts.name +
                      "' cannot tell which of XLA's flags are in force: XLA_FLAGS was "
                      "changed while XLA may have read it");
  }
  const std::vector<std::int64_t> ids = options.assignment()->device_ids;
  for (const Device& device : facts.devices) {
    if (device.addressable || std::find(ids.begin(), ids.end(), device.id) == ids.end()) continue;
    return bypass(Reason::multi_process,
                  fmt::format("device {} belongs to process {}: all processes must decide together",
                              device.id, device.process_index));
  }
  return std::nullopt;
}

Result<proto::CpuTarget> cpu_of(const ForeignFacts& facts) {
  if (Result<proto::CpuTarget> said = proto::cpu_from_topology(facts.topology)) return said;
  const auto cpu = proto::cpu_requirement(proto::without_ifrt_header(facts.sample));
  if (cpu) return *cpu;
  return Error(ErrorCode::unsupported, "the executables of '" + facts.name +
                                           "' do not say for which CPU they were compiled");
}

// Of what is no plugin the attribute says whose it is.
key::PluginIdentity identity_of(const ForeignFacts& facts, const PluginFile& library) {
  key::PluginIdentity identity{.platform = facts.platform,
                               .platform_version = facts.platform_version,
                               .sha256 = library.digest,
                               .api_version = facts.api_version.value_or(ApiVersion()),
                               .attributes = facts.attributes,
                               .parts = {}};
  if (!facts.api_version) identity.attributes.push_back({"foreign_runtime", facts.name});
  return identity;
}

// Where an artifact is to be loaded.
Result<CompileOptions> placed(const VerifiedArtifact& artifact, const ForeignFacts& facts,
                              const LoadOptions& options) {
  PRECAST_ASSIGN(CompileOptions stored, stored_options(artifact));
  const DeviceAssignment wanted{stored.replicas(), stored.partitions(), options.device_ids};
  PRECAST_TRY(topology::validate(wanted, device_facts(facts.devices)));
  stored.set_assignment(wanted);
  return stored;
}

}  // namespace

RuntimeFacts ForeignRuntimeFace::facts() const {
  const ForeignFacts& facts = *runtime_.facts;
  return {.plugin_path = facts.library,
          .platform = facts.platform,
          .platform_version = facts.platform_version,
          .api_version = facts.api_version ? facts.api_version->to_string() : facts.name};
}

Result<KeyResult> ForeignRuntimeFace::identify(const Compile& compile) const {
  const ForeignFacts& facts = *runtime_.facts;
  PRECAST_TRY(check_extras(compile.wishes));
  if (auto early = bypass_by_runtime(facts, compile.options)) return *std::move(early);
  const Result<FlagsInForce> in_force = flags_in_force(facts.flags);
  if (!in_force) return bypass(Reason::option_names_file, in_force.error().message());
  if (in_force->flags.reads_environment_again) {
    return bypass(Reason::flags_unknown,
                  "with xla_flags_reset XLA reads XLA_FLAGS again at every compile");
  }
  PRECAST_ASSIGN(auto settings, settings_of(*in_force, compile.options, facts.platform));
  if (!settings.first) return bypass(Reason::option_names_file, std::move(settings.second));
  program::ProgramDigest digest = program::digest_program(compile.program);
  program::CustomCallScan unsettled = digest.custom_calls;
  for (const std::string& target : runtime_.settled_calls) unsettled.process_bound.erase(target);
  if (auto early = bypass_by_calls(unsettled, facts.binds_callbacks)) {
    if (early->bypass == Reason::process_bound_call && !runtime_.unsettled_because.empty()) {
      early->detail += ": " + runtime_.unsettled_because;
    }
    return *std::move(early);
  }
  const Result<PluginFile> library = mapped_library(facts.library);
  if (!library) return bypass(Reason::plugin_bytes_unknown, library.error().to_string());
  Result<proto::CpuTarget> cpu = cpu_of(facts);
  if (!cpu) return bypass(Reason::cpu_unknown, cpu.error().to_string());
  PRECAST_ASSIGN(
      topology::Placement placement,
      topology::place(facts.platform, *compile.options.assignment(), device_facts(facts.devices)));

  const int cpu_count = facts.cpu_count > 0 ? facts.cpu_count : pjrt::effective_cpu_count();
  const key::KeyInputs inputs{
      .program = std::move(digest),
      .options = std::move(settings.first->options),
      .flags = {std::move(settings.first->flags), facts.flags.libtpu_init_args},
      .client_options = facts.client_options,
      .environment = environment(facts.platform),
      .plugin = identity_of(facts, *library),
      .placement = std::move(placement),
      .cpu = key::HostCpu{*std::move(cpu), cpu_count, {}},
      .salt = compile.wishes.salt,
      .annotations = compile.wishes.annotations,
      .extras = {compile.wishes.extras.begin(), compile.wishes.extras.end()},
  };
  return KeyResult{key::build_record(inputs), Reason::none, {}, warnings_of(in_force->flags)};
}

Result<Compiled> ForeignRuntimeFace::compile(const Compile& compile, bool bypassed,
                                             std::vector<Phase>& phases) const {
  const auto& work =
      bypassed && runtime_.compile_bypassed ? runtime_.compile_bypassed : runtime_.compile;
  PRECAST_ASSIGN(ForeignExecutable executable,
                 timed(phases, "compile", [&] { return work(compile.program, compile.options); }));
  return Compiled{executable, {}, [this, executable] { return runtime_.serialize(executable); }};
}

ExecutableFacts ForeignRuntimeFace::describe(const RuntimeExecutable& executable) const {
  if (!runtime_.describe) return {};
  ForeignDescription said = runtime_.describe(executable);
  return {.signature = std::nullopt,
          .memory_stats = said.memory_stats,
          .cost_analysis = std::move(said.cost_analysis)};
}

Result<void> ForeignRuntimeFace::check(BytesView executable) const {
  const auto needed = proto::cpu_requirement(proto::without_ifrt_header(executable));
  if (!needed) return {};
  PRECAST_ASSIGN(const proto::CpuTarget here, cpu_of(*runtime_.facts));
  return runs_on(here, *needed);
}

Result<RuntimeExecutable> ForeignRuntimeFace::load(const Compile& compile, const KeyRecord&,
                                                   const VerifiedArtifact& artifact,
                                                   const CompileOptions& stored) const {
  if (!stored.assignment() || stored.replicas() != compile.options.replicas() ||
      stored.partitions() != compile.options.partitions()) {
    return Error(ErrorCode::corrupt,
                 fmt::format("the artifact's options have {} replicas and {} partitions, its key "
                             "{} and {}",
                             stored.replicas(), stored.partitions(), compile.options.replicas(),
                             compile.options.partitions()));
  }
  PRECAST_TRY(check(artifact.executable()));
  return runtime_.load(artifact.executable(), artifact.front_end(), stored.without_dumps());
}

TrialEnd ForeignRuntimeFace::try_load(const Compile& /*compile*/, int /*artifact*/,
                                      const Digest& /*root*/,
                                      const std::string& /*command*/) const {
  return {TrialEnd::Kind::could_not_run,
          "executables of '" + runtime_.facts->name + "' cannot be loaded by the precast command"};
}

std::optional<Bytes> ForeignRuntimeFace::front_end() const {
  if (!runtime_.front_end) return std::nullopt;
  return runtime_.front_end();
}

bool ForeignRuntimeFace::cancelled() const { return runtime_.cancelled && runtime_.cancelled(); }

Result<void> check_foreign(const ForeignRuntime& runtime, const CompileOptions& options,
                           const RequestOptions& request) {
  if (runtime.facts == nullptr || !runtime.compile || !runtime.serialize || !runtime.load) {
    return Error(ErrorCode::invalid_argument,
                 "a foreign runtime needs facts and the functions compile, serialize and load");
  }
  if (!request.cpu_baseline.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "a CPU baseline is for plugins; '" + runtime.facts->name + "' is none");
  }
  const std::optional<DeviceAssignment> assignment = options.assignment();
  if (!assignment) {
    return Error(ErrorCode::invalid_argument,
                 "the compile options have no device assignment; a front end gives one");
  }
  return topology::validate(*assignment, device_facts(runtime.facts->devices));
}

}  // namespace cache

Result<ForeignExecutable> load(const ForeignRuntime& runtime, const VerifiedArtifact& artifact,
                               const LoadOptions& options) {
  if (runtime.facts == nullptr || !runtime.load) {
    return Error(ErrorCode::invalid_argument, "a foreign runtime needs facts and load()");
  }
  const ForeignFacts& facts = *runtime.facts;
  PRECAST_ASSIGN(const KeyRecord record, KeyRecord::decode(artifact.key_record()));
  PRECAST_ASSIGN(const CompileOptions wanted, cache::placed(artifact, facts, options));
  PRECAST_ASSIGN(const PluginFile library, mapped_library(facts.library));
  PRECAST_ASSIGN(
      topology::Placement placement,
      topology::place(facts.platform, *wanted.assignment(), cache::device_facts(facts.devices)));
  PRECAST_ASSIGN(const proto::CpuTarget cpu, cache::cpu_of(facts));
  PRECAST_TRY(cache::check_made_here(record, cache::identity_of(facts, library),
                                     std::move(placement), cpu));
  PRECAST_TRY(cache::ForeignRuntimeFace(runtime).check(artifact.executable()));
  return runtime.load(artifact.executable(), artifact.front_end(), wanted.without_dumps());
}

Result<Bytes> make_artifact(const ForeignFacts& facts, const ForeignSerialized& serialized) {
  const std::string api_version = facts.api_version ? facts.api_version->to_string() : facts.name;
  const ArtifactContents contents{.key_record = serialized.record.encode(),
                                  .executable = serialized.executable,
                                  .compile_options = Bytes(serialized.options.serialized()),
                                  .signature = std::nullopt,
                                  .memory_stats = std::nullopt,
                                  .cost_analysis = {},
                                  .provenance = {.created_unix_s = base::unix_seconds(),
                                                 .host = base::host_name(),
                                                 .precast_version = PRECAST_VERSION,
                                                 .plugin_path = facts.library,
                                                 .platform = facts.platform,
                                                 .platform_version = facts.platform_version,
                                                 .api_version = api_version,
                                                 .compile_ms = 0,
                                                 .label = {},
                                                 .program_name = serialized.program_name},
                                  .program = std::nullopt,
                                  .front_end = serialized.front_end,
                                  .outline = {}};
  PRECAST_ASSIGN(Bytes artifact, encode_artifact(contents));
  PRECAST_ASSIGN(const VerifiedArtifact decoded, VerifiedArtifact::decode(artifact));
  if (decoded.executable() != contents.executable || decoded.key_record() != contents.key_record ||
      decoded.compile_options() != contents.compile_options ||
      decoded.front_end() != contents.front_end) {
    return Error(ErrorCode::internal, "the encoded artifact does not decode to what was encoded");
  }
  return artifact;
}

Result<Bytes> with_front_end(const VerifiedArtifact& artifact, Bytes front_end) {
  ArtifactContents contents{.key_record = Bytes(artifact.key_record()),
                            .executable = Bytes(artifact.executable()),
                            .compile_options = Bytes(artifact.compile_options()),
                            .signature = artifact.signature(),
                            .memory_stats = artifact.memory_stats(),
                            .cost_analysis = artifact.cost_analysis(),
                            .provenance = artifact.provenance(),
                            .program = std::nullopt,
                            .program_format = artifact.program_format(),
                            .front_end = std::move(front_end),
                            .outline = Bytes(artifact.outline())};
  if (const auto program = artifact.program()) contents.program = Bytes(*program);
  return encode_artifact(contents);
}

namespace {

struct KnownLibraries {
  std::mutex mutex;  // held while one is hashed
  std::map<std::string, pjrt::HashedFile> at;
};

base::PerProcess<KnownLibraries>& known_libraries = *new base::PerProcess<KnownLibraries>();

}  // namespace

Result<PluginFile> mapped_library(const std::string& path) {
  KnownLibraries& known = known_libraries.here();
  const std::lock_guard lock(known.mutex);
  std::optional<pjrt::HashedFile> before;
  if (const auto found = known.at.find(path); found != known.at.end()) before = found->second;
  PRECAST_ASSIGN(pjrt::HashedFile hashed,
                 pjrt::mapped_file_at_path(path, pjrt::DigestMemory::of_user(), before));
  known.at.insert_or_assign(path, hashed);
  return std::move(hashed.file);
}

}  // namespace precast
