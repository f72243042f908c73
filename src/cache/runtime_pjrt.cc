#include "cache/runtime_pjrt.h"

#include <optional>

#include "cache/compatible.h"
#include "cache/identity.h"
#include "cache/load.h"
#include "cache/phases.h"
#include "pjrt/internal.h"
#include "precast/plugin.h"
#include "proto/executable_view.h"

namespace precast::cache {

LoadedExecutable PjrtRuntime::executable_of(RuntimeExecutable executable) {
  return LoadedExecutable(std::static_pointer_cast<LoadedExecutable::Impl>(std::move(executable)));
}

RuntimeFacts PjrtRuntime::facts() const {
  const Plugin plugin = client_.plugin();
  return {.plugin_path = plugin.path(),
          .platform = client_.platform_name(),
          .platform_version = client_.platform_version(),
          .api_version = plugin.api_version().to_string()};
}

Result<KeyResult> PjrtRuntime::identify(const Compile& compile) const {
  return cache::identify(client_, compile.program, compile.options, compile.wishes);
}

Result<Compiled> PjrtRuntime::compile(const Compile& compile, bool /*bypassed*/,
                                      std::vector<Phase>& phases) const {
  if (!compile.wishes.cpu_baseline.empty()) {
    const topology::Baseline* baseline = topology::find_baseline(compile.wishes.cpu_baseline);
    if (baseline != nullptr) return compile_for_baseline(compile, *baseline, phases);
  }
  PRECAST_ASSIGN(CompiledExecutable compiled, timed(phases, "compile", [&] {
                   return compile_ ? compile_() : client_.compile(compile.program, compile.options);
                 }));
  return Compiled{compiled.impl(), compiled.name(), [compiled] { return compiled.serialize(); }};
}

// The client's own topology with the baseline for its CPU: XLA's cap on instruction sets would
// leave those of the host that it has no name for. The plugin gives bytes, which are loaded here.
Result<Compiled> PjrtRuntime::compile_for_baseline(const Compile& compile,
                                                   const topology::Baseline& baseline,
                                                   std::vector<Phase>& phases) const {
  auto serialized = timed(phases, "compile", [&]() -> Result<Bytes> {
    PRECAST_ASSIGN(const proto::CpuTarget host, host_cpu(client_));
    PRECAST_ASSIGN(const TopologyFacts facts, client_.topology());
    PRECAST_ASSIGN(
        const Bytes described,
        proto::topology_for_cpu(facts.serialized, {host.triple, std::string(baseline.name),
                                                   std::string(baseline.features)}));
    return pjrt::compile_for_topology(client_, described, compile.program, compile.options);
  });
  if (!serialized) return std::move(serialized).error().with("for the baseline");
  PRECAST_ASSIGN(const LoadedExecutable executable, timed(phases, "load", [&] {
                   return pjrt::deserialize_and_load(client_, *serialized,
                                                     compile.options.serialized());
                 }));
  pjrt::set_signature(executable, pjrt::read_signature(executable));
  pjrt::note_layout_wishes(executable, &compile.program, compile.options);
  return Compiled{executable.impl(), executable.name(),
                  [bytes = std::make_shared<Bytes>(*std::move(serialized))]() -> Result<Bytes> {
                    return std::move(*bytes);
                  }};
}

Result<Compiled> PjrtRuntime::adopt(const Bytes& serialized, const CompileOptions& options) const {
  PRECAST_ASSIGN(
      const LoadedExecutable loaded,
      pjrt::deserialize_and_load(client_, serialized, options.without_dumps().serialized()));
  pjrt::set_signature(loaded, pjrt::read_signature(loaded));
  return Compiled{loaded.impl(), loaded.name(),
                  [serialized]() -> Result<Bytes> { return serialized; }};
}

ExecutableFacts PjrtRuntime::describe(const RuntimeExecutable& executable) const {
  const LoadedExecutable loaded = executable_of(executable);
  ExecutableFacts facts;
  facts.signature = loaded.signature();
  if (auto stats = loaded.memory_stats()) facts.memory_stats = *stats;
  if (auto costs = loaded.cost_analysis()) facts.cost_analysis = *std::move(costs);
  return facts;
}

Result<void> PjrtRuntime::check(BytesView executable) const {
  const std::optional<proto::CpuTarget> needed = proto::cpu_requirement(executable);
  if (!needed) return {};
  PRECAST_ASSIGN(const proto::CpuTarget cpu, host_cpu(client_));
  return runs_on(cpu, *needed);
}

Result<RuntimeExecutable> PjrtRuntime::load(const Compile& compile, const KeyRecord& record,
                                            const VerifiedArtifact& artifact,
                                            const CompileOptions& stored) const {
  PRECAST_ASSIGN(const LoadedExecutable loaded,
                 load_verified(client_, artifact, record, RecordOrigin::this_request, stored));
  pjrt::note_layout_wishes(loaded, &compile.program, compile.options);
  return RuntimeExecutable(loaded.impl());
}

TrialEnd PjrtRuntime::try_load(const Compile& compile, int artifact, const Digest& root,
                               const std::string& command) const {
  const std::optional<DeviceAssignment> assignment = compile.options.assignment();
  if (!assignment) return {TrialEnd::Kind::could_not_run, "a portable executable is not tried"};
  return trial_load({.command = command,
                     .plugin = client_.plugin().path(),
                     .options = client_.options(),
                     .artifact = artifact,
                     .root = root,
                     .device_ids = assignment->device_ids});
}

}  // namespace precast::cache
