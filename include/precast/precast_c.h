// The C ABI of libprecast, for languages that cannot call C++: Go, Julia, Zig, Elixir, Rust,
// Python.
//
//   precast_plugin* plugin = NULL;
//   precast_client* client = NULL;
//   precast_cache* cache = NULL;
//   precast_executable* executable = NULL;
//   precast_error* error = NULL;
//   precast_request request = {.struct_size = sizeof(precast_request)};
//   request.program = bytes;
//   request.program_size = size;
//   if (!precast_plugin_open("cpu", &plugin, &error) &&
//       !precast_client_create(plugin, NULL, 0, &client, &error) &&
//       !precast_cache_open(NULL, &cache, &error) &&
//       !precast_compile_or_load(cache, client, &request, &executable, NULL, &error)) {
//     ...precast_run(executable, inputs, count, NULL, &outputs, &error)...
//   } else {
//     fprintf(stderr, "%s\n", precast_error_text(error));
//   }
//
// It is a thin layer over the C++ API: same words, same laws, same cache entries. docs/library.md
// leads to a complete program. Valid C99 and C++; no exception and no C++ type crosses it.
//
// Errors. A function that can fail returns PRECAST_OK or one of the codes below, and takes a
// `precast_error** error` as its last argument. It may be null. Otherwise it gets null on success,
// and on failure an error that the caller frees with precast_error_free (null when there was no
// memory for one). Results that are returned through pointers are set to null on failure.
//
// Ownership. Handles (pointers to the opaque types) belong to the caller, who gives each to its
// _free function once; _free takes null. They keep alive what they were made from, so they may be
// freed in any order. What is passed in belongs to the caller and is not looked at after the
// function returned. Text and arrays that are handed out belong to the handle and live as long as
// it does; text is UTF-8 as the plugin gave it and ends with NUL, and is "" when there is nothing
// to say, never null.
//
// Threads. Every function may be called from every thread. A handle may be used by several threads
// at once, but freed only when none uses it. Nothing here depends on the thread it is called from.
//
// Structs. Each begins with its size in bytes, which the caller sets, also for structs that a
// function fills in; the rest of a struct that is passed in starts as zeros, which mean the default
// everywhere. Structs grow at their ends only, and numbers and functions are only added: a program
// that was built with an older header works with a newer library. The other way round, a field that
// the library does not know must be zero, else the call fails with PRECAST_UNSUPPORTED. A size
// smaller than that of a struct's first version is refused. In an array of structs all have one
// size.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PRECAST_C_API __attribute__((visibility("default")))
#else
#define PRECAST_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// What an error means for the caller: docs/architecture.md says what each does to compile-or-load.
// Append only.
enum {
  PRECAST_OK = 0,
  PRECAST_INVALID_ARGUMENT = 1,    // the caller's input is wrong; fix it, do not retry
  PRECAST_UNSUPPORTED = 2,         // the plugin or this library lacks it
  PRECAST_INCOMPATIBLE = 3,        // a sound artifact for another plugin, placement or CPU
  PRECAST_CORRUPT = 4,             // format, checksum or length is wrong
  PRECAST_UNTRUSTED = 5,           // a signature is missing or wrong under the policy
  PRECAST_UNAVAILABLE = 6,         // a store is down; may be retried later
  PRECAST_DEADLINE_EXCEEDED = 7,   // a store took too long; may be retried later
  PRECAST_PERMISSION_DENIED = 8,   // the environment refuses
  PRECAST_RESOURCE_EXHAUSTED = 9,  // disk, memory or another resource is used up
  PRECAST_IO_ERROR = 10,           // any other failure of the environment
  PRECAST_PLUGIN_ERROR = 11,       // PJRT reported an error: precast_error_plugin_code
  PRECAST_INTERNAL = 12            // an invariant of Precast broke
};

// What became of a request. Append only.
enum {
  PRECAST_NO_OUTCOME = 0,  // a report of precast_cache_key: nothing was compiled or loaded
  PRECAST_HIT = 1,         // loaded from the cache
  PRECAST_MISS = 2,        // compiled and stored
  PRECAST_SKIP = 3,        // compiled, not stored on purpose or because storing failed
  PRECAST_BYPASS = 4,      // compiled; the cache was not asked, because it must not or cannot be
  PRECAST_FAILED = 5       // of precast_would_hit: the policy would make it an error
};

// What a cache may do with a request. Append only.
enum {
  PRECAST_READ_WRITE = 1,  // load, or compile and store
  PRECAST_READ_ONLY = 2,   // load, or compile and store nothing
  PRECAST_REFRESH = 3,     // compile anyway, and replace the entry
  PRECAST_OFFLINE = 4      // load; a miss is an error (PRECAST_UNAVAILABLE)
};

// Element types: the numbers of PJRT_Buffer_Type. In host memory, types narrower than a byte take
// one byte each. Append only.
enum {
  PRECAST_TYPE_PRED = 1,
  PRECAST_TYPE_S8 = 2,
  PRECAST_TYPE_S16 = 3,
  PRECAST_TYPE_S32 = 4,
  PRECAST_TYPE_S64 = 5,
  PRECAST_TYPE_U8 = 6,
  PRECAST_TYPE_U16 = 7,
  PRECAST_TYPE_U32 = 8,
  PRECAST_TYPE_U64 = 9,
  PRECAST_TYPE_F16 = 10,
  PRECAST_TYPE_F32 = 11,
  PRECAST_TYPE_F64 = 12,
  PRECAST_TYPE_BF16 = 13,
  PRECAST_TYPE_C64 = 14,
  PRECAST_TYPE_C128 = 15,
  PRECAST_TYPE_F8E5M2 = 16,
  PRECAST_TYPE_F8E4M3FN = 17,
  PRECAST_TYPE_F8E4M3B11FNUZ = 18,
  PRECAST_TYPE_F8E5M2FNUZ = 19,
  PRECAST_TYPE_F8E4M3FNUZ = 20,
  PRECAST_TYPE_S4 = 21,
  PRECAST_TYPE_U4 = 22,
  PRECAST_TYPE_TOKEN = 23,
  PRECAST_TYPE_S2 = 24,
  PRECAST_TYPE_U2 = 25,
  PRECAST_TYPE_F8E4M3 = 26,
  PRECAST_TYPE_F8E3M4 = 27,
  PRECAST_TYPE_F8E8M0FNU = 28,
  PRECAST_TYPE_F4E2M1FN = 29,
  PRECAST_TYPE_S1 = 30,
  PRECAST_TYPE_U1 = 31,
  PRECAST_TYPE_F6E2M3FN = 32,
  PRECAST_TYPE_F6E3M2FN = 33
};

// Whether a run consumes the device buffer of a parameter. Append only.
enum {
  PRECAST_DONATION_NONE = 0,
  PRECAST_DONATION_MAY_ALIAS = 1,   // the buffer may be reused for a result
  PRECAST_DONATION_MUST_ALIAS = 2,  // the buffer becomes a result
  PRECAST_DONATION_DONOR = 3        // the buffer may be reused for anything
};

// How much a line of the log matters. Append only.
enum { PRECAST_LOG_DEBUG = 0, PRECAST_LOG_INFO = 1, PRECAST_LOG_WARN = 2 };

// Why a call failed.
typedef struct precast_error precast_error;
// A PJRT shared library, opened once per process and path and never closed.
typedef struct precast_plugin precast_plugin;
// A plugin's runtime with its devices.
typedef struct precast_client precast_client;
// A cache folder with its settings.
typedef struct precast_cache precast_cache;
// What became of one request, and why.
typedef struct precast_report precast_report;
// An executable on its devices.
typedef struct precast_executable precast_executable;
// The results of one run, in host memory.
typedef struct precast_outputs precast_outputs;

// ---- The library and its errors

// The version of the library that is loaded, "0.1.0". Never fails; the text lives forever.
PRECAST_C_API const char* precast_library_version(void);

// The name of a code as it prints everywhere, "invalid_argument"; "ok" for PRECAST_OK, "unknown"
// for other numbers. Never fails; the text lives forever.
PRECAST_C_API const char* precast_code_name(int32_t code);

// The code of an error; PRECAST_OK for null.
PRECAST_C_API int32_t precast_error_code(const precast_error* error);

// PJRT's own code (PJRT_Error_Code, 1 to 16) when the code is PRECAST_PLUGIN_ERROR, else 0.
PRECAST_C_API int32_t precast_error_plugin_code(const precast_error* error);

// The whole text for people: code, what was wrong, what to do, and what was going on. "" for null.
PRECAST_C_API const char* precast_error_text(const precast_error* error);

// The message alone, without code and circumstances. "" for null.
PRECAST_C_API const char* precast_error_message(const precast_error* error);

// Frees an error and its text.
PRECAST_C_API void precast_error_free(precast_error* error);

// ---- Plugins and clients

// Opens a plugin by path (with a slash), by short name ("cpu"), or the first one that is found
// (null or ""), as Plugin::open of plugin.h. Blocks while the library is loaded.
// PRECAST_INVALID_ARGUMENT when there is none or it is no plugin, PRECAST_UNSUPPORTED for another
// major version of PJRT, PRECAST_PLUGIN_ERROR when the plugin's own start fails.
PRECAST_C_API int32_t precast_plugin_open(const char* name_or_path, precast_plugin** plugin,
                                          precast_error** error);

typedef struct precast_plugin_facts {  // What is known about a plugin.
  size_t struct_size;
  const char* path;
  int32_t api_major;  // of PJRT's C API
  int32_t api_minor;
} precast_plugin_facts;

// Fills in what is known about a plugin. Fails only when the caller's pointers or sizes are wrong,
// as every function named _get_facts does.
PRECAST_C_API int32_t precast_plugin_get_facts(const precast_plugin* plugin,
                                               precast_plugin_facts* facts, precast_error** error);

// Frees the handle; the library stays in the process.
PRECAST_C_API void precast_plugin_free(precast_plugin* plugin);

// Creates a client. `options` are `count` texts "name=value": true and false are booleans,
// integers int64, comma-separated integers a list, numbers with a point float, the rest text;
// 'name:string=4' (also :int, :ints, :float, :bool) fixes the type. Blocks; the first client also
// makes the plugin read XLA_FLAGS. PRECAST_PLUGIN_ERROR with the plugin's text when it refuses.
PRECAST_C_API int32_t precast_client_create(const precast_plugin* plugin,
                                            const char* const* options, size_t count,
                                            precast_client** client, precast_error** error);

typedef struct precast_client_facts {  // What is known about a client.
  size_t struct_size;
  const char* platform_name;  // "cpu", "cuda"
  const char* platform_version;
  size_t device_count;    // all devices, addressable or not
  int32_t process_index;  // this process among those of the client
  int32_t cpu_count;      // the CPUs that XLA partitions large operations for
} precast_client_facts;

// Fills in what is known about a client.
PRECAST_C_API int32_t precast_client_get_facts(const precast_client* client,
                                               precast_client_facts* facts, precast_error** error);

typedef struct precast_device {  // One device of a client.
  size_t struct_size;
  int64_t id;                 // global
  int64_t local_hardware_id;  // -1 when it is not addressable
  const char* kind;           // "cpu", "NVIDIA H200"
  const char* text;           // the plugin's short description
  int32_t process_index;
  int32_t addressable;  // 1: this process can run on it
} precast_device;

// Fills in device `index` of device_count. PRECAST_INVALID_ARGUMENT for another index.
PRECAST_C_API int32_t precast_client_get_device(const precast_client* client, size_t index,
                                                precast_device* device, precast_error** error);

// Frees the handle; the client ends with the last executable made from it.
PRECAST_C_API void precast_client_free(precast_client* client);

// ---- The cache

typedef struct precast_cache_config {  // How a cache is opened.
  size_t struct_size;
  const char* directory;        // null or "": the default folder of docs/stores.md
  const uint8_t* trusted_keys;  // Ed25519 public keys, 32 bytes each
  size_t trusted_key_count;
  // Gets one warning per fault and process; null: silent. Called by the threads that use the cache,
  // perhaps at once; it must return, and must not free the cache.
  void (*log)(void* user, int32_t level, const char* message);
  void* log_user;               // handed to log
  int32_t disabled;             // 1: compile, never look or store
  int32_t strict;               // 1: a cache fault is an error instead of a compile
  int32_t require_signature;    // 1: only entries that a trusted key has signed
  int32_t no_proof;             // 1: do not load an artifact once before publishing it
  const char* state_directory;  // for records of misses; null or "": the default of docs/stores.md
  int32_t no_misses;            // 1: leave no records of compiles that were no hit
  int32_t policy;               // PRECAST_READ_WRITE, or 0, which is the same
  const char* name_space;       // entries of their own below the folder; null or "": none
  double wait_limit_s;          // longest wait for others who compile the same; 0: 3600
  double min_compile_ms;        // what compiles faster is not stored
  uint64_t soft_limit_bytes;    // of the store; 0: the default of docs/stores.md
  uint64_t hard_limit_bytes;    // the same
  int32_t no_leases;            // 1: do not wait for others who compile the same
  int32_t fail_after_wait;      // 1: when the longest wait is over, fail instead of compiling
  int32_t trial_load;           // 1: load what another host made in a child process first
  int32_t no_stats;             // 1: count nothing in the state folder
  const char* command;          // the precast command, for trial_load; may be null without that
} precast_cache_config;

// Opens a cache; `config` may be null. A folder that cannot be used is no error: programs are then
// compiled, and precast_cache_problem says why. PRECAST_INVALID_ARGUMENT for a wrong config.
PRECAST_C_API int32_t precast_cache_open(const precast_cache_config* config, precast_cache** cache,
                                         precast_error** error);

// The folder; "" when it is disabled. "" for null.
PRECAST_C_API const char* precast_cache_directory(const precast_cache* cache);

// Why the cache cannot be used; "" when it can. "" for null.
PRECAST_C_API const char* precast_cache_problem(const precast_cache* cache);

// Frees the handle.
PRECAST_C_API void precast_cache_free(precast_cache* cache);

// Gives back all leases of this process, so that those who wait need not find out that it is gone.
// May be called in the handler of a signal; Precast installs none by itself.
PRECAST_C_API void precast_release_leases_on_signal(void);

// Installs handlers for SIGTERM, SIGINT and SIGHUP that do this and then go on to the handler that
// is there now, or to the end of the process. For languages whose own handlers wait until a call
// into C returns, as Python's do. To be called again after other handlers were set.
PRECAST_C_API void precast_release_leases_when_told_to_end(void);

// What to compile, and how.
typedef struct precast_request {
  size_t struct_size;
  const void* program;  // StableHLO text, MLIR bytecode or a serialized HloModuleProto
  size_t program_size;
  const char* program_name;     // in messages and in the artifact; null: "program"
  const void* compile_options;  // serialized xla.CompileOptionsProto; null: one replica, partition
  size_t compile_options_size;
  const char* const* xla_options;  // XLA options: names and values by turns, over compile_options
  size_t xla_option_count;         // pairs
  const int64_t* device_ids;       // by position, replicas * partitions; null: the default
  size_t device_id_count;
  const char* label;     // kept in the artifact, not in the key; may be null
  const char* salt;      // in the key; may be null
  int32_t replicas;      // 0: as compile_options says
  int32_t partitions;    // 0: as compile_options says
  int32_t use_spmd;      // 1: partition automatically; 0: as compile_options says
  int32_t keep_program;  // 1: keep the program in the artifact
  // In the key as well, each may be null.
  const char* cpu_baseline;  // "x86-64-v3": code for every CPU of that level (RequestOptions)
  const void* annotations;   // the bytes of a file of annotations
  size_t annotations_size;
  const void* profile;  // the profile that guides the compiler, as XLA's profilers write it
  size_t profile_size;
  const char* const* extras;  // the caller's own facts: names and values by turns, no name twice
  size_t extra_count;         // pairs
  // Only the artifact with this root may load, 64 hexadecimal digits; null or "": any.
  const char* pin;
  int32_t policy;    // PRECAST_READ_WRITE; 0: the cache's
  int32_t reserved;  // zero
} precast_request;

// The key of a request, without compiling: a report without an outcome that has a key, or a reason
// and a detail why there is none. Blocks while large files are hashed. Errors are those of the
// caller's input.
PRECAST_C_API int32_t precast_cache_key(const precast_cache* cache, const precast_client* client,
                                        const precast_request* request, precast_report** report,
                                        precast_error** error);

// Whether precast_compile_or_load would hit, without compiling, loading or writing: a report with
// the outcome that the request would have, and why. Errors are those of the caller's input.
PRECAST_C_API int32_t precast_would_hit(const precast_cache* cache, const precast_client* client,
                                        const precast_request* request, precast_report** report,
                                        precast_error** error);

// Loads the executable from the cache, or compiles and stores it. Blocks for as long as XLA takes.
// `report` may be null. Errors: PRECAST_INVALID_ARGUMENT for the caller's input,
// PRECAST_PLUGIN_ERROR when XLA refuses the program, with its whole text; with strict, also faults
// of the cache.
PRECAST_C_API int32_t precast_compile_or_load(const precast_cache* cache,
                                              const precast_client* client,
                                              const precast_request* request,
                                              precast_executable** executable,
                                              precast_report** report, precast_error** error);

// An artifact to load, from a file or from memory.
typedef struct precast_load_request {
  size_t struct_size;
  const char* path;  // the artifact's file, or null
  const void* data;  // or its bytes, when path is null
  size_t data_size;
  const int64_t* device_ids;  // by position, replicas * partitions; null: the default
  size_t device_id_count;
  const uint8_t* trusted_keys;  // Ed25519 public keys, 32 bytes each
  size_t trusted_key_count;
  int32_t require_signature;  // 1: a trusted key must have signed it
  int32_t reserved;           // zero
} precast_load_request;

// Verifies an artifact and loads it, without cache and program. Blocks. Errors: PRECAST_CORRUPT,
// PRECAST_UNTRUSTED, PRECAST_INCOMPATIBLE (names what differs), PRECAST_INVALID_ARGUMENT for device
// ids and paths, PRECAST_PLUGIN_ERROR, and those of reading a file.
PRECAST_C_API int32_t precast_load(const precast_client* client,
                                   const precast_load_request* request,
                                   precast_executable** executable, precast_error** error);

// ---- Reports

typedef struct precast_report_facts {  // What a report says.
  size_t struct_size;
  const char* outcome_name;  // "hit"
  const char* reason_name;   // "not_found"; docs/architecture.md
  const char* detail;        // one sentence for people, or ""
  const char* key;           // 64 hexadecimal digits, or "" when there is none
  const char* artifact_path;
  uint64_t program_bytes;
  uint64_t executable_bytes;  // 0: not serialized
  uint64_t artifact_bytes;    // 0: there is no artifact
  size_t phase_count;
  size_t warning_count;
  int32_t outcome;   // PRECAST_HIT
  int32_t reason;    // Reason of cache.h; 0: none
  const char* root;  // of the artifact that was loaded or stored, 64 hexadecimal digits, or ""
} precast_report_facts;

// Fills in what a report says.
PRECAST_C_API int32_t precast_report_get_facts(const precast_report* report,
                                               precast_report_facts* facts, precast_error** error);

typedef struct precast_phase {  // One phase of a request, and how long it took.
  size_t struct_size;
  const char* name;  // key, lookup, verify, load, lease, wait, compile, serialize, encode, ...
  double ms;
} precast_phase;

// Fills in phase `index` of phase_count. PRECAST_INVALID_ARGUMENT for another index.
PRECAST_C_API int32_t precast_report_get_phase(const precast_report* report, size_t index,
                                               precast_phase* phase, precast_error** error);

// Warning `index` of warning_count: a fault of the cache that did not matter to the result. "" for
// another index, and for null.
PRECAST_C_API const char* precast_report_warning(const precast_report* report, size_t index);

// The report as one JSON object, with the fields that `precast compile --json` has for it and the
// schema "precast.report/1" (docs/library.md). "" for null.
PRECAST_C_API const char* precast_report_json(const precast_report* report);

// Frees a report and its texts.
PRECAST_C_API void precast_report_free(precast_report* report);

// ---- Executables

typedef struct precast_executable_facts {  // What is known about an executable.
  size_t struct_size;
  const char* name;           // the module's name
  const char* key;            // 64 hexadecimal digits, or "" when it has none
  const int64_t* device_ids;  // the devices of this process that it runs on, by position
  size_t device_count;
  size_t parameter_count;  // 0 without a signature
  size_t result_count;
  int32_t replicas;
  int32_t partitions;
  int32_t has_signature;  // 0: neither plugin nor artifact could tell parameters and results
  int32_t reserved;
} precast_executable_facts;

// Fills in what is known about an executable.
PRECAST_C_API int32_t precast_executable_get_facts(const precast_executable* executable,
                                                   precast_executable_facts* facts,
                                                   precast_error** error);

// What an executable takes or gives at one place, on each device.
typedef struct precast_tensor_spec {
  size_t struct_size;
  const char* text;           // "f32[4,8]", with the layout behind it when it is not row-major
  const int64_t* dimensions;  // elements
  size_t dimension_count;
  const int64_t* minor_to_major;  // of the device's layout; dimension_count or 0 numbers
  size_t minor_to_major_count;
  const char* memory_kind;  // "device", or "" when the plugin does not say
  uint64_t host_bytes;      // of a dense row-major host array; 0 when there is none
  int32_t element_type;     // PRECAST_TYPE_F32
  int32_t donation;         // PRECAST_DONATION_NONE; parameters only
} precast_tensor_spec;

// Fills in parameter `index` of parameter_count. PRECAST_INVALID_ARGUMENT for another index.
PRECAST_C_API int32_t precast_executable_get_parameter(const precast_executable* executable,
                                                       size_t index, precast_tensor_spec* spec,
                                                       precast_error** error);

// Fills in result `index` of result_count. PRECAST_INVALID_ARGUMENT for another index, and without
// a signature.
PRECAST_C_API int32_t precast_executable_get_result(const precast_executable* executable,
                                                    size_t index, precast_tensor_spec* spec,
                                                    precast_error** error);

// Frees the handle; the executable leaves its devices with the last run that uses it.
PRECAST_C_API void precast_executable_free(precast_executable* executable);

// ---- Runs

// A dense row-major array in host memory, little-endian, without any alignment.
typedef struct precast_tensor {
  size_t struct_size;
  const int64_t* dimensions;  // null for a scalar
  size_t dimension_count;
  const void* data;
  size_t data_size;      // in bytes
  int32_t element_type;  // PRECAST_TYPE_F32
  int32_t reserved;      // zero
} precast_tensor;

typedef struct precast_run_options {  // How a run takes its inputs.
  size_t struct_size;
  // 0: `inputs` are the parameters, and every device gets them. 1: `inputs` are the parameters of
  // position 0, then those of position 1, and so on.
  int32_t inputs_per_device;
  int32_t reserved;  // zero
} precast_run_options;

// Checks `count` inputs against the signature, copies them to the devices, runs, and copies the
// results back. Blocks; may be called from several threads at once. `options` may be null. The
// inputs stay as they are, also those of donated parameters. PRECAST_INVALID_ARGUMENT names the
// parameter, what it takes and what was given; PRECAST_PLUGIN_ERROR when the run fails.
PRECAST_C_API int32_t precast_run(const precast_executable* executable,
                                  const precast_tensor* inputs, size_t count,
                                  const precast_run_options* options, precast_outputs** outputs,
                                  precast_error** error);

typedef struct precast_outputs_facts {  // What a run gave, and how long its parts took.
  size_t struct_size;
  size_t device_count;
  size_t result_count;
  double transfer_ms;  // inputs to devices
  double run_ms;       // execution, until every device reported completion
  double fetch_ms;     // results to the host
} precast_outputs_facts;

// Fills in how many results a run gave, and how long its parts took.
PRECAST_C_API int32_t precast_outputs_get_facts(const precast_outputs* outputs,
                                                precast_outputs_facts* facts,
                                                precast_error** error);

// Fills in result `result` of the device at `position`; its data belongs to `outputs`.
// PRECAST_INVALID_ARGUMENT for another position or result.
PRECAST_C_API int32_t precast_outputs_get_tensor(const precast_outputs* outputs, size_t position,
                                                 size_t result, precast_tensor* tensor,
                                                 precast_error** error);

// Frees the results.
PRECAST_C_API void precast_outputs_free(precast_outputs* outputs);

#ifdef __cplusplus
}
#endif
