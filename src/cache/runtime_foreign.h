// The runtime of a front end (precast/foreign.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/runtime.h"
#include "precast/bytes.h"
#include "precast/foreign.h"
#include "precast/result.h"
#include "topology/assignment.h"

namespace precast::cache {

class ForeignRuntimeFace : public Runtime {
 public:
  // `runtime` must outlive it.
  explicit ForeignRuntimeFace(const ForeignRuntime& runtime) : runtime_(runtime) {}

  RuntimeFacts facts() const override;
  Result<KeyResult> identify(const Compile& compile) const override;
  Result<Compiled> compile(const Compile& compile, bool bypassed,
                           std::vector<Phase>& phases) const override;
  ExecutableFacts describe(const RuntimeExecutable& executable) const override;
  Result<void> check(BytesView executable) const override;
  Result<RuntimeExecutable> load(const Compile& compile, const KeyRecord& record,
                                 const VerifiedArtifact& artifact,
                                 const CompileOptions& stored) const override;
  TrialEnd try_load(const Compile& compile, int artifact, const Digest& root,
                    const std::string& command) const override;
  std::optional<Bytes> front_end() const override;
  bool cancelled() const override;

 private:
  const ForeignRuntime& runtime_;
};

// invalid_argument when the runtime lacks a function or a fact, or the options an assignment of its
// devices, or when the request asks for a CPU baseline.
Result<void> check_foreign(const ForeignRuntime& runtime, const CompileOptions& options,
                           const RequestOptions& request);

}  // namespace precast::cache
