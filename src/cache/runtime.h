// Runtime: what a request asks of whoever compiles and loads: a PJRT plugin's client
// (runtime_pjrt.h), or a front end that brings its own (runtime_foreign.h). Decisions, leases,
// marks, counters and stores are the same for both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/trial_load.h"
#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/compile_options.h"
#include "precast/digest.h"
#include "precast/executable.h"
#include "precast/key.h"
#include "precast/program.h"
#include "precast/result.h"
#include "precast/signature.h"

namespace precast::cache {

// An executable of one runtime, which alone knows what it points to.
using RuntimeExecutable = std::shared_ptr<void>;

// A compile, as the caller asked for it. All of it outlives the calls that take it.
struct Compile {
  const Program& program;
  const CompileOptions& options;  // with an assignment
  const RequestOptions& wishes;
};

struct Compiled {
  RuntimeExecutable executable;
  std::string name;                          // of the module; empty: not known
  std::function<Result<Bytes>()> serialize;  // once
};

// For people, and for what depends on the platform alone.
struct RuntimeFacts {
  std::string plugin_path;
  std::string platform;
  std::string platform_version;
  std::string api_version;
};

// What is kept beside an executable.
struct ExecutableFacts {
  std::optional<ProgramSignature> signature;
  std::optional<MemoryStats> memory_stats;
  std::vector<CostItem> cost_analysis;
};

// Thread-safe.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  virtual RuntimeFacts facts() const = 0;

  // The key of a compile, or why there must be none. Errors: invalid_argument for the caller's
  // input; what the runtime said when it failed to describe itself.
  virtual Result<KeyResult> identify(const Compile& compile) const = 0;

  // Adds the phase "compile", and what else it had to do. An error is the runtime's own, unchanged.
  // `bypassed`: the cache has no part in it.
  virtual Result<Compiled> compile(const Compile& compile, bool bypassed,
                                   std::vector<Phase>& phases) const = 0;

  // What the executable says about itself; optional facts that it does not say are left out.
  virtual ExecutableFacts describe(const RuntimeExecutable& executable) const = 0;

  // Whether what an entry of this request's key holds may be loaded here. incompatible says why
  // not.
  virtual Result<void> check(BytesView executable) const = 0;

  // Checks and loads an entry of this compile's key. `stored`: the artifact's compile options with
  // the assignment of this compile. Errors: incompatible, corrupt, plugin_error.
  virtual Result<RuntimeExecutable> load(const Compile& compile, const KeyRecord& record,
                                         const VerifiedArtifact& artifact,
                                         const CompileOptions& stored) const = 0;

  // Loads an artifact in a process of its own. `artifact`: a descriptor, from in_memory().
  virtual TrialEnd try_load(const Compile& compile, int artifact, const Digest& root,
                            const std::string& command) const = 0;

  // What to keep beside an executable that is stored; nothing: RequestOptions::front_end.
  virtual std::optional<Bytes> front_end() const { return std::nullopt; }

  // Asked several times a second while a request waits for somebody else: whether the caller gave
  // up.
  virtual bool cancelled() const { return false; }
};

}  // namespace precast::cache
