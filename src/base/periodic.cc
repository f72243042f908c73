#include "base/periodic.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/per_process.h"

namespace precast::base {

using Clock = std::chrono::steady_clock;

// The calls of one lane of one process and the thread that makes them. Never destroyed: at the end
// of a process the thread may still be there, and a child cannot destroy what the parent's threads
// had locked at the fork.
class Scheduler {
 public:
  Result<std::uint64_t> add(std::chrono::milliseconds period, std::function<void()> call);
  void remove(std::uint64_t id);
  void abandon(std::uint64_t id);

 private:
  using Call = std::shared_ptr<const std::function<void()>>;
  struct Entry {
    std::chrono::milliseconds period;
    Clock::time_point next;
    Call call;
  };
  struct Worker {
    Scheduler* scheduler = nullptr;
    pthread_t thread{};
    bool retired = false;  // whoever retired it joins or detaches it
  };

  static void* enter(void* worker);
  void work(const Worker& self);
  void call_due(const Worker& self, std::unique_lock<std::mutex>& lock);
  Result<void> start_worker();
  Call take_out(std::uint64_t id);
  bool is_in_a_call(const Worker& worker) const;

  std::mutex mutex_;
  std::condition_variable changed_;   // for the thread: an entry came, or the last one went
  std::condition_variable returned_;  // for remove(): a call returned
  std::map<std::uint64_t, Entry> entries_;
  // By entry; more than one only while retired threads have not ended.
  std::map<std::uint64_t, const Worker*> running_;
  std::uint64_t last_id_ = 0;
  Worker* worker_ = nullptr;
};

namespace {

// Those of one process, by lane. Never destroyed.
struct Lanes {
  std::mutex mutex;
  std::map<std::string, Scheduler> schedulers;
};

std::atomic<std::uint64_t> process_count = 1;
thread_local const Scheduler* works_for = nullptr;
std::atomic<Lanes*> current = nullptr;
std::atomic<Lanes*> of_parent = nullptr;

// Async-signal-safe: allocates nothing.
void in_child() {
  process_count.fetch_add(1, std::memory_order_relaxed);
  Lanes* last = current.exchange(nullptr, std::memory_order_acq_rel);
  if (last != nullptr) of_parent.store(last, std::memory_order_release);
}

// Runs when the library is loaded: before anybody can ask for a number and then fork.
const bool watches_forks = ::pthread_atfork(nullptr, nullptr, in_child) == 0;

Lanes& lanes() {
  Lanes* found = current.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  auto fresh = std::make_unique<Lanes>();
  if (!current.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
    return *found;
  }
  if (Lanes* left = of_parent.exchange(nullptr)) leave_to_parent(left);
  return *fresh.release();
}

Scheduler& scheduler_of(const std::string& lane) {
  Lanes& all = lanes();
  const std::lock_guard lock(all.mutex);
  return all.schedulers[lane];
}

}  // namespace

void* Scheduler::enter(void* worker) {
  const std::unique_ptr<Worker> self(static_cast<Worker*>(worker));
  works_for = self->scheduler;
  ::pthread_setname_np(::pthread_self(), "precast");
  self->scheduler->work(*self);
  return nullptr;
}

void Scheduler::work(const Worker& self) {
  std::unique_lock lock(mutex_);
  while (!self.retired && !entries_.empty()) call_due(self, lock);
  if (self.retired) return;
  // The last entry was removed from its own call, so nobody waits for this thread.
  ::pthread_detach(self.thread);
  worker_ = nullptr;
}

void Scheduler::call_due(const Worker& self, std::unique_lock<std::mutex>& lock) {
  const auto due =
      std::min_element(entries_.begin(), entries_.end(),
                       [](const auto& a, const auto& b) { return a.second.next < b.second.next; });
  if (due->second.next > Clock::now()) {
    const Clock::time_point next = due->second.next;  // the entry may go meanwhile
    changed_.wait_until(lock, next);
    return;
  }
  const std::uint64_t id = due->first;
  auto call = due->second.call;
  running_.emplace(id, &self);
  lock.unlock();
  (*call)();
  call.reset();  // what it holds may stop other registrations
  lock.lock();
  running_.erase(id);
  if (const auto still = entries_.find(id); still != entries_.end()) {
    still->second.next = Clock::now() + still->second.period;
  }
  returned_.notify_all();
}

Result<void> Scheduler::start_worker() {
  auto worker = std::make_unique<Worker>();
  worker->scheduler = this;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&worker->thread, nullptr, enter, worker.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return Error(ErrorCode::resource_exhausted,
                 errno_error(error, "cannot start a thread").message());
  }
  worker_ = worker.release();  // the thread deletes it
  return {};
}

Result<std::uint64_t> Scheduler::add(std::chrono::milliseconds period, std::function<void()> call) {
  period = std::max(period, std::chrono::milliseconds(1));
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = ++last_id_;
  entries_.emplace(id, Entry{period, Clock::now() + period,
                             std::make_shared<const std::function<void()>>(std::move(call))});
  if (worker_ == nullptr) {
    if (auto started = start_worker(); !started) {
      entries_.erase(id);
      return std::move(started).error();
    }
  }
  changed_.notify_all();
  return id;
}

Scheduler::Call Scheduler::take_out(std::uint64_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  Call call = std::move(found->second.call);
  entries_.erase(found);
  return call;
}

bool Scheduler::is_in_a_call(const Worker& worker) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&worker](const auto& running) { return running.second == &worker; });
}

void Scheduler::remove(std::uint64_t id) {
  // Destroyed after the lock is gone: what it holds may stop other registrations.
  Call call;
  std::unique_lock lock(mutex_);
  call = take_out(id);
  if (works_for == this) return;
  returned_.wait(lock, [this, id] { return !running_.contains(id); });
  // Somebody may have registered while this thread waited.
  if (!entries_.empty() || worker_ == nullptr) return;
  Worker* ending = std::exchange(worker_, nullptr);
  ending->retired = true;
  const pthread_t thread = ending->thread;
  changed_.notify_all();
  if (is_in_a_call(*ending)) {
    // In that of another one, whose remover waits for it, and which may hang.
    ::pthread_detach(thread);
    return;
  }
  lock.unlock();
  ::pthread_join(thread, nullptr);
}

void Scheduler::abandon(std::uint64_t id) {
  // As above, but for a call that runs, which may hold what it uses.
  Call call;
  const std::lock_guard lock(mutex_);
  call = take_out(id);
  const auto running = running_.find(id);
  if (running == running_.end() || running->second != worker_ || works_for == this) {
    changed_.notify_all();
    return;
  }
  worker_->retired = true;
  ::pthread_detach(worker_->thread);
  worker_ = nullptr;
  // Without a thread now, the others get one with the next registration.
  if (!entries_.empty()) static_cast<void>(start_worker());
}

std::uint64_t process_number() { return process_count.load(std::memory_order_relaxed); }

Result<Periodic> Periodic::start(std::chrono::milliseconds period, std::function<void()> call,
                                 const std::string& lane) {
  if (!watches_forks) {
    return Error(ErrorCode::resource_exhausted, "no memory to notice when this process forks");
  }
  Scheduler& scheduler = scheduler_of(lane);
  PRECAST_ASSIGN(const std::uint64_t number, scheduler.add(period, std::move(call)));
  return Periodic({process_number(), &scheduler, number});
}

Periodic::Periodic(Periodic&& other) noexcept
    : process_(other.process_), scheduler_(other.scheduler_), number_(other.number_.exchange(0)) {}

Periodic& Periodic::operator=(Periodic&& other) noexcept {
  if (this == &other) return *this;
  stop();
  process_ = other.process_;
  scheduler_ = other.scheduler_;
  number_ = other.number_.exchange(0);
  return *this;
}

void Periodic::Id::abandon() const {
  if (number != 0 && process == process_number()) scheduler->abandon(number);
}

void Periodic::stop() {
  const std::uint64_t number = number_;
  if (number != 0 && process_ == process_number()) scheduler_->remove(number);
}

}  // namespace precast::base
