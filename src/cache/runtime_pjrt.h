// The runtime of a PJRT plugin's client.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cache/runtime.h"
#include "precast/client.h"
#include "precast/executable.h"
#include "precast/result.h"
#include "topology/cpu_features.h"

namespace precast::cache {

class PjrtRuntime : public Runtime {
 public:
  // `compile`: asked instead of the client (hooks.h); empty: the client compiles.
  explicit PjrtRuntime(Client client, std::function<Result<CompiledExecutable>()> compile = {})
      : client_(std::move(client)), compile_(std::move(compile)) {}

  // An executable from bytes that its plugin has just given for no client.
  Result<Compiled> adopt(const Bytes& serialized, const CompileOptions& options) const;

  static LoadedExecutable executable_of(RuntimeExecutable executable);

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

 private:
  Result<Compiled> compile_for_baseline(const Compile& compile, const topology::Baseline& baseline,
                                        std::vector<Phase>& phases) const;

  Client client_;
  std::function<Result<CompiledExecutable>()> compile_;
};

}  // namespace precast::cache
