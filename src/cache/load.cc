#include "cache/load.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cache/prepare.h"
#include "pjrt/internal.h"
#include "precast/cache.h"
#include "topology/assignment.h"

namespace precast {
namespace cache {
namespace {

// What PJRT made of the bytes must be what the artifact says it holds; a difference would be found
// at the first run, or never.
Result<void> check_loaded(const LoadedExecutable& executable, const VerifiedArtifact& artifact,
                          const CompileOptions& options) {
  if (executable.replicas() != options.replicas() ||
      executable.partitions() != options.partitions()) {
    return Error(
        ErrorCode::corrupt,
        fmt::format(
            "the loaded executable has {} replicas and {} partitions, the artifact says {} and {}",
            executable.replicas(), executable.partitions(), options.replicas(),
            options.partitions()));
  }
  const std::optional<ProgramSignature>& signature = artifact.signature();
  if (signature && executable.result_count() != signature->results.size()) {
    return Error(ErrorCode::corrupt,
                 fmt::format("the loaded executable has {} results, the artifact says {}",
                             executable.result_count(), signature->results.size()));
  }
  if (const std::optional<DeviceAssignment> wanted = options.assignment()) {
    const std::vector<std::int64_t>& got = executable.device_ids();
    if (got.size() == wanted->device_ids.size() && got != wanted->device_ids) {
      return Error(ErrorCode::plugin_error,
                   "the plugin loaded the executable on other devices than it was asked to");
    }
  }
  return {};
}

}  // namespace

Result<CompileOptions> stored_options(const VerifiedArtifact& artifact) {
  auto stored = CompileOptions::from_serialized(Bytes(artifact.compile_options()));
  if (!stored) {
    return Error(ErrorCode::corrupt,
                 "the artifact's compile options are wrong: " + stored.error().message());
  }
  if (stored->portable()) {
    return Error(ErrorCode::incompatible,
                 "the artifact holds a portable executable, which only a compile of the same "
                 "program loads");
  }
  return *std::move(stored);
}

Result<LoadedExecutable> load_verified(const Client& client, const VerifiedArtifact& artifact,
                                       const KeyRecord& record, RecordOrigin origin,
                                       const CompileOptions& options) {
  PRECAST_TRY(check_compatible(client, record, origin, artifact.executable(), options));
  const CompileOptions overridden = options.without_dumps();
  PRECAST_ASSIGN(
      LoadedExecutable executable,
      pjrt::deserialize_and_load(client, artifact.executable(), overridden.serialized()));
  PRECAST_TRY(check_loaded(executable, artifact, options));
  std::optional<ProgramSignature> signature = artifact.signature();
  if (!signature) signature = pjrt::read_signature(executable);
  pjrt::set_signature(executable, std::move(signature));
  pjrt::note_layout_wishes(executable, nullptr, options);
  return executable;
}

}  // namespace cache

Result<LoadedExecutable> load(const Client& client, const VerifiedArtifact& artifact,
                              const LoadOptions& options) {
  PRECAST_ASSIGN(const KeyRecord record, KeyRecord::decode(artifact.key_record()));
  PRECAST_ASSIGN(CompileOptions placed, cache::stored_options(artifact));
  placed.set_assignment(std::nullopt);
  if (!options.device_ids.empty()) {
    const DeviceAssignment wanted{placed.replicas(), placed.partitions(), options.device_ids};
    PRECAST_TRY(topology::validate(wanted, cache::device_facts(client)));
    placed.set_assignment(wanted);
  }
  PRECAST_ASSIGN(placed, cache::with_assignment(client, placed));
  return cache::load_verified(client, artifact, record, cache::RecordOrigin::artifact, placed);
}

}  // namespace precast
