#include "lease/file_wait.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "lease/process.h"
#include "store/store.h"

namespace precast::lease {
namespace {

using std::chrono::milliseconds;

// Faults that may pass: how often in one wait, with a pause after each.
constexpr int kMaxFailures = 8;
// How often in one wait the folder is made again that somebody removed.
constexpr int kMaxReopened = 2;
// The name is taken and nothing is there, again and again: no file system that works does that.
constexpr int kMaxAgain = 100;
constexpr int kAgainWithoutPause = 3;
// A process that was stopped, or a machine that slept, has watched nothing meanwhile. So one look
// counts for no more time than this.
constexpr milliseconds kMaxSilencePerLook{1000};
constexpr milliseconds kTellPeriod{1000};

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

milliseconds between(const struct timespec& from, const struct timespec& to) {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::seconds(to.tv_sec - from.tv_sec) +
      std::chrono::nanoseconds(to.tv_nsec - from.tv_nsec));
}

}  // namespace

FileWait::FileWait(store::DirectoryStore& store, const Timing& timing, Request request)
    : store_(store),
      timing_(timing),
      request_(std::move(request)),
      last_look_(request_.start),
      last_told_(request_.start),
      pause_(timing.poll_min) {}

Result<FileWait::End> FileWait::run() {
  while (true) {
    Result<Step> done = step();
    if (!done) {
      if (!may_retry(done.error())) return std::move(done).error();
      done = Step::wait;
    }
    if (*done == Step::done) {
      end_.waited = waited_;
      return std::move(end_);
    }
    waited_ = true;
    if (auto end = over()) return *std::move(end);
    again_ = *done == Step::again ? again_ + 1 : 0;
    if (again_ > kMaxAgain) {
      return Error(ErrorCode::unavailable,
                   "the lease of " + request_.key + " can neither be made nor be found");
    }
    if (*done == Step::wait || again_ > kAgainWithoutPause) pause();
  }
}

Result<void> FileWait::open_folder() {
  PRECAST_ASSIGN(const store::Folder layout, store_.layout_folder());
  PRECAST_ASSIGN(folder_, store::ensure_folder(store_.ops(), layout, kFolder));
  return {};
}

// Each retry begins with opening the folder anew: a stale descriptor is as good as a removed one.
bool FileWait::may_retry(const Error& error) {
  if (error.code() != ErrorCode::unavailable) return false;
  struct stat status{};
  const bool removed =
      folder_ && store_.ops().fstat(folder_->fd.get(), &status) == 0 && status.st_nlink == 0;
  folder_.reset();
  return removed ? ++reopened_ <= kMaxReopened : ++failures_ <= kMaxFailures;
}

Result<FileWait::Step> FileWait::step() {
  if (!folder_) PRECAST_TRY(open_folder());
  return seen_ ? look_again() : try_to_make();
}

Result<std::unique_ptr<FileLease>> FileWait::prepare() {
  return FileLease::prepare(store_.ops(), *folder_, request_.key, this_process(request_.label));
}

Result<FileWait::Step> FileWait::hold(std::unique_ptr<FileLease> own, bool taken_over) {
  PRECAST_TRY(own->hold(timing_.beat));
  end_.how = End::How::held;
  end_.lease = std::move(own);
  end_.taken_over = taken_over;
  return Step::done;
}

// A reader of somebody else's store cannot have a lease, but can wait for one that it sees.
Result<FileWait::Step> FileWait::only_watch(Error why) {
  if (why.code() != ErrorCode::permission_denied) return why;
  auto found = look(store_.ops(), *folder_, request_.key);
  if (!found || !*found || !(*found)->readable || (*found)->record.ending) return why;
  adopt(**std::move(found));
  if (is_gone()) return why;
  return Step::wait;
}

Result<FileWait::Step> FileWait::try_to_make() {
  auto prepared = prepare();
  if (!prepared) return only_watch(std::move(prepared).error());
  std::unique_ptr<FileLease> own = *std::move(prepared);
  PRECAST_ASSIGN(const bool made, own->link());
  if (made) return hold(std::move(own), false);
  PRECAST_ASSIGN(std::optional<Seen> found, look(store_.ops(), *folder_, request_.key));
  if (!found) return Step::again;
  if (own->is(*found)) {
    own->note_linked();
    return hold(std::move(own), false);
  }
  left_behind_ = found->record.ending.has_value();
  adopt(*std::move(found));
  if (left_behind_) return take_over(std::move(own), false);
  PRECAST_ASSIGN(const struct timespec now, own->file_system_time());
  if (between(seen_->status.st_mtim, now) >= timing_.silence || is_gone()) {
    return take_over(std::move(own), true);
  }
  return Step::wait;
}

void FileWait::adopt(Seen seen) {
  seen_ = std::move(seen);
  silent_ = milliseconds(0);
  last_look_ = Clock::now();
  busy_since_.reset();
  pause_ = timing_.poll_min;
}

bool FileWait::has_ended(const Record& record) {
  if (!record.ending || left_behind_) return false;
  end_.how = End::How::ended;
  end_.holder = holder();
  end_.ending = record.ending;
  return true;
}

Result<FileWait::Step> FileWait::look_again() {
  PRECAST_ASSIGN(std::optional<Seen> found, look(store_.ops(), *folder_, request_.key, &*seen_));
  if (!found || !found->is_same_file(*seen_)) {
    if (has_ended(read_again(store_.ops(), *seen_))) return Step::done;
    left_behind_ = false;
    seen_.reset();
    if (!found) return Step::again;
    // Somebody else was faster, and is waited for from now on, unless it went on like this before.
    adopt(*std::move(found));
    if (++followed_ > timing_.follow && !has_ended(seen_->record)) {
      end_.how = End::How::ended;
      end_.holder = holder();
      end_.ending = Ending{Verdict::not_stored};
      return Step::done;
    }
    if (has_ended(seen_->record)) return Step::done;
    return Step::wait;
  }
  const Clock::time_point now = Clock::now();
  if (!is_same_time(seen_->status.st_mtim, found->status.st_mtim)) {
    silent_ = milliseconds(0);
  } else {
    silent_ +=
        std::min(std::chrono::duration_cast<milliseconds>(now - last_look_), kMaxSilencePerLook);
  }
  last_look_ = now;
  seen_ = *std::move(found);
  if (has_ended(seen_->record)) return Step::done;
  const bool gone = silent_ >= timing_.silence || is_gone();
  if (!gone && !left_behind_) return Step::wait;
  PRECAST_ASSIGN(std::unique_ptr<FileLease> own, prepare());
  return take_over(std::move(own), gone);
}

bool FileWait::is_gone() const {
  return seen_->record.owner && is_certainly_dead(*seen_->record.owner);
}

Result<FileWait::Step> FileWait::take_over(std::unique_ptr<FileLease> own, bool from_the_gone) {
  const Clock::time_point now = Clock::now();
  // Whoever has the lock may have been stopped with it.
  const bool with_lock = !busy_since_ || now - *busy_since_ < timing_.silence;
  PRECAST_ASSIGN(const FileLease::Taken taken, own->take_over(*seen_, with_lock));
  switch (taken) {
    case FileLease::Taken::yes: return hold(std::move(own), from_the_gone);
    case FileLease::Taken::busy:
      if (!busy_since_) busy_since_ = now;
      return Step::wait;
    case FileLease::Taken::changed: break;
  }
  busy_since_.reset();
  return Step::wait;
}

Waiting FileWait::holder() const {
  Waiting holder;
  holder.waited_s = seconds(Clock::now() - request_.start);
  holder.holding_s = holder.waited_s;
  if (!seen_ || !seen_->record.owner) return holder;
  const Owner& owner = *seen_->record.owner;
  holder.host = owner.host;
  holder.pid = owner.pid;
  holder.who = owner.label.empty() ? owner.program : owner.program + " (" + owner.label + ")";
  const double unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  holder.holding_s = std::max(0.0, unix_s - static_cast<double>(owner.since_unix_s));
  return holder;
}

void FileWait::tell() {
  const Clock::time_point now = Clock::now();
  if (!request_.on_waiting || !seen_ || now - last_told_ < kTellPeriod) return;
  last_told_ = now;
  request_.on_waiting(holder());
}

std::optional<FileWait::End> FileWait::over() {
  End end;
  end.waited = true;
  end.holder = holder();
  end.how = End::How::cancelled;
  if (request_.cancelled && request_.cancelled()) return end;
  end.how = End::How::limit;
  if (request_.deadline && Clock::now() >= *request_.deadline) return end;
  return std::nullopt;
}

void FileWait::pause() {
  tell();
  Clock::duration pause = pause_;
  if (request_.deadline) pause = std::min(pause, *request_.deadline - Clock::now());
  if (pause > Clock::duration::zero()) std::this_thread::sleep_for(pause);
  pause_ = std::min(timing_.poll_max, pause_ * 3 / 2 + milliseconds(1));
}

}  // namespace precast::lease
