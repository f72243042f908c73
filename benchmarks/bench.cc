// Measures, and prints what it measured as one JSON object; bench.py runs it and sums up.
//
//   precast_bench digest PROGRAM REPEATS
//       the digest of a program, and SHA-256 of its bytes alone, in turn
//   precast_bench hit PLUGIN PROGRAM CACHE REPEATS
//       the whole hit path, and the bare PJRT_Executable_DeserializeAndLoad of the same executable
//       bytes (the floor), in turn; also the floor of the lean executable, the key, and the
//       decoding of the artifact
//   precast_bench miss PLUGIN PROGRAM CACHE REPEATS
//       what a miss does beside the compile, in turn with the trial load before publishing and
//       without; the entry is compiled again and replaced each time
//   precast_bench wrapped WRAPPER PROGRAM CACHE REPEATS
//       PJRT_Client_Compile of libprecast_pjrt.so when it hits, and the bare load of the same bytes
//       through the same table, in turn; PRECAST_PJRT_PLUGIN and PRECAST_CACHE are bench.py's
//
// Times are milliseconds, in the order in which they were taken.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "pjrt/client_impl.h"
#include "pjrt/functions.h"
#include "pjrt/handles.h"
#include "precast/precast.h"
#include "program/program_digest.h"
#include "proto/lean.h"

namespace precast {
namespace {

using Json = nlohmann::ordered_json;

template <typename Work>
double ms_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  std::forward<Work>(work)();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::int64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

Result<Json> measure_digest(const std::string& path, int repeats) {
  PRECAST_ASSIGN(const Program program, Program::from_file(path));
  const std::int64_t rss_before = peak_rss_bytes();
  std::vector<double> digest;
  std::vector<double> hash;
  std::string mode;
  for (int i = 0; i < repeats; ++i) {
    digest.push_back(
        ms_of([&] { mode = program::to_string(program::digest_program(program).mode); }));
    hash.push_back(ms_of([&] { (void)base::sha256(program.bytes()); }));
  }
  return Json{{"bytes", program.bytes().size()},
              {"mode", mode},
              {"digest_ms", digest},
              {"sha256_ms", hash},
              {"peak_rss_before_bytes", rss_before},
              {"peak_rss_bytes", peak_rss_bytes()}};
}

// The floor: the plugin's own function, with nothing of Precast around it.
Result<pjrt::Handle<PJRT_LoadedExecutable>> load_bare(const Client& client, BytesView executable) {
  const Client::Impl& impl = *client.impl();
  pjrt::Block<PJRT_Executable_DeserializeAndLoad_Args> args;
  args->client = impl.client.get();
  args->serialized_executable = executable.data();
  args->serialized_executable_size = executable.size();
  PRECAST_TRY(impl.api().call(pjrt::kExecutableDeserializeAndLoad, args));
  return pjrt::own(impl.api(), args->loaded_executable);
}

// By name, in their order.
using PhaseTimes = std::vector<std::pair<std::string, std::vector<double>>>;

struct HitTimes {
  std::vector<double> floor;
  std::vector<double> lean;
  std::vector<double> hit;
  std::vector<double> key;
  std::vector<double> decode;
  PhaseTimes phases;
};

void add_phases(const std::vector<Phase>& phases, PhaseTimes& times) {
  if (times.empty()) {
    for (const Phase& phase : phases) times.push_back({phase.name, {}});
  }
  for (std::size_t i = 0; i < phases.size() && i < times.size(); ++i) {
    times[i].second.push_back(phases[i].ms);
  }
}

// The executable is destroyed outside of the time.
Result<double> floor_ms(const Client& client, BytesView executable) {
  Result<pjrt::Handle<PJRT_LoadedExecutable>> bare = Error(ErrorCode::internal, "not loaded");
  const double ms = ms_of([&] { bare = load_bare(client, executable); });
  if (!bare) return std::move(bare).error();
  return ms;
}

Result<void> measure_round(const Cache& cache, const Client& client, const Program& program,
                           const Bytes& artifact, BytesView executable, BytesView lean,
                           HitTimes& times) {
  PRECAST_ASSIGN(const double floor, floor_ms(client, executable));
  times.floor.push_back(floor);
  PRECAST_ASSIGN(const double lean_floor, floor_ms(client, lean));
  times.lean.push_back(lean_floor);
  {
    Result<CompileOrLoad> loaded = Error(ErrorCode::internal, "not loaded");
    times.hit.push_back(ms_of([&] { loaded = cache.compile_or_load(client, program, {}); }));
    PRECAST_TRY(loaded);
    if (loaded->report.outcome != Outcome::hit) {
      return Error(ErrorCode::internal, "no hit: " + std::string(to_string(loaded->report.reason)));
    }
    add_phases(loaded->report.phases, times.phases);
  }
  times.key.push_back(ms_of([&] { (void)cache.key(client, program, {}); }));
  Bytes copy = artifact;
  times.decode.push_back(ms_of([&] { (void)VerifiedArtifact::decode(std::move(copy)); }));
  return {};
}

Result<Json> measure_hit(const std::string& plugin_path, const std::string& program_path,
                         CacheConfig config, int repeats) {
  PRECAST_ASSIGN(const Plugin plugin, Plugin::open(plugin_path));
  PRECAST_ASSIGN(const Client client, plugin.create_client({}));
  PRECAST_ASSIGN(const Program program, Program::from_file(program_path));
  const Cache cache = Cache::open(std::move(config));
  if (cache.unusable()) return *cache.unusable();
  PRECAST_ASSIGN(const CompileOrLoad first, cache.compile_or_load(client, program, {}));
  const double compile_ms = first.report.outcome == Outcome::miss
                                ? first.report.phases[2].ms  // key, lookup, compile
                                : 0;
  PRECAST_ASSIGN(const Bytes artifact,
                 base::read_file(first.report.artifact_path, std::uint64_t{8} << 30));
  PRECAST_ASSIGN(const VerifiedArtifact decoded, VerifiedArtifact::decode(artifact));
  // Where there is nothing to leave out, lean is the same.
  const Bytes lean =
      proto::lean_cpu_executable(decoded.executable()).value_or(Bytes(decoded.executable()));
  HitTimes times;
  for (int i = 0; i < repeats; ++i) {
    PRECAST_TRY(measure_round(cache, client, program, artifact, decoded.executable(), lean, times));
  }
  Json phases = Json::object();
  for (const auto& [name, ms] : times.phases) phases[name] = ms;
  return Json{{"program_bytes", program.bytes().size()},
              {"executable_bytes", decoded.executable().size()},
              {"artifact_bytes", artifact.size()},
              {"compile_ms", compile_ms},
              {"lean_bytes", lean.size()},
              {"floor_ms", times.floor},
              {"lean_ms", times.lean},
              {"hit_ms", times.hit},
              {"key_ms", times.key},
              {"decode_ms", times.decode},
              {"phases_ms", phases}};
}

// What the whole call took beside the compile, and its phases.
struct MissTimes {
  std::vector<double> compile;
  std::vector<double> beside;
  PhaseTimes phases;
};

Result<void> measure_one_miss(const Cache& cache, const Client& client, const Program& program,
                              MissTimes& times) {
  Result<CompileOrLoad> done = Error(ErrorCode::internal, "not compiled");
  const double all = ms_of([&] { done = cache.compile_or_load(client, program, {}); });
  PRECAST_TRY(done);
  if (done->report.outcome != Outcome::miss) {
    return Error(ErrorCode::internal, "no miss: " + done->report.detail);
  }
  add_phases(done->report.phases, times.phases);
  for (const Phase& phase : done->report.phases) {
    if (phase.name != "compile") continue;
    times.compile.push_back(phase.ms);
    times.beside.push_back(all - phase.ms);
  }
  return {};
}

Json json_of(const MissTimes& times) {
  Json phases = Json::object();
  for (const auto& [name, ms] : times.phases) phases[name] = ms;
  return Json{{"compile_ms", times.compile}, {"beside_ms", times.beside}, {"phases_ms", phases}};
}

Result<Json> measure_miss(const std::string& plugin_path, const std::string& program_path,
                          CacheConfig config, int repeats) {
  PRECAST_ASSIGN(const Plugin plugin, Plugin::open(plugin_path));
  PRECAST_ASSIGN(const Client client, plugin.create_client({}));
  PRECAST_ASSIGN(const Program program, Program::from_file(program_path));
  config.policy = Policy::refresh;
  const Cache with_load = Cache::open(config);
  config.prove = false;
  const Cache without_load = Cache::open(std::move(config));
  if (with_load.unusable()) return *with_load.unusable();
  MissTimes with;
  MissTimes without;
  for (int i = 0; i < repeats; ++i) {
    PRECAST_TRY(measure_one_miss(without_load, client, program, without));
    PRECAST_TRY(measure_one_miss(with_load, client, program, with));
  }
  return Json{{"with_load", json_of(with)}, {"without_load", json_of(without)}};
}

// As a host compiles, with nothing of Precast's library around it.
Result<pjrt::Handle<PJRT_LoadedExecutable>> compile_bare(const Client& client,
                                                         const Program& program,
                                                         const CompileOptions& options) {
  constexpr std::string_view kFormat = "mlir";
  const Client::Impl& impl = *client.impl();
  pjrt::Block<PJRT_Program> code;
  code->code = const_cast<char*>(program.bytes().data());  // NOLINT: it is only read
  code->code_size = program.bytes().size();
  code->format = kFormat.data();
  code->format_size = kFormat.size();
  pjrt::Block<PJRT_Client_Compile_Args> args;
  args->client = impl.client.get();
  args->program = code.get();
  args->compile_options = options.serialized().data();
  args->compile_options_size = options.serialized().size();
  PRECAST_TRY(impl.api().call(pjrt::kClientCompile, args));
  return pjrt::own(impl.api(), args->executable);
}

Result<Json> measure_wrapped(const std::string& wrapper_path, const std::string& program_path,
                             CacheConfig /*of the environment*/, int repeats) {
  PRECAST_ASSIGN(const Plugin plugin, Plugin::open(wrapper_path));
  PRECAST_ASSIGN(const Client client, plugin.create_client({}));
  PRECAST_ASSIGN(const Program program, Program::from_file(program_path));
  PRECAST_ASSIGN(const CompiledExecutable first, client.compile(program, {}));
  PRECAST_ASSIGN(const Bytes executable, first.serialize());
  std::vector<double> floor;
  std::vector<double> hit;
  for (int i = 0; i < repeats; ++i) {
    PRECAST_ASSIGN(const double bare, floor_ms(client, executable));
    floor.push_back(bare);
    Result<pjrt::Handle<PJRT_LoadedExecutable>> loaded = Error(ErrorCode::internal, "not loaded");
    hit.push_back(ms_of([&] { loaded = compile_bare(client, program, {}); }));
    if (!loaded) return std::move(loaded).error();
  }
  return Json{{"floor_ms", floor}, {"hit_ms", hit}};
}

int bench(const std::vector<std::string>& words) {
  Result<Json> measured = Error(ErrorCode::invalid_argument, "see the head of bench.cc");
  if (words.size() == 3 && words[0] == "digest") {
    measured = measure_digest(words[1], std::atoi(words[2].c_str()));
  } else if (words.size() == 5) {
    const std::map<std::string, decltype(&measure_hit)> measures = {
        {"hit", measure_hit}, {"miss", measure_miss}, {"wrapped", measure_wrapped}};
    CacheConfig config;
    config.directory = words[3];
    if (const auto found = measures.find(words[0]); found != measures.end()) {
      measured = found->second(words[1], words[2], std::move(config), std::atoi(words[4].c_str()));
    }
  }
  if (!measured) {
    fmt::print(stderr, "precast_bench: {}\n", measured.error().to_string());
    return 1;
  }
  fmt::print("{}\n", measured->dump());
  return 0;
}

}  // namespace
}  // namespace precast

int main(int argc, char** argv) { return precast::bench({argv + 1, argv + argc}); }
