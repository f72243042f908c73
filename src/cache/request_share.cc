// Request: one compile per key. Who misses asks for the lease; the others wait for how the compile
// of its holder ends.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cache/marks.h"
#include "cache/phases.h"
#include "cache/request.h"
#include "lease/leases.h"

namespace precast::cache {
namespace {

// How often a request waits again because an entry that was published is not there any more.
constexpr int kMaxWaits = 3;

// Another thread has the number of this process.
std::string told(const Waiting& holder) {
  if (holder.pid == 0) return "somebody whose lease cannot be read";
  return fmt::format("process {} on {}", holder.pid, holder.host);
}

}  // namespace

// A wait on a store that hangs is left behind with its thread (base/guard.h): it shares this, and
// nothing else of the request.
struct Request::Wait {
  std::mutex mutex;
  bool over = false;
  bool given_up = false;        // by the caller
  std::optional<Waiting> news;  // for the thread of the request, which alone calls back
};

void Request::tell(const Waiting& waiting) {
  if (!cache_.config.on_waiting) return;
  try {
    cache_.config.on_waiting(waiting);
  } catch (...) {
    cache_.warn_once("on_waiting", "on_waiting threw an exception, which was dropped");
  }
}

Result<lease::Acquired> Request::acquire() {
  const auto shared = std::make_shared<Wait>();
  lease::WaitOptions wait;
  wait.limit_s = cache_.config.wait_limit_s;
  wait.label = wishes_.label;
  if (cache_.store->is_guarded()) {
    wait.on_waiting = [shared](const Waiting& waiting) {
      const std::lock_guard lock(shared->mutex);
      shared->news = waiting;
    };
  } else {
    wait.on_waiting = [this](const Waiting& waiting) { tell(waiting); };
  }
  const auto meanwhile = [this, &shared] {
    const bool given_up = runtime_.cancelled();
    std::unique_lock lock(shared->mutex);
    if (given_up) shared->given_up = shared->over = true;
    const std::optional<Waiting> news = std::exchange(shared->news, std::nullopt);
    lock.unlock();
    if (news) tell(*news);
  };
  // The runtime is asked by the thread of the request alone.
  const Runtime* asked = cache_.store->is_guarded() ? nullptr : &runtime_;
  wait.cancelled = [shared, asked] {
    const bool given_up = asked != nullptr && asked->cancelled();
    const std::lock_guard lock(shared->mutex);
    if (given_up) shared->given_up = shared->over = true;
    return shared->over;
  };
  const auto start = std::chrono::steady_clock::now();
  auto got = cache_.store->ask<lease::Acquired>(
      [key = report_.key->hex(), wait](store::DirectoryStore& store) -> Result<lease::Acquired> {
        auto acquired = lease::Leases(store).acquire(key, wait);
        // Nobody is there to use it: it is given back here.
        if (wait.cancelled()) return Error(ErrorCode::deadline_exceeded, "nobody waits any more");
        return acquired;
      },
      meanwhile);
  {
    const std::lock_guard lock(shared->mutex);
    shared->over = true;
    gave_up_ = shared->given_up;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (got) holder_ = got->holder;
  const bool at_once = got && got->waited_s == 0;
  report_.phases.push_back({at_once ? "lease" : "wait", took.count()});
  return got;
}

void Request::give_back(lease::Lease lease, std::optional<lease::Ending> ending) {
  struct Held {
    explicit Held(lease::Lease given) : lease(std::move(given)) {}
    lease::Lease lease;
    std::atomic<bool> taken = false;  // by whoever ends or abandons it
  };
  const lease::FileLease::Ties ties = lease.ties();
  auto held = std::make_shared<Held>(std::move(lease));
  const auto ended = cache_.store->ask<bool>(
      [held, ending = std::move(ending)](store::DirectoryStore&) -> Result<bool> {
        if (held->taken.exchange(true)) return false;
        if (ending) held->lease.end(*ending);
        held->lease = lease::Lease(nullptr, nullptr, false);
        return true;
      });
  if (ended) return;
  // The store hangs, and so would the end of the lease here. Others find out that nobody touches it
  // any more.
  if (held->taken.exchange(true)) {
    // That thread may go on, and ends what is left then.
    ties.cut();
  } else {
    held->lease.abandon();
  }
  // A beat that hangs uses it.
  cache_.store->keep();
}

Result<std::optional<RuntimeExecutable>> Request::look_again() {
  const Step before = step_;
  const std::string detail = report_.detail;
  const std::size_t phases = report_.phases.size();
  PRECAST_ASSIGN(std::optional<RuntimeExecutable> loaded, look_up());
  if (!loaded && step_.reason == Reason::not_found) {
    // Nothing new: what was found first stays the reason, and it was one look-up in two parts.
    step_ = before;
    report_.detail = detail;
    for (std::size_t i = phases; i-- > 0;) {
      if (report_.phases[i].name != "lookup") continue;
      report_.phases[i].ms += report_.phases[phases].ms;
      break;
    }
    report_.phases.resize(phases);
  }
  return loaded;
}

Result<std::optional<RuntimeExecutable>> Request::share() {
  std::optional<RuntimeExecutable> none;
  if (!cache_.config.leases || step_.action != Action::compile_and_store) return none;
  // Who refreshes wants this very compile.
  if (rules_.policy == Policy::refresh) return none;
  // What could not be stored before is nothing to wait for; each compile tries again.
  const std::optional<Mark> mark = cache_.marks.find(report_.key->hex(), {});
  if (mark && mark->kind == MarkKind::not_serializable) return none;
  for (int waits = 0; waits < kMaxWaits; ++waits) {
    auto got = acquire();
    if (gave_up_) {
      step_ = {Action::return_error, Outcome::error, Reason::cancelled};
      return Error(ErrorCode::unavailable,
                   fmt::format("the caller gave up while {} was compiling this", told(holder_)));
    }
    if (!got) {
      PRECAST_TRY(fault(Stage::lease, std::move(got).error().with("while getting the lease")));
      return none;
    }
    switch (got->how) {
      case lease::Acquired::How::held: return have_lease(*std::move(got->lease));
      case lease::Acquired::How::ended: break;
      case lease::Acquired::How::limit:
      case lease::Acquired::How::cancelled:
        PRECAST_TRY(
            found(Found::wait_limit,
                  fmt::format("{} has been compiling this for {:.0f} s, and this request waits for "
                              "{:.0f} s at most",
                              told(holder_), holder_.holding_s, cache_.config.wait_limit_s)));
        return none;
    }
    const lease::Ending& ending = *got->ending;
    if (ending.verdict == lease::Verdict::failed) {
      step_ = {Action::return_error, Outcome::error, Reason::compile_failed};
      return Error::from_plugin(ending.pjrt_code, ending.message)
          .with(fmt::format("in the compile of {}, which this request waited for", told(holder_)));
    }
    if (ending.verdict == lease::Verdict::not_stored) {
      PRECAST_TRY(found(Found::not_stored_elsewhere, "whoever compiled it first stored nothing"));
      return none;
    }
    PRECAST_ASSIGN(std::optional<RuntimeExecutable> loaded, look_up());
    if (loaded) {
      step_ = on_found(Found::published_elsewhere, rules_);
      report_.detail = fmt::format("compiled by {} while this request waited {:.1f} s",
                                   told(holder_), got->waited_s);
      return loaded;
    }
    if (step_.action != Action::compile_and_store) return none;
  }
  return none;
}

Result<std::optional<RuntimeExecutable>> Request::have_lease(lease::Lease lease) {
  const bool taken_over = lease.taken_over();
  // Whoever had it before may have published after this request looked.
  auto loaded = look_again();
  if (!loaded || *loaded) {
    std::optional<lease::Ending> ending;
    if (loaded) ending = lease::Ending{lease::Verdict::published};
    give_back(std::move(lease), std::move(ending));
    return loaded;
  }
  if (step_.action != Action::compile_and_store) {
    give_back(std::move(lease), std::nullopt);
    return loaded;
  }
  // What is wrong with an entry is the better reason.
  if (taken_over && step_.reason == Reason::not_found) {
    PRECAST_TRY(found(Found::dead_holder, "whoever compiled it before died or fell silent"));
  }
  lease_.emplace(std::move(lease));
  return loaded;
}

void Request::end_lease(const Result<RuntimeExecutable>& compiled) {
  if (!lease_) return;
  std::optional<lease::Ending> ending;
  if (compiled) {
    const bool stored = step_.outcome == Outcome::miss;
    ending = lease::Ending{stored ? lease::Verdict::published : lease::Verdict::not_stored};
  } else if (step_.reason == Reason::compile_failed && is_deterministic(compiled.error())) {
    ending = lease::Ending{lease::Verdict::failed, compiled.error().plugin_code(),
                           compiled.error().message()};
  } else {
    // Memory, a cancellation: nobody else's answer. But one after the other they would wait for
    // each other's failures, so each tries at once.
    ending = lease::Ending{lease::Verdict::not_stored};
  }
  give_back(*std::move(lease_), std::move(ending));
  lease_.reset();
}

}  // namespace precast::cache
