#include "stats/recorder.h"

#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/guard.h"
#include "base/per_process.h"
#include "base/periodic.h"
#include "precast/stats.h"
#include "stats/fold.h"
#include "stats/folder.h"
#include "stats/snapshot.h"

namespace precast::stats {
namespace {

std::int64_t now_unix_s() { return ::time(nullptr); }

// At the end of a process another thread may hold a mutex and never run again.
class PatientLock {
 public:
  explicit PatientLock(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
    constexpr int kTries = 500;
    for (int i = 0; i < kTries && !lock_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      (void)lock_.try_lock();
    }
  }
  explicit operator bool() const { return lock_.owns_lock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

// The recorders of one process.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Recorder>> shared;  // by folder
  std::set<Recorder*> all;
};

// Made when the library is loaded, since a fork may come in between later, and never destroyed,
// since objects of static life end in any order.
base::PerProcess<Registry>& registries = *new base::PerProcess<Registry>();

Registry& registry() { return registries.here(); }

std::atomic<bool> at_exit_only = false;
std::atomic<bool> hooked = false;  // to the end of the process

}  // namespace

// What one process counted.
struct Recorder::State {
  const std::uint64_t process = base::process_number();

  std::mutex mutex;
  Totals pending;  // guarded by mutex: not in the file yet

  std::mutex writing;
  std::string file;  // guarded by writing, as is what follows
  Totals written;    // in the file

  // Whether a write hangs, which goes on using this.
  std::atomic<bool> hangs = false;

  base::Periodic beat;  // the last member: its calls use the others

  Totals take_pending();
  void give_back(Totals taken);
  bool write(const std::string& state_directory, const Totals& fresh);
  void flush(const std::string& state_directory);
};

Totals Recorder::State::take_pending() {
  const PatientLock lock(mutex);
  return lock ? std::exchange(pending, Totals()) : Totals();
}

void Recorder::State::give_back(Totals taken) {
  const PatientLock lock(mutex);
  if (!lock) return;
  taken.add(pending);
  pending = std::move(taken);
  pending.fit(now_unix_s());
}

bool Recorder::State::write(const std::string& state_directory, const Totals& fresh) {
  auto folder = Folder::open(state_directory, IfMissing::make);
  if (!folder) return false;
  // A file that is not there any more was moved away, by reset_stats() or by a fold, and what it
  // held is counted there. Folds take no file that was written lately, so that an old one is left
  // to them.
  const std::optional<std::int64_t> age = file.empty() ? std::nullopt : (*folder)->age_s(file);
  const bool fresh_file = !age || *age > kDay;
  if (fresh_file) {
    file = new_process_file();
    written = Totals();
  }
  Snapshot snapshot{.totals = written, .folded = {}};
  snapshot.totals.add(fresh);
  snapshot.totals.fit(now_unix_s());
  if (!(*folder)->write(file, snapshot.encode_bounded(now_unix_s()), base::Flush::no)) {
    return false;
  }
  written = std::move(snapshot.totals);
  if (fresh_file) fold(**folder, kFoldFiles, now_unix_s());
  return true;
}

void Recorder::State::flush(const std::string& state_directory) {
  const PatientLock lock(writing);
  if (!lock) return;
  struct Attempt {
    Totals fresh;
    bool written = false;
  };
  auto attempt = std::make_shared<Attempt>(Attempt{take_pending()});
  const auto folder = folder_path(state_directory);
  if (hangs || !folder || attempt->fresh.empty()) return;
  // What a write that hangs has counted is lost, as is all that comes after it.
  hangs = !base::do_if_it_answers(*folder, [this, state_directory, attempt] {
    attempt->written = write(state_directory, attempt->fresh);
  });
  if (!hangs && !attempt->written) give_back(std::move(attempt->fresh));
}

Recorder::Recorder(std::string state_directory, std::chrono::milliseconds period)
    : state_directory_(std::move(state_directory)), period_(period), state_(nullptr) {
  here();
}

Recorder::~Recorder() {
  Registry& mine = registry();
  {
    const std::lock_guard lock(mine.mutex);
    mine.all.erase(this);
  }
  State* state = state_.load(std::memory_order_acquire);
  if (state->process != base::process_number()) {
    base::leave_to_parent(state);
    return;
  }
  state->beat.stop();
  state->flush(state_directory_);
  if (!state->hangs) delete state;
}

Recorder::State& Recorder::here() {
  State* found = state_.load(std::memory_order_acquire);
  if (found != nullptr && found->process == base::process_number()) return *found;
  auto fresh = std::make_unique<State>();
  State* seen = found;
  if (!state_.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel)) return *seen;
  if (found != nullptr) base::leave_to_parent(found);
  // Without a thread it is written at the end alone.
  if (!at_exit_only) {
    auto beat = base::Periodic::start(period_, [this] { flush(); });
    if (beat) fresh->beat = std::move(beat).value();
  }
  Registry& mine = registry();
  const std::lock_guard lock(mine.mutex);
  mine.all.insert(this);
  return *fresh.release();
}

std::shared_ptr<Recorder> Recorder::of(const std::string& state, std::chrono::milliseconds period) {
  auto path = folder_path(state);
  if (!path) return nullptr;
  // Not in the initializer of a static, which is a lock. Twice does no harm.
  if (!hooked) hooked = std::atexit(at_exit) == 0;
  Registry& mine = registry();
  {
    const std::lock_guard lock(mine.mutex);
    if (auto known = mine.shared[*path].lock()) return known;
  }
  // Outside of the lock, which its constructor takes.
  std::shared_ptr<Recorder> fresh(new Recorder(state, period));
  std::shared_ptr<Recorder> known;  // outlives the lock: its end takes it
  const std::lock_guard lock(mine.mutex);
  known = mine.shared[*path].lock();
  if (known) return known;
  mine.shared[*path] = fresh;
  return fresh;
}

void Recorder::count(const Event& event) {
  State& state = here();
  const std::lock_guard lock(state.mutex);
  state.pending.count(event, now_unix_s());
}

void Recorder::flush() { here().flush(state_directory_); }

void Recorder::at_exit() { flush_recorders(); }

void flush_recorders() {
  Registry& mine = registry();
  const PatientLock lock(mine.mutex);
  if (!lock) return;
  for (Recorder* recorder : mine.all) recorder->flush();
}

}  // namespace precast::stats

namespace precast {

void write_stats_at_exit_only() { stats::at_exit_only = true; }

}  // namespace precast
