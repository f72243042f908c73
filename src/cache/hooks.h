// Hooks: what a face that is no library call puts in the place of the ordinary.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast::cache {

struct Hooks {
  // Instead of Client::compile() of the request's program and options.
  std::function<Result<CompiledExecutable>()> compile;
  // Told of each hit, before the executable is handed out.
  std::function<void(const VerifiedArtifact&)> on_hit;
  // Why the cache must not be asked, where the face knows a reason of its own.
  struct Bypass {
    Reason reason;
    std::string detail;
  };
  std::optional<Bypass> bypass;
};

// As Cache::compile_or_load.
Result<CompileOrLoad> compile_or_load(const Cache& cache, const Client& client,
                                      const Program& program, const CompileOptions& options,
                                      const RequestOptions& request, const Hooks& hooks);

// For an executable that was compiled for no client, but for what this client compiles for:
// publishes it where there is no sound entry of its key. The report's root says whether it did.
// `serialize` is not called without need.
Result<Report> publish_ahead(const Cache& cache, const Client& client, const Program& program,
                             const CompileOptions& options, const RequestOptions& request,
                             const std::function<Result<Bytes>()>& serialize, double compile_ms);

}  // namespace precast::cache
