// Cache: compile-or-load.
//
//   Cache cache = Cache::open({});
//   PRECAST_ASSIGN(CompileOrLoad done, cache.compile_or_load(client, program, options));
//   PRECAST_ASSIGN(auto outputs, done.executable.run(inputs));
//
// Two laws. A hit never gives a wrong answer: the entry's own key record is compared with the one
// asked for, and everything that the key cannot see bypasses. A cache fault never fails a compile
// that would have worked: whatever goes wrong with the cache is counted, explained in the report,
// and the program is compiled.
//
// Cache is a handle (copies share it) and thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precast/artifact.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/digest.h"
#include "precast/executable.h"
#include "precast/export.h"
#include "precast/key.h"
#include "precast/plugin.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast {

// What became of a request. Printed and counted: append only.
enum class Outcome : std::uint8_t {
  hit = 1,     // loaded from the cache
  miss = 2,    // compiled and stored
  skip = 3,    // compiled, not stored on purpose or because storing failed
  bypass = 4,  // compiled; the cache was not asked, because it must not or cannot be
  error = 5,   // there is no executable; counted, never in a report
};
PRECAST_EXPORT std::string_view to_string(Outcome outcome);

// Why. Printed and counted: append only. The comment says which outcome a reason comes with.
enum class Reason : std::uint8_t {
  none = 0,           // hit
  not_found = 1,      // miss: no entry of this key
  entry_corrupt = 2,  // miss: the entry's bytes or record are wrong; it was replaced
  entry_incompatible =
      3,                // skip: the entry is for another format, plugin, placement or CPU; it stays
  entry_untrusted = 4,  // skip: the signature policy refused the entry; it stays
  entry_unreadable = 5,       // miss or skip: the store failed while reading
  load_failed = 6,            // skip: the plugin refused the entry; it stays
  not_serializable = 7,       // skip: the plugin cannot serialize this program
  cannot_serialize = 8,       // skip: the plugin cannot serialize at all
  store_failed = 9,           // skip: writing the entry failed
  proof_failed = 10,          // skip: the encoded artifact did not decode and load again
  disabled = 11,              // bypass: PRECAST_DISABLE or the caller
  store_unavailable = 12,     // bypass: no usable cache folder
  plugin_bytes_unknown = 13,  // bypass: the mapped plugin is not the file on disk
  option_names_file =
      14,  // bypass: a named file that cannot be read or that XLA writes; skip: it changed
  cpu_unknown = 15,         // bypass: the plugin emits host code and does not say for which CPU
  cannot_load = 16,         // bypass: the plugin cannot load, or not with other options
  multi_process = 17,       // bypass: devices of other processes, where all ranks must agree
  key_failed = 18,          // bypass: the key could not be made; the detail says why
  platform_unknown = 19,    // bypass: the key's rules do not cover this platform yet
  index_bound_call = 20,    // bypass: a callback that only a front end can bind again
  process_bound_call = 21,  // bypass: a custom call that holds an address of one process
  flags_unknown = 22,       // bypass: which XLA flags are in force cannot be known
  beyond_baseline = 23,     // skip: the executable holds code for more than the CPU baseline
  libraries_unknown = 24,   // bypass: what a GPU plugin compiles with beside itself is not known
  read_only = 25,           // skip: the policy stores nothing, and there was no entry
  refreshed = 26,           // miss: the policy compiles anyway, and replaces
  below_min_compile_time = 27,  // skip: compiled faster than CacheConfig::min_compile_ms
  too_large = 28,               // skip: the executable is beyond what can be loaded again
  refused_here = 29,       // skip: this host's plugin refused this very artifact before; it stays
  trial_load_failed = 30,  // skip: loading another host's artifact ended a child process; it stays
  waited = 31,             // hit: it was compiled by somebody else while this request waited
  taken_over = 32,         // miss: whoever compiled it died or fell silent
  wait_limit = 33,         // miss: compiled beside a lease that was held for too long
  lease_unavailable = 34,  // miss: compiled without a lease, which could not be had
  store_hung = 35,         // bypass: the store did not answer in time, and is not asked any more
  store_full = 36,         // skip: beyond the store's hard limit
  offline = 37,            // error: a miss under the policy offline
  not_pinned = 38,         // error: the artifact that the policy asks for is not there
  compile_failed = 39,     // error: the plugin's own, here or where this request waited for it
  invalid_request = 40,    // error: the caller's input
  strict_fault = 41,       // error: a fault of the cache under strict
  ahead_of_time = 42,      // bypass: compiled for no client, which no loaded executable can answer
  dumps_wanted = 43,       // bypass: dumps of passes, which only a compile writes
  unknown_arguments = 44,  // bypass: the host gave the compile more than Precast knows of
  cancelled = 45,          // error: the caller gave up while it waited
  unknown_partitioning = 46,  // bypass: a custom call that a host may divide by a rule of its own
};
PRECAST_EXPORT std::string_view to_string(Reason reason);

// The one name under which a request is counted: "hit", "miss", or a kind and a reason. Kinds:
// "skip:", "bypass:", "error:", "bad:" for entries that are there and cannot be used, "lease:" for
// what a lease decided.
PRECAST_EXPORT std::string counted_as(Outcome outcome, Reason reason);

// What a cache may do with a request.
enum class Policy : std::uint8_t {
  read_write = 1,  // load, or compile and store
  read_only = 2,   // load, or compile and store nothing
  refresh = 3,     // compile anyway, and replace the entry
  offline = 4,     // load; a miss is an error (unavailable)
};
PRECAST_EXPORT std::string_view to_string(Policy policy);

// What to do when somebody else compiles the same key for longer than the limit.
enum class AfterWait : std::uint8_t { compile, fail };

// Somebody else compiles what this request needs.
struct Waiting {
  std::string host;
  std::int64_t pid = 0;
  std::string who;       // the holder's program, and its label if it has one
  double holding_s = 0;  // how long it has been at it
  double waited_s = 0;   // how long this request has waited
};

// A phase and how long it took. Names, in order: key, lookup, verify, load, lease (or wait, when
// somebody else had it), compile, serialize, encode, prove, publish, gc, record. After a wait
// lookup, verify and load may come again.
struct Phase {
  std::string name;
  double ms = 0;
};

struct Report {  // What became of a request, why, and how long it took.
  Outcome outcome = Outcome::bypass;
  Reason reason = Reason::none;
  std::string detail;          // one sentence for people; empty when the reason says it all
  std::optional<Digest> key;   // when it could be made
  std::string artifact_path;   // the entry's path, when there is one
  std::optional<Digest> root;  // of the artifact that was loaded or stored
  std::vector<Phase> phases;
  std::uint64_t program_bytes = 0;
  std::uint64_t executable_bytes = 0;  // 0 when it was not serialized
  std::uint64_t artifact_bytes = 0;    // 0 when there is no entry
  // Of a hit: what the compile had taken, as the artifact says it, less all that this request took;
  // below 0 where that was more.
  double saved_ms = 0;
  // Faults of the cache that did not matter to the result, and KeyResult::warnings.
  std::vector<std::string> warnings;
};

enum class LogLevel : std::uint8_t { debug, info, warn };
using LogSink = std::function<void(LogLevel, const std::string&)>;

struct CacheConfig {  // What a cache is opened with.
  // Behaviour.
  std::string
      directory;  // empty: PRECAST_CACHE, else $XDG_CACHE_HOME/precast, else ~/.cache/precast
  // For what concerns this machine and not the shared cache: records of compiles that were no hit.
  // Empty: $XDG_STATE_HOME/precast, else ~/.local/state/precast. Without either nothing is kept.
  std::string state_directory;
  bool keep_misses = true;  // leave a record of every compile that was no hit (explain.h)
  bool keep_stats = true;   // count what becomes of requests (docs/stats.md)
  bool disabled = false;    // compile, never look or store; also when PRECAST_DISABLE is 1
  bool strict = false;      // a cache fault is an error instead of a compile
  Policy policy = Policy::read_write;
  double min_compile_ms = 0;  // what compiles faster is not stored
  std::string name_space;     // entries of their own below the folder: [A-Za-z0-9._-], at most 64
  // One compile per key among processes and threads. The limit is that of one wait, in seconds; a
  // holder that is dead or silent is taken over from long before (docs/stores.md).
  bool leases = true;
  double wait_limit_s = 3600;
  AfterWait after_wait = AfterWait::compile;
  // About once a second while a request waits, by its own thread. What it throws is dropped.
  std::function<void(const Waiting&)> on_waiting;
  // On network file systems and FUSE: a call that has not returned for so long, in seconds, will
  // not; from then on this process goes without the store.
  double store_silence_s = 10;
  // Load what another host made once in a process of its own before it is loaded here: bytes that
  // pass every check can still end a process inside the plugin. What ended one is not tried again
  // on this host. `command` is the precast command, which is started for that.
  bool trial_load = false;
  std::string command;
  // Bytes of the store: passing the soft limit starts a collection, the hard one stops storing.
  // 0: the defaults of docs/stores.md.
  std::uint64_t soft_limit_bytes = 0;
  std::uint64_t hard_limit_bytes = 0;
  SignaturePolicy signatures;
  LogSink log;  // empty: silent. One warning per fault and process.
  // Performance.
  EncodeOptions encode;
  // Store executables without the metadata of their instructions (names of operations, source
  // lines, stack frames), which makes them load faster and profiles say less. Outputs are the same
  // bits. Only for plugins whose format is known (XLA's CPU plugin); others are stored as they are.
  // Not in the key: an entry that is there already is used as it is.
  bool lean = false;
  bool prove = true;  // load the encoded artifact once before publishing, where that is cheap (CPU)
};

struct RequestOptions {          // What one request may say beyond program and options.
  std::string label;             // kept in the artifact's provenance; not in the key
  std::string salt;              // in the key
  std::optional<Policy> policy;  // instead of the cache's
  // Only the artifact with this root may load: anything else is an error (unavailable).
  std::optional<Digest> pin;
  bool keep_program = false;  // keep the program in the artifact
  // A level of CPUs that the code must run on: "x86-64-v2", "x86-64-v3" or "x86-64-v4"; empty: this
  // CPU. Executables of one level are shared by all machines that reach it. Only for plugins that
  // compile for the host's CPU and for described ones (XLA's CPU plugin from PJRT 0.101 on); others
  // give invalid_argument or unsupported.
  std::string cpu_baseline;
  // In the key as well: what a front end knows to matter to the compile and Precast cannot see.
  Bytes annotations;                          // of a file of annotations
  std::map<std::string, std::string> extras;  // by name, at most limits::kMaxKeyNameBytes / 2 long
  // Kept in the artifact for the front end, which gets it back when it loads; not in the key.
  Bytes front_end;
};

struct CompileOrLoad {
  LoadedExecutable executable;
  Report report;
};

// A key, or why there is none.
struct KeyResult {
  std::optional<KeyRecord> record;
  Reason bypass = Reason::none;  // set when there is no record
  std::string detail;
  // What the caller should know although it changes nothing: words in XLA_FLAGS that XLA ignores.
  std::vector<std::string> warnings = {};
};

// What the cache would do with a request.
struct Lookup {
  bool hit = false;
  Outcome outcome = Outcome::miss;  // that the request would have; skip: it would compile only
  Reason reason = Reason::not_found;
  std::string detail;  // one sentence for people; empty when the reason says it all
  std::optional<KeyRecord> record;
  std::string artifact_path;         // where the entry is, or would be
  std::uint64_t artifact_bytes = 0;  // of a hit
};

struct ForeignRuntime;
struct ForeignDone;

class PRECAST_EXPORT Cache {
 public:
  // Never fails: a cache that cannot be used says so through unusable(), one warning and every
  // report.
  static Cache open(CacheConfig config);

  const std::string& directory() const;
  // Why the cache cannot be used; nothing when it can.
  const std::optional<Error>& unusable() const;

  // The key of a compile, without compiling. Errors are those of the caller's input.
  Result<KeyResult> key(const Client& client, const Program& program, const CompileOptions& options,
                        const RequestOptions& request = {}) const;

  // Whether compile_or_load() would hit, without compiling, loading or writing anything. Everything
  // is checked but the load itself, which the plugin may still refuse. Errors: those of the
  // caller's input.
  Result<Lookup> would_hit(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request = {}) const;

  // Loads the executable from the cache, or compiles and stores it. When `options` has no device
  // assignment, the client's default is used. Blocks. Errors: the caller's input
  // (invalid_argument), or what the plugin said about the compile, unchanged (plugin_error); with
  // strict, also faults of the cache.
  Result<CompileOrLoad> compile_or_load(const Client& client, const Program& program,
                                        const CompileOptions& options,
                                        const RequestOptions& request = {}) const;

  // The same for a runtime that is no plugin (foreign.h). The options have an assignment.
  Result<KeyResult> key(const ForeignRuntime& runtime, const Program& program,
                        const CompileOptions& options, const RequestOptions& request = {}) const;
  Result<Lookup> would_hit(const ForeignRuntime& runtime, const Program& program,
                           const CompileOptions& options, const RequestOptions& request = {}) const;
  Result<ForeignDone> compile_or_load(const ForeignRuntime& runtime, const Program& program,
                                      const CompileOptions& options,
                                      const RequestOptions& request = {}) const;

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  explicit Cache(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

struct LoadOptions {  // Where to load.
  // Device ids by position, replicas * partitions of them; empty: the client's default assignment.
  std::vector<std::int64_t> device_ids;
};

// Loads a verified artifact on a client, on other devices than it was compiled on if asked.
// Everything that can be checked is checked before PJRT sees the bytes: plugin identity, device
// kinds, CPU features, counts. Errors: incompatible (names what differs), invalid_argument for
// device ids, plugin_error.
PRECAST_EXPORT Result<LoadedExecutable> load(const Client& client, const VerifiedArtifact& artifact,
                                             const LoadOptions& options = {});

// The default cache folder and where it comes from ("PRECAST_CACHE", "XDG_CACHE_HOME", "HOME").
// invalid_argument when there is no HOME either: never a world-writable place.
struct DefaultDirectory {
  std::string path;
  std::string origin;
};
PRECAST_EXPORT Result<DefaultDirectory> default_cache_directory();

// The default state folder, in the same way ("XDG_STATE_HOME", "HOME").
PRECAST_EXPORT Result<DefaultDirectory> default_state_directory();

// The CPU that a plugin compiles for, as it says itself.
struct CpuTarget {
  std::string triple;
  std::string name;
  std::vector<std::string> features;  // "+avx2", "-sse4a", sorted; tuning hints removed
};
PRECAST_EXPORT Result<CpuTarget> cpu_target(const Client& client);

}  // namespace precast
