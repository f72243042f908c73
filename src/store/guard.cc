#include "store/guard.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/file.h"

namespace precast::store {
namespace {

using Clock = std::chrono::steady_clock;

// Paths that hang, for the life of a process; a child may try again.
struct Breakers {
  std::mutex mutex;
  std::map<std::string, Clock::duration> open;  // by path: how long there was no answer
};

// Made when the library is loaded, since a fork may come in between later, and never destroyed,
// since objects of static life end in any order.
base::PerProcess<Breakers>& all_breakers = *new base::PerProcess<Breakers>();

Breakers& breakers() { return all_breakers.here(); }

Error hangs(const std::string& path, Clock::duration silence) {
  const std::chrono::duration<double> seconds = silence;
  return Error(ErrorCode::deadline_exceeded,
               fmt::format("'{}' hangs: a system call has not returned for {:.3g} s; this process "
                           "asks nothing of it any more. Is its server or its mount alive?",
                           path, seconds.count()));
}

}  // namespace

// The threads of one guard in one process, which share it.
class Guard::Pool : public std::enable_shared_from_this<Guard::Pool> {
 public:
  // False when nothing returned for `silence`; then `work` may still be going on.
  Result<bool> run(std::function<void()> work, std::chrono::milliseconds silence);
  void rest();

 private:
  struct Job {
    std::function<void()> work;
    Progress progress;
    bool done = false;
    bool abandoned = false;
    std::condition_variable returned;
  };
  struct Worker {
    std::shared_ptr<Pool> pool;
    pthread_t thread{};
    std::shared_ptr<Job> job;
    bool retired = false;
    std::condition_variable changed;
  };

  static void* enter(void* worker);
  void work(const std::shared_ptr<Worker>& self);
  Result<std::shared_ptr<Worker>> give(const std::shared_ptr<Job>& job);
  static bool wait_for(std::unique_lock<std::mutex>& lock, Job& job,
                       std::chrono::milliseconds silence);

  std::mutex mutex_;  // guards all that follows, and the plain members of jobs and workers
  std::vector<std::shared_ptr<Worker>> idle_;
};

void* Guard::Pool::enter(void* argument) {
  const std::unique_ptr<std::shared_ptr<Worker>> given(
      static_cast<std::shared_ptr<Worker>*>(argument));
  const std::shared_ptr<Worker> self = *given;
  const std::shared_ptr<Pool> pool = std::exchange(self->pool, nullptr);
  ::pthread_setname_np(::pthread_self(), "precast-store");
  pool->work(self);
  return nullptr;
}

void Guard::Pool::work(const std::shared_ptr<Worker>& self) {
  std::unique_lock lock(mutex_);
  while (true) {
    self->changed.wait(lock, [&] { return self->job || self->retired; });
    if (!self->job) return;
    const std::shared_ptr<Job> job = std::exchange(self->job, nullptr);
    lock.unlock();
    Progress::count_here(&job->progress);
    job->work();
    job->work = nullptr;
    Progress::count_here(nullptr);
    lock.lock();
    if (job->abandoned) return;  // and detached
    idle_.push_back(self);
    job->done = true;
    job->returned.notify_one();
  }
}

Result<std::shared_ptr<Guard::Pool::Worker>> Guard::Pool::give(const std::shared_ptr<Job>& job) {
  if (!idle_.empty()) {
    std::shared_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    worker->job = job;
    worker->changed.notify_one();
    return worker;
  }
  auto worker = std::make_shared<Worker>();
  worker->pool = shared_from_this();
  worker->job = job;
  auto argument = std::make_unique<std::shared_ptr<Worker>>(worker);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&worker->thread, nullptr, enter, argument.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    worker->pool.reset();
    return Error(ErrorCode::resource_exhausted,
                 base::errno_error(error, "cannot start a thread").message());
  }
  static_cast<void>(argument.release());  // the thread's now
  return worker;
}

// In steps, of which each counts for no more than it should have taken: a process that was stopped,
// or got no processor for a while, is not mistaken for a store that hangs.
bool Guard::Pool::wait_for(std::unique_lock<std::mutex>& lock, Job& job,
                           std::chrono::milliseconds silence) {
  constexpr int kSteps = 20;
  const std::chrono::milliseconds step = std::max(silence / kSteps, std::chrono::milliseconds(1));
  std::uint64_t seen = job.progress.calls();
  Clock::duration silent{};
  while (!job.done) {
    const Clock::time_point before = Clock::now();
    job.returned.wait_for(lock, step);
    if (job.done) break;
    const Clock::duration took = Clock::now() - before;
    silent += std::min<Clock::duration>(took, 2 * step);
    if (const std::uint64_t now = job.progress.calls(); now != seen) {
      seen = now;
      silent = {};
    }
    if (silent >= silence + job.progress.allowance()) return false;
  }
  return true;
}

Result<bool> Guard::Pool::run(std::function<void()> work, std::chrono::milliseconds silence) {
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  std::unique_lock lock(mutex_);
  PRECAST_ASSIGN(const std::shared_ptr<Worker> worker, give(job));
  if (wait_for(lock, *job, silence)) return true;
  job->abandoned = true;
  ::pthread_detach(worker->thread);
  return false;
}

void Guard::Pool::rest() {
  std::unique_lock lock(mutex_);
  const std::vector<std::shared_ptr<Worker>> ending = std::exchange(idle_, {});
  for (const std::shared_ptr<Worker>& worker : ending) {
    worker->retired = true;
    worker->changed.notify_one();
  }
  lock.unlock();
  for (const std::shared_ptr<Worker>& worker : ending) ::pthread_join(worker->thread, nullptr);
}

Guard::Threads::Threads() : pool(std::make_shared<Pool>()) {}

Guard::Guard(std::string path, std::chrono::milliseconds silence)
    : path_(std::move(path)), silence_(silence) {}

Guard::~Guard() { rest(); }

void Guard::rest() { threads_.here().pool->rest(); }

std::optional<Error> Guard::hung() const {
  Breakers& all = breakers();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(path_);
  if (found == all.open.end()) return std::nullopt;
  return hangs(path_, found->second);
}

Result<void> Guard::run_erased(std::function<void()> work) {
  if (std::optional<Error> why = hung()) return *std::move(why);
  const std::shared_ptr<Pool> pool = threads_.here().pool;
  PRECAST_ASSIGN(const bool returned, pool->run(std::move(work), silence_));
  if (returned) return {};
  Breakers& all = breakers();
  const std::lock_guard lock(all.mutex);
  all.open.emplace(path_, silence_);
  return hangs(path_, silence_);
}

}  // namespace precast::store
