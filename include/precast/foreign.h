// Foreign runtimes: the cache for executables that are compiled and loaded by somebody else than a
// PJRT plugin which Precast opened. JAX's built-in backend is one: it has no plugin's function
// table, and its executables are objects of Python.
//
//   ForeignRuntime runtime{facts, compile, serialize, load};
//   PRECAST_ASSIGN(ForeignDone done, cache.compile_or_load(runtime, program, options));
//   use(done.executable, done.report);
//
// Precast names the compile, decides, waits for others, stores and verifies; the four functions do
// what only the front end can, and hand executables through as pointers that Precast never looks
// at. The key holds the same fields as for a plugin (docs/key.md), made of `facts`.
//
// The functions are called by the thread that asked, one at a time for each request, and must not
// throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/export.h"
#include "precast/key.h"
#include "precast/named_value.h"
#include "precast/plugin.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast {

// What a runtime says about itself. All of it is in the key, as far as it is not said otherwise.
struct ForeignFacts {
  std::string name;  // of this kind of runtime: "jax"; [a-z0-9_.-]
  // The library that compiles, a path. Its mapped bytes count (mapped_library()); looked at again
  // at each request.
  std::string library;
  std::string platform;  // "cpu"; requests on any other bypass, with the reason platform_unknown
  std::string platform_version;
  std::vector<NamedValue> attributes;
  // Of a library that is a plugin of PJRT's C API, which the front end opened (plugin_at()). Then
  // `attributes` are the plugin's, the key and the artifact name it as those of a Client do, and
  // serialize() gives what the plugin's own function gives: load() of cache.h takes such an
  // artifact too.
  std::optional<ApiVersion> api_version;
  std::vector<Device> devices;  // all, addressable or not; as far as a request runs on them
  std::vector<NamedValue> client_options;
  // XLA_FLAGS as the runtime took them. Without `certain` requests bypass (flags_unknown).
  Client::FlagSnapshot flags;
  // The CPUs that it partitions for; 0: as XLA counts those of this process.
  int cpu_count = 0;
  // For which CPU this runtime compiles under these flags is said by the serialized topology of its
  // client (PjRtTopologyDescriptionProto), or else by any executable that it compiled, serialized.
  // Where neither says it requests bypass (cpu_unknown).
  Bytes topology;
  Bytes sample;
  // Whether load() binds callbacks of JAX, which a program names by their index alone. Without,
  // programs that call them bypass (index_bound_call).
  bool binds_callbacks = false;
};

// The front end's own; Precast only counts its uses.
using ForeignExecutable = std::shared_ptr<void>;

// What is kept beside an executable, for people.
struct ForeignDescription {
  std::optional<MemoryStats> memory_stats;
  std::vector<CostItem> cost_analysis;
};

struct ForeignRuntime {                       // A runtime as one request sees it.
  std::shared_ptr<const ForeignFacts> facts;  // not null

  // Compiles what the request's program stands for. The error is what compile_or_load() returns.
  std::function<Result<ForeignExecutable>(const Program&, const CompileOptions&)> compile;
  // The same where the cache has no part in it (Outcome::bypass), so that another cache may. May be
  // empty: compile().
  std::function<Result<ForeignExecutable>(const Program&, const CompileOptions&)> compile_bypassed;
  // The bytes of an executable that compile() gave. plugin_error when this one cannot be
  // serialized, unsupported when none can.
  std::function<Result<Bytes>(const ForeignExecutable&)> serialize;
  // Loads bytes that serialize() gave, here or elsewhere, on the devices of the options. They have
  // passed every check: the digests, the record, the counts, the CPU. `front_end`:
  // RequestOptions::front_end of the request that stored them. incompatible when the front end
  // finds that they do not fit.
  std::function<Result<ForeignExecutable>(BytesView executable, BytesView front_end,
                                          const CompileOptions&)>
      load;
  // May be empty. Called after serialize().
  std::function<ForeignDescription(const ForeignExecutable&)> describe;
  // Asked when an executable is to be stored, for what is kept beside it, instead of
  // RequestOptions::front_end. May be empty. What it throws or fails at is the front end's to
  // answer with bytes.
  std::function<Bytes()> front_end;
  // Targets of custom calls whose configuration holds an address of the process, and which this
  // front end made stable: in the program something else stands in the address's place, and what
  // the address stood for is in the request's extras, or does not matter. Programs with others
  // bypass (process_bound_call).
  std::vector<std::string> settled_calls;
  // Why those others are not settled: the end of the sentence that the report has. May be empty.
  std::string unsettled_because;
  // Asked several times a second while a request waits for somebody else's compile; true ends the
  // request with an error (unavailable). May be empty.
  std::function<bool()> cancelled;
};

struct ForeignDone {
  ForeignExecutable executable;
  Report report;
};

// Loads a verified artifact that such a runtime made, as load() of cache.h does for a plugin: on
// `options.device_ids` by position, which must be given. Everything is checked before the bytes
// reach the runtime: library, devices, CPU, counts. Errors: incompatible (names what differs, as it
// does for a plugin's artifact), invalid_argument for the devices, those of runtime.load(). Of the
// runtime only the facts and load() are needed.
PRECAST_EXPORT Result<ForeignExecutable> load(const ForeignRuntime& runtime,
                                              const VerifiedArtifact& artifact,
                                              const LoadOptions& options);

// What a front end compiled and serialized itself, outside of any cache.
struct ForeignSerialized {
  KeyRecord record;        // of Cache::key()
  Bytes executable;        // as runtime.serialize() gives it
  CompileOptions options;  // with an assignment
  std::string program_name;
  Bytes front_end;
};

// An artifact around it, which load() above takes. It was decoded again and compared. Errors:
// invalid_argument when a part is empty or exceeds its limit; internal.
PRECAST_EXPORT Result<Bytes> make_artifact(const ForeignFacts& facts,
                                           const ForeignSerialized& serialized);

// The same artifact with other bytes for the front end, in a new container: its root is another
// one, and signatures are not kept.
PRECAST_EXPORT Result<Bytes> with_front_end(const VerifiedArtifact& artifact, Bytes front_end);

// A plugin of PJRT's C API that a front end opened.
struct OpenedPlugin {
  std::string path;  // of the library whose functions compile, as it was opened
  ApiVersion api_version;
  std::vector<NamedValue> attributes;
  bool is_wrapper = false;  // Precast's own plugin (wrapper.h): it asks the cache itself
};

// Reads it from its function table, a const PJRT_Api*, which must have been initialized. Errors:
// invalid_argument and unsupported as Plugin::open's, plugin_error, and unavailable where the
// functions that compile, serialize and load are not of one library.
PRECAST_EXPORT Result<OpenedPlugin> plugin_at(const void* table);

// The file of a library that is mapped into this process, by its path, with its digest. The digest
// is remembered per user and process. unavailable when it is not mapped, or when the file is no
// longer the mapped one or was written to since this process started; then its bytes are not known.
PRECAST_EXPORT Result<PluginFile> mapped_library(const std::string& path);

}  // namespace precast
