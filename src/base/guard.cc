#include "base/guard.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/file.h"

namespace precast::base {
namespace {

using Clock = std::chrono::steady_clock;

// By the numbers of linux/magic.h. What is missing here is guarded, which costs some microseconds.
constexpr std::array<std::uint32_t, 13> kLocal = {
    0x0000ef53,  // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683e,  // btrfs
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x794c7630,  // overlayfs
    0xf2f52010,  // f2fs
    0x2fc12fc1,  // zfs
    0xca451a4e,  // bcachefs
    0x3153464a,  // jfs
    0x52654973,  // reiserfs
    0x00004d44,  // fat
    0x2011bab0,  // exfat
};

// Paths that hang, for the life of a process; a child may try again.
struct Breakers {
  std::mutex mutex;
  std::map<std::string, Clock::duration> open;  // by path: how long there was no answer
};

// Made when the library is loaded, since a fork may come in between later, and never destroyed,
// since objects of static life end in any order.
PerProcess<Breakers>& all_breakers = *new PerProcess<Breakers>();

Breakers& breakers() { return all_breakers.here(); }

Error hangs(const std::string& path, Clock::duration silence) {
  const std::chrono::duration<double> seconds = silence;
  return Error(ErrorCode::deadline_exceeded,
               fmt::format("'{}' hangs: a system call has not returned for {:.3g} s; this process "
                           "asks nothing of it any more. Is its server or its mount alive?",
                           path, seconds.count()));
}

thread_local Progress* current = nullptr;

}  // namespace

Progress* Progress::here() { return current; }

void Progress::count_here(Progress* progress) { current = progress; }

// The threads of one guard in one process, which share it.
class Guard::Pool : public std::enable_shared_from_this<Guard::Pool> {
 public:
  // False when nothing returned for `silence`; then `work` may still be going on.
  Result<bool> run(std::function<void()> work, std::chrono::milliseconds silence,
                   const std::function<void()>& meanwhile);
  void rest();

 private:
  struct Job {
    std::function<void()> work;
    Progress progress;
    bool done = false;
    std::optional<Error> thrown;
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
                       std::chrono::milliseconds silence, const std::function<void()>& meanwhile);

  std::mutex mutex_;  // guards all that follows, and the plain members of jobs and workers
  std::vector<std::shared_ptr<Worker>> idle_;
};

void* Guard::Pool::enter(void* argument) {
  const std::unique_ptr<std::shared_ptr<Worker>> given(
      static_cast<std::shared_ptr<Worker>*>(argument));
  const std::shared_ptr<Worker>& self = *given;
  const std::shared_ptr<Pool> pool = std::exchange(self->pool, nullptr);
  ::pthread_setname_np(::pthread_self(), "precast-store");
  pool->work(self);
  return nullptr;
}

namespace {

// Nothing may leave a thread but through its end.
std::optional<Error> thrown_by(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted, "no memory for work with the store");
  } catch (...) {
    return Error(ErrorCode::internal, "work with the store threw an exception");
  }
}

}  // namespace

void Guard::Pool::work(const std::shared_ptr<Worker>& self) {
  std::unique_lock lock(mutex_);
  while (true) {
    self->changed.wait(lock, [&] { return self->job || self->retired; });
    if (!self->job) return;
    const std::shared_ptr<Job> job = std::exchange(self->job, nullptr);
    lock.unlock();
    Progress::count_here(&job->progress);
    std::optional<Error> thrown = thrown_by(job->work);
    job->work = nullptr;
    Progress::count_here(nullptr);
    lock.lock();
    if (job->abandoned) return;  // and detached
    idle_.push_back(self);
    job->done = true;
    job->thrown = std::move(thrown);
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
                 errno_error(error, "cannot start a thread").message());
  }
  [[maybe_unused]] const auto* const handed_over = argument.release();
  return worker;
}

// In steps, of which each counts for no more than it should have taken: a process that was stopped,
// or got no processor for a while, is not mistaken for a store that hangs.
bool Guard::Pool::wait_for(std::unique_lock<std::mutex>& lock, Job& job,
                           std::chrono::milliseconds silence,
                           const std::function<void()>& meanwhile) {
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
    if (meanwhile) {
      lock.unlock();
      meanwhile();
      lock.lock();
    }
  }
  return true;
}

Result<bool> Guard::Pool::run(std::function<void()> work, std::chrono::milliseconds silence,
                              const std::function<void()>& meanwhile) {
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  std::unique_lock lock(mutex_);
  PRECAST_ASSIGN(const std::shared_ptr<Worker> worker, give(job));
  if (wait_for(lock, *job, silence, meanwhile)) {
    if (job->thrown) return *std::move(job->thrown);
    return true;
  }
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

bool Guard::any_hung() {
  Breakers& all = breakers();
  const std::lock_guard lock(all.mutex);
  return !all.open.empty();
}

std::optional<Error> Guard::hung() const {
  Breakers& all = breakers();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(path_);
  if (found == all.open.end()) return std::nullopt;
  return hangs(path_, found->second);
}

Result<void> Guard::run_erased(std::function<void()> work, const std::function<void()>& meanwhile) {
  if (std::optional<Error> why = hung()) return *std::move(why);
  const std::shared_ptr<Pool> pool = threads_.here().pool;
  PRECAST_ASSIGN(const bool returned, pool->run(std::move(work), silence_, meanwhile));
  if (returned) return {};
  Breakers& all = breakers();
  const std::lock_guard lock(all.mutex);
  all.open.emplace(path_, silence_);
  return hangs(path_, silence_);
}

bool is_local(std::uint32_t magic) {
  return std::find(kLocal.begin(), kLocal.end(), magic) != kLocal.end();
}

namespace {

// Whether the folder, or what it will be made in, lies on a file system that may never answer.
bool may_hang(std::string folder) {
  while (true) {
    struct statfs status{};
    if (::statfs(folder.c_str(), &status) == 0) {
      return !is_local(static_cast<std::uint32_t>(status.f_type));
    }
    const std::size_t slash = folder.rfind('/');
    if (errno != ENOENT || slash == std::string::npos || folder == "/") return true;
    folder.resize(std::max<std::size_t>(slash, 1));
  }
}

// Where a path hangs already, another that hangs too is most likely the same server.
constexpr std::chrono::milliseconds kSecondSilence{1'000};

// What is known about a folder of small files.
class SmallFiles {
 public:
  explicit SmallFiles(const std::string& folder)
      : patient_(folder, kSilence), brief_(folder, kSecondSilence) {
    const auto found = run<bool>([folder]() -> Result<bool> { return may_hang(folder); });
    guarded_ = !found || *found;
  }
  bool guarded() const { return guarded_; }
  template <typename T>
  Result<T> run(std::function<Result<T>()> work) {
    Guard& guard = Guard::any_hung() ? brief_ : patient_;
    Result<T> result = guard.run<T>(std::move(work));
    guard.rest();
    return result;
  }

 private:
  Guard patient_;
  Guard brief_;
  bool guarded_;
};

struct SmallFilesFolders {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<SmallFiles>> known;
};

PerProcess<SmallFilesFolders>& all_small_files = *new PerProcess<SmallFilesFolders>();

std::shared_ptr<SmallFiles> small_files(const std::string& folder) {
  SmallFilesFolders& all = all_small_files.here();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.known.find(folder); found != all.known.end()) return found->second;
  }
  // It takes a silence, at worst.
  auto fresh = std::make_shared<SmallFiles>(folder);
  const std::lock_guard lock(all.mutex);
  return all.known.emplace(folder, std::move(fresh)).first->second;
}

}  // namespace

bool do_if_it_answers(const std::string& folder, std::function<void()> work) {
  const std::shared_ptr<SmallFiles> files = small_files(folder);
  if (!files->guarded()) {
    work();
    return true;
  }
  const Result<void> done = files->run<void>([work = std::move(work)]() -> Result<void> {
    work();
    return {};
  });
  return done.has_value();
}

}  // namespace precast::base
