// Request: one compile-or-load, from key to report.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cache/hooks.h"
#include "cache/impl.h"
#include "cache/plan.h"
#include "cache/runtime.h"
#include "cache/trial_load.h"
#include "lease/leases.h"
#include "precast/cache.h"
#include "precast/compile_options.h"
#include "precast/key.h"
#include "precast/outline.h"
#include "precast/program.h"
#include "precast/result.h"
#include "store/store.h"

namespace precast::cache {

// What a request comes to.
struct Done {
  RuntimeExecutable executable;
  Report report;
};

// What was compiled elsewhere and is to be stored (hooks.h).
struct Ahead {
  std::function<Result<Bytes>()> serialize;
  std::function<Result<Compiled>(const Bytes&)> load;  // these bytes, to look at them
};

// Executes the plan. Used once: run() or would_hit() consumes it.
class Request {
 public:
  // `options` have an assignment (prepare.h). All references must outlive the request.
  Request(Cache::Impl& cache, const Runtime& runtime, const Program& program,
          const CompileOptions& options, const RequestOptions& wishes, const Hooks& hooks);

  Result<Done> run();
  // As cache::publish_ahead.
  Result<Report> publish_ahead(const Ahead& ahead, double compile_ms);
  // What run() would do, without compiling, loading or writing.
  Result<Lookup> would_hit();

 private:
  Result<RuntimeExecutable> proceed();
  Result<void> look_only();
  Result<void> publish_missing(const Ahead& ahead, double compile_ms);
  // Makes the key. False when the cache must not be asked; the report says why.
  Result<bool> name();

  // The entry, verified; nothing when there is none, or when it was a fault.
  Result<std::optional<VerifiedArtifact>> fetch();
  // What a request with a profile is told when only the same compile without one has an entry;
  // empty: there is nothing to tell. Reads no entry.
  std::string said_of_plain_entry();
  // Whether a verified artifact may be handed to this process's plugin, as far as this host knows;
  // else the plan has been followed. With `may_try`, a process of its own may find out.
  enum class MayTry : std::uint8_t { no, yes };
  Result<bool> admit(const VerifiedArtifact& artifact, MayTry may_try);
  TrialEnd try_entry(const VerifiedArtifact& artifact);
  // The executable from the cache; nothing when it must be compiled.
  Result<std::optional<RuntimeExecutable>> look_up();
  Result<std::optional<RuntimeExecutable>> load_what_is_there();
  // Lets the store make room when the publish took it beyond its soft limit.
  void collect();
  // Does what the plan says about an entry that was no hit.
  void dispose();
  Result<RuntimeExecutable> load_entry(const VerifiedArtifact& artifact);

  // Waits for somebody else's compile of this key, or gets the lease. The executable, when that
  // made one; nothing when this request must compile.
  Result<std::optional<RuntimeExecutable>> share();
  struct Wait;
  Result<lease::Acquired> acquire();
  // Calls back, as the host wished.
  void tell(const Waiting& waiting);
  // Ends a lease, unless the store hangs.
  void give_back(lease::Lease lease, std::optional<lease::Ending> ending);
  Result<std::optional<RuntimeExecutable>> have_lease(lease::Lease lease);
  // look_up(), where finding nothing changes nothing.
  Result<std::optional<RuntimeExecutable>> look_again();
  // Tells those who wait what became of the compile.
  void end_lease(const Result<RuntimeExecutable>& compiled);

  // Compiles, and stores when the plan says so.
  Result<RuntimeExecutable> compile();
  // Whether what compiled in this time is to be stored.
  Result<bool> is_worth_storing(double compile_ms);
  // Encodes, proves and publishes. Every fault ends in the report, or, with strict, in the error.
  Result<void> store(const RuntimeExecutable& compiled, Result<Bytes> serialized,
                     double compile_ms);
  // Whether somebody else published a sound entry of this key while this request compiled without
  // the lease; then it stays.
  bool published_meanwhile();
  Result<Bytes> encode(const RuntimeExecutable& compiled, Bytes serialized, double compile_ms);
  // Decodes what was encoded, compares it and, where that is cheap, loads it once. The root.
  Result<Digest> prove(const Bytes& artifact, BytesView serialized);
  // Whether a file that an option or flag names is another one now than when the key was made.
  bool named_files_changed() const;
  // Why an executable must not be stored under a baseline; nothing when it may.
  std::optional<std::string> beyond_baseline(BytesView executable) const;

  // Makes `step` what follows: `detail`, a sentence about why, goes into the report and, where the
  // plan says so, into a warning. Where it says that there is no executable: `why`, or the error of
  // the policy that decided.
  void warn(const std::string& kind, const std::string& text);
  Result<void> follow(const Step& step, Error why, std::string detail);
  Result<void> fault(Stage stage, Error error);
  Result<void> found(Found found, const std::string& detail);

  // Counts what became of this request.
  void count(double total_ms);
  // What this request leaves behind when it was no hit.
  void leave_record();
  Provenance provenance(double compile_ms) const;
  const Outline& outline();

  Cache::Impl& cache_;
  const Runtime& runtime_;
  const Program& program_;
  const CompileOptions& options_;
  const RequestOptions& wishes_;
  const Compile compile_;  // of the three
  const Hooks& hooks_;
  const Rules rules_;

  KeyRecord record_;
  std::optional<Outline> outline_;  // made when it is first needed: a hit needs none
  // What get() found in the entry's place.
  struct Entry {
    store::FileIdentity identity;
    std::int64_t used_unix_s;
  };
  std::optional<Entry> entry_;
  std::optional<lease::Lease> lease_;
  std::string compiled_name_;  // the module's, which stands for a program without a name
  double compiled_in_ms_ = 0;  // what a hit did not have to do
  Waiting holder_;             // whom this request waited for
  bool gave_up_ = false;       // the caller, while it waited
  bool told_of_plain_entry_ = false;
  Step step_;
  Report report_;
};

}  // namespace precast::cache
