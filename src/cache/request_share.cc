// Request: one compile per key. Who misses asks for the lease; the others wait for how the compile
// of its holder ends.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "cache/phases.h"
#include "cache/request.h"
#include "lease/leases.h"

namespace precast::cache {
namespace {

// How often a request waits again because an entry that was published is not there any more.
constexpr int kMaxWaits = 3;

}  // namespace

Result<lease::Acquired> Request::acquire() {
  lease::WaitOptions wait;
  wait.limit_s = cache_.config.wait_limit_s;
  wait.label = wishes_.label;
  wait.on_waiting = [this](const Waiting& waiting) {
    holder_ = waiting;
    if (cache_.config.on_waiting) cache_.config.on_waiting(waiting);
  };
  const auto start = std::chrono::steady_clock::now();
  auto got = cache_.leases->acquire(report_.key->hex(), wait);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  report_.phases.push_back({got && got->waited_s > 0 ? "wait" : "lease", took.count()});
  return got;
}

Result<std::optional<LoadedExecutable>> Request::look_again() {
  const Step before = step_;
  const std::string detail = report_.detail;
  const std::size_t phases = report_.phases.size();
  PRECAST_ASSIGN(std::optional<LoadedExecutable> loaded, look_up());
  if (!loaded && step_.reason == Reason::not_found) {
    // Nothing new: what was found first stays the reason, and it was one look-up in two parts.
    step_ = before;
    report_.detail = detail;
    for (Phase& phase : report_.phases) {
      if (phase.name == "lookup") phase.ms += report_.phases[phases].ms;
    }
    report_.phases.resize(phases);
  }
  return loaded;
}

Result<std::optional<LoadedExecutable>> Request::share() {
  const std::optional<LoadedExecutable> none;
  if (cache_.leases == nullptr || step_.action != Action::compile_and_store) return none;
  // Who refreshes wants this very compile.
  if (rules_.policy == Policy::refresh) return none;
  for (int waits = 0; waits < kMaxWaits; ++waits) {
    auto got = acquire();
    if (!got) {
      PRECAST_TRY(fault(Stage::lease, std::move(got).error().with("while getting the lease")));
      return none;
    }
    switch (got->how) {
      case lease::Acquired::How::held: return have_lease(*std::move(got->lease));
      case lease::Acquired::How::ended: break;
      case lease::Acquired::How::limit:
      case lease::Acquired::How::cancelled:
        PRECAST_TRY(found(
            Found::wait_limit,
            fmt::format("process {} on {} has been compiling this for {:.0f} s, and "
                        "this request waits for {:.0f} s at most",
                        holder_.pid, holder_.host, holder_.holding_s, cache_.config.wait_limit_s)));
        return none;
    }
    const lease::Ending& ending = *got->ending;
    if (ending.verdict == lease::Verdict::failed) {
      step_ = {Action::return_error, Outcome::error, Reason::compile_failed};
      return Error::from_plugin(ending.pjrt_code, ending.message);
    }
    if (ending.verdict == lease::Verdict::not_stored) {
      PRECAST_TRY(found(Found::not_stored_elsewhere, "whoever compiled it first stored nothing"));
      return none;
    }
    PRECAST_ASSIGN(std::optional<LoadedExecutable> loaded, look_up());
    if (loaded) {
      step_ = on_found(Found::published_elsewhere, rules_);
      report_.detail = fmt::format("compiled by another {} while this one waited {:.1f} s",
                                   holder_.pid == 0 ? "thread" : "process", got->waited_s);
      return loaded;
    }
    if (step_.action != Action::compile_and_store) return none;
  }
  return none;
}

Result<std::optional<LoadedExecutable>> Request::have_lease(lease::Lease lease) {
  const bool taken_over = lease.taken_over();
  // Whoever had it before may have published after this request looked.
  auto loaded = look_again();
  if (!loaded || *loaded) {
    if (loaded) lease.end({lease::Verdict::published});
    return loaded;
  }
  if (step_.action != Action::compile_and_store) return loaded;
  if (taken_over) {
    PRECAST_TRY(found(Found::dead_holder, "whoever compiled it before died or fell silent"));
  }
  lease_.emplace(std::move(lease));
  return loaded;
}

void Request::end_lease(const Result<LoadedExecutable>& compiled) {
  if (!lease_) return;
  if (compiled) {
    const bool stored = step_.outcome == Outcome::miss;
    lease_->end({stored ? lease::Verdict::published : lease::Verdict::not_stored});
  } else if (step_.reason == Reason::compile_failed && is_deterministic(compiled.error())) {
    lease_->end(
        {lease::Verdict::failed, compiled.error().plugin_code(), compiled.error().message()});
  }
  // Without a verdict those who wait try for themselves.
  lease_.reset();
}

}  // namespace precast::cache
