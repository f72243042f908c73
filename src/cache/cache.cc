#include "precast/cache.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cache/hooks.h"
#include "cache/identity.h"
#include "cache/impl.h"
#include "cache/prepare.h"
#include "cache/request.h"
#include "cache/runtime_foreign.h"
#include "cache/runtime_pjrt.h"
#include "precast/cache_folder.h"
#include "precast/foreign.h"
#include "store/guarded_store.h"
#include "topology/cpu_features.h"

namespace precast {
namespace {

bool disabled_by_environment() {
  const char* value = ::secure_getenv("PRECAST_DISABLE");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

Result<std::unique_ptr<store::GuardedStore>> open_store(const CacheConfig& config) {
  std::string path = config.directory;
  if (path.empty()) {
    PRECAST_ASSIGN(DefaultDirectory found, default_cache_directory());
    path = std::move(found.path);
  }
  store::GuardedStore::Options options;
  options.name_space = config.name_space.empty() ? default_name_space() : config.name_space;
  if (config.store_silence_s > 0) {
    options.silence = std::chrono::milliseconds(std::llround(config.store_silence_s * 1e3));
  }
  PRECAST_ASSIGN(std::unique_ptr<store::GuardedStore> store,
                 store::GuardedStore::open(path, options));
  store->set_limits({config.soft_limit_bytes, config.hard_limit_bytes});
  return store;
}

// Refreshing never looks, so it could not find what is pinned.
Result<void> check_policy(const CacheConfig& config, const RequestOptions& request) {
  if (!request.pin || request.policy.value_or(config.policy) != Policy::refresh) return {};
  return Error(
      ErrorCode::invalid_argument,
      "a pinned root asks for one artifact, and the policy refresh replaces it; choose one "
      "of them");
}

// The options with an assignment; an error of the caller's input.
Result<CompileOptions> checked(const CacheConfig& config, const Client& client,
                               const Program& program, const CompileOptions& options,
                               const RequestOptions& request) {
  PRECAST_TRY(cache::check_program_version(client.plugin(), program));
  PRECAST_TRY(cache::check_baseline(client, request));
  PRECAST_TRY(check_policy(config, request));
  return cache::with_assignment(client, options);
}

}  // namespace

void Cache::Impl::count_error(Reason reason, const std::string& label) const {
  if (recorder == nullptr) return;
  const std::string name = counted_as(Outcome::error, reason);
  recorder->count({.name = name, .label = label, .phases = {}});
}

Result<void> Cache::Impl::may_begin(const Result<void>& input, const std::string& label) const {
  if (!input) {
    count_error(input.error().code() == ErrorCode::plugin_error ? Reason::compile_failed
                                                                : Reason::invalid_request,
                label);
    return input;
  }
  if (!config.strict || !unusable) return {};
  count_error(Reason::strict_fault, label);
  return Error(*unusable);
}

void Cache::Impl::warn_once(const std::string& kind, const std::string& text) {
  {
    Warned& warned = warned_.here();
    const std::lock_guard lock(warned.mutex);
    if (!warned.kinds.insert(kind).second) return;
  }
  if (config.log) config.log(LogLevel::warn, text);
}

Cache Cache::open(CacheConfig config) {
  auto impl = std::make_shared<Impl>();
  impl->disabled = config.disabled || disabled_by_environment();
  impl->config = std::move(config);
  // A disabled cache touches no folder.
  if (impl->disabled) return Cache(std::move(impl));
  impl->state = impl->config.state_directory;
  if (impl->state.empty()) {
    if (auto found = default_state_directory()) impl->state = std::move(found)->path;
  }
  impl->marks = cache::Marks(impl->state);
  if (impl->config.keep_stats) impl->recorder = stats::Recorder::of(impl->state);
  auto store = open_store(impl->config);
  if (store) {
    impl->directory = (*store)->path();
    impl->store = std::move(store).value();
  } else {
    impl->directory = impl->config.directory;
    impl->unusable = std::move(store).error().with("the cache is not used");
    impl->warn_once("store_unavailable", impl->unusable->to_string());
  }
  return Cache(std::move(impl));
}

const std::string& Cache::directory() const { return impl_->directory; }

const std::optional<Error>& Cache::unusable() const { return impl_->unusable; }

Result<KeyResult> Cache::key(const Client& client, const Program& program,
                             const CompileOptions& options, const RequestOptions& request) const {
  PRECAST_TRY(cache::check_program_version(client.plugin(), program));
  PRECAST_TRY(cache::check_baseline(client, request));
  PRECAST_ASSIGN(const CompileOptions placed, cache::with_assignment(client, options));
  return cache::identify(client, program, placed, request);
}

Result<Lookup> Cache::would_hit(const Client& client, const Program& program,
                                const CompileOptions& options,
                                const RequestOptions& request) const {
  PRECAST_ASSIGN(const CompileOptions placed,
                 checked(impl_->config, client, program, options, request));
  const cache::PjrtRuntime runtime(client);
  const cache::Hooks no_hooks;
  return cache::Request(*impl_, runtime, program, placed, request, no_hooks).would_hit();
}

Result<CompileOrLoad> Cache::compile_or_load(const Client& client, const Program& program,
                                             const CompileOptions& options,
                                             const RequestOptions& request) const {
  return cache::compile_or_load(*this, client, program, options, request, {});
}

Result<CompileOrLoad> cache::compile_or_load(const Cache& cache, const Client& client,
                                             const Program& program, const CompileOptions& options,
                                             const RequestOptions& request, const Hooks& hooks) {
  Cache::Impl& impl = *cache.impl();
  auto placed = checked(impl.config, client, program, options, request);
  PRECAST_TRY(impl.may_begin(placed ? Result<void>() : placed.error(), request.label));
  const PjrtRuntime runtime(client, hooks.compile);
  PRECAST_ASSIGN(Done done, Request(impl, runtime, program, *placed, request, hooks)
                                .run()
                                .with("program '" + program.name() + "'"));
  return CompileOrLoad{PjrtRuntime::executable_of(std::move(done.executable)),
                       std::move(done.report)};
}

Result<KeyResult> Cache::key(const ForeignRuntime& runtime, const Program& program,
                             const CompileOptions& options, const RequestOptions& request) const {
  PRECAST_TRY(cache::check_foreign(runtime, options, request));
  return cache::ForeignRuntimeFace(runtime).identify({program, options, request});
}

Result<Lookup> Cache::would_hit(const ForeignRuntime& runtime, const Program& program,
                                const CompileOptions& options,
                                const RequestOptions& request) const {
  PRECAST_TRY(cache::check_foreign(runtime, options, request));
  PRECAST_TRY(check_policy(impl_->config, request));
  const cache::ForeignRuntimeFace face(runtime);
  const cache::Hooks no_hooks;
  return cache::Request(*impl_, face, program, options, request, no_hooks).would_hit();
}

Result<ForeignDone> Cache::compile_or_load(const ForeignRuntime& runtime, const Program& program,
                                           const CompileOptions& options,
                                           const RequestOptions& request) const {
  Result<void> sound = cache::check_foreign(runtime, options, request);
  if (sound) sound = check_policy(impl_->config, request);
  PRECAST_TRY(impl_->may_begin(sound, request.label));
  const cache::ForeignRuntimeFace face(runtime);
  const cache::Hooks no_hooks;
  PRECAST_ASSIGN(cache::Done done,
                 cache::Request(*impl_, face, program, options, request, no_hooks).run());
  return ForeignDone{std::move(done.executable), std::move(done.report)};
}

Result<Report> cache::publish_ahead(const Cache& cache, const Client& client,
                                    const Program& program, const CompileOptions& options,
                                    const RequestOptions& request,
                                    const std::function<Result<Bytes>()>& serialize,
                                    double compile_ms) {
  Cache::Impl& impl = *cache.impl();
  PRECAST_ASSIGN(const CompileOptions placed,
                 checked(impl.config, client, program, options, request));
  const Hooks no_hooks;
  const PjrtRuntime runtime(client);
  const auto load = [&](const Bytes& bytes) { return runtime.adopt(bytes, placed); };
  return Request(impl, runtime, program, placed, request, no_hooks)
      .publish_ahead({serialize, load}, compile_ms);
}

Result<CpuTarget> cpu_target(const Client& client) {
  PRECAST_ASSIGN(proto::CpuTarget target, cache::host_cpu(client));
  return CpuTarget{std::move(target.triple), std::move(target.name),
                   topology::isa_features(target.features)};
}

}  // namespace precast
