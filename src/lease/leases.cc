#include "lease/leases.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/periodic.h"
#include "lease/file_wait.h"
#include "lease/flight.h"
#include "lease/process.h"
#include "store/store.h"

namespace precast::lease {
namespace {

using Clock = std::chrono::steady_clock;

// How long a follower sleeps before it asks whether it was cancelled, and before it tells.
constexpr std::chrono::milliseconds kCancelPeriod{250};
constexpr std::chrono::milliseconds kTellPeriod{1000};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Nothing for a limit that no wait reaches.
std::optional<Clock::time_point> deadline_of(Clock::time_point start, double limit_s) {
  constexpr double kForever = 1e9;
  if (!(limit_s < kForever)) return std::nullopt;
  return start + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(std::max(0.0, limit_s)));
}

std::string told(const Owner& owner) {
  return owner.label.empty() ? owner.program : owner.program + " (" + owner.label + ")";
}

Waiting as_leader(const std::string& label) {
  const Owner self = this_process(label);
  return {.host = self.host, .pid = self.pid, .who = told(self)};
}

// One call of acquire().
class Attempt {
 public:
  Attempt(store::DirectoryStore& store, const Timing& timing, std::string key,
          const WaitOptions& options)
      : store_(store),
        timing_(timing),
        key_(std::move(key)),
        options_(options),
        deadline_(deadline_of(start_, options.limit_s)) {}

  Result<Acquired> run();

 private:
  Result<Acquired> lead(const std::shared_ptr<Flight>& flight);
  // Nothing when the flight left the question open.
  Result<std::optional<Acquired>> follow(const Flight& flight);
  Acquired end(Acquired::How how) const;

  store::DirectoryStore& store_;
  const Timing& timing_;
  const std::string key_;
  const WaitOptions& options_;
  const Clock::time_point start_ = Clock::now();
  const std::optional<Clock::time_point> deadline_;
  bool waited_ = false;
  Waiting holder_;
  Flights& flights_ = Flights::of_this_process();
};

Result<Acquired> Attempt::run() {
  const std::string id = store_.path() + "\n" + key_;
  while (true) {
    const Flights::Seat seat = flights_.join(id, as_leader(options_.label));
    if (seat.leads) return lead(seat.flight);
    waited_ = true;
    PRECAST_ASSIGN(std::optional<Acquired> done, follow(*seat.flight));
    if (done) return *std::move(done);
  }
}

Acquired Attempt::end(Acquired::How how) const {
  Acquired acquired;
  acquired.how = how;
  if (how != Acquired::How::held) acquired.holder = holder_;
  if (waited_) acquired.waited_s = seconds_since(start_);
  return acquired;
}

Result<Acquired> Attempt::lead(const std::shared_ptr<Flight>& flight) {
  const auto on_waiting = [&](const Waiting& waiting) {
    flights_.set_status(*flight, waiting);
    if (options_.on_waiting) options_.on_waiting(waiting);
  };
  FileWait wait(store_, timing_,
                {.key = key_,
                 .label = options_.label,
                 .start = start_,
                 .deadline = deadline_,
                 .on_waiting = on_waiting,
                 .cancelled = options_.cancelled});
  Result<FileWait::End> got = wait.run();
  if (!got) {
    flights_.finish(*flight, std::nullopt, got.error());
    return std::move(got).error();
  }
  if (got->waited) waited_ = true;
  holder_ = got->holder;
  Acquired acquired;
  switch (got->how) {
    case FileWait::End::How::held:
      acquired = end(Acquired::How::held);
      flights_.set_status(*flight, as_leader(options_.label));
      acquired.lease.emplace(std::move(got->lease), flight, got->taken_over);
      return acquired;
    case FileWait::End::How::ended:
      acquired = end(Acquired::How::ended);
      acquired.ending = std::move(got->ending);
      flights_.set_status(*flight, got->holder);
      break;
    case FileWait::End::How::limit: acquired = end(Acquired::How::limit); break;
    case FileWait::End::How::cancelled: acquired = end(Acquired::How::cancelled); break;
  }
  flights_.finish(*flight, acquired.ending, std::nullopt);
  return acquired;
}

Result<std::optional<Acquired>> Attempt::follow(const Flight& flight) {
  Clock::time_point told = start_;
  for (bool over = false; !over;) {
    if (options_.cancelled && options_.cancelled()) {
      return std::optional(end(Acquired::How::cancelled));
    }
    const Clock::time_point now = Clock::now();
    Clock::duration slice = options_.cancelled ? kCancelPeriod : kTellPeriod;
    if (deadline_) slice = std::min(slice, *deadline_ - now);
    if (slice <= Clock::duration::zero()) return std::optional(end(Acquired::How::limit));
    over = flights_.wait_for(flight, slice);
    holder_ = flights_.status(flight);
    holder_.waited_s = seconds_since(start_);
    if (over) break;
    // Whoever watches this thread's calls sees that the store answers, and not that it hangs.
    static_cast<void>(store_.find_layout_folder());
    if (options_.on_waiting && Clock::now() - told >= kTellPeriod) {
      told = Clock::now();
      options_.on_waiting(holder_);
    }
  }
  // Nobody changes a flight that is over.
  if (flight.error) return *flight.error;
  if (!flight.ending) return std::optional<Acquired>();
  Acquired acquired = end(Acquired::How::ended);
  acquired.ending = flight.ending;
  return std::optional(std::move(acquired));
}

}  // namespace

Lease::Lease(std::unique_ptr<FileLease> file, std::shared_ptr<Flight> flight, bool taken_over)
    : file_(std::move(file)), flight_(std::move(flight)), taken_over_(taken_over) {}

Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  finish(std::nullopt);
  file_ = std::move(other.file_);
  flight_ = std::move(other.flight_);
  taken_over_ = other.taken_over_;
  return *this;
}

Lease::~Lease() { finish(std::nullopt); }

bool Lease::lost() const { return file_ == nullptr || file_->lost(); }

void Lease::end(const Ending& ending) { finish(ending); }

void Lease::land(const std::optional<Ending>& ending) {
  if (flight_ != nullptr && flight_->process == base::process_number()) {
    Flights::of_this_process().finish(*flight_, ending, std::nullopt);
  }
  flight_.reset();
}

void Lease::finish(const std::optional<Ending>& ending) {
  // This process's own threads first: what comes then may hang with the file system.
  land(ending);
  if (file_ != nullptr) file_->end(ending);
  file_.reset();
}

void Lease::abandon() {
  land(std::nullopt);
  if (file_ != nullptr) FileLease::abandon(std::move(file_));
}

Result<Acquired> Leases::acquire(const std::string& key, const WaitOptions& options) {
  PRECAST_TRY(store::check_name(key));
  return Attempt(store_, timing_, key, options).run();
}

}  // namespace precast::lease
