// Leases: one process, and in it one thread, compiles a key; the others wait for how it ends.
//
//   Leases leases(store);
//   PRECAST_ASSIGN(Acquired got, leases.acquire(key, {.limit_s = 3600}));
//   if (got.how == Acquired::How::held) {
//     compile and publish;
//     got.lease->end({Verdict::published});
//   }
//
// A lease saves work and protects nothing: two holders of one key are harmless, since a publish
// replaces a whole entry with an equal one. docs/stores.md has the promises in numbers.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lease/file_lease.h"
#include "lease/record.h"
#include "precast/cache.h"
#include "precast/result.h"
#include "store/directory_store.h"

namespace precast::lease {

struct Flight;

// What this process holds while it compiles. Its end without end() lets those who wait try for
// themselves. In a forked child it does nothing. Not thread-safe but for lost().
class Lease {
 public:
  Lease(std::unique_ptr<FileLease> file, std::shared_ptr<Flight> flight, bool taken_over);
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  // Whether it was that of somebody who died or fell silent.
  bool taken_over() const { return taken_over_; }
  // Whether somebody else took it over, or it was given back by release_leases_on_signal(); known
  // about a second later.
  bool lost() const;
  // Tells those who wait, and gives the lease back. Another time it does nothing.
  void end(const Ending& ending);
  // For a store that does not answer: the threads of this process go on, others find out that
  // nobody touches the lease any more, and release_leases_on_signal() passes it by. Makes no system
  // call. What the store's operations use must stay in memory.
  void abandon();
  // For another thread, while this is being ended and that hangs. Empty when there is no lease.
  FileLease::Ties ties() const { return file_ ? file_->ties() : FileLease::Ties(); }

 private:
  void finish(const std::optional<Ending>& ending);
  void land(const std::optional<Ending>& ending);

  std::unique_ptr<FileLease> file_;
  std::shared_ptr<Flight> flight_;
  bool taken_over_ = false;
};

struct WaitOptions {
  double limit_s = std::numeric_limits<double>::infinity();  // of the whole call; 0: never wait
  std::function<void(const Waiting&)> on_waiting = {};       // about once a second
  std::function<bool()> cancelled = {};  // asked several times a second while waiting
  std::string label = {};                // for those who wait
};

struct Acquired {
  enum class How {
    held,       // compile: there is a lease
    ended,      // somebody else did: there is an ending
    limit,      // the holder is alive and takes longer than the limit
    cancelled,  // as the caller wished
  };
  How how = How::limit;
  std::optional<Lease> lease;
  std::optional<Ending> ending;
  double waited_s = 0;  // 0 when nobody had it
  // Who had it until then, unless this is `held`. A thread of this process has its pid and host.
  Waiting holder;
};

// A file in the folder of leases, for people.
struct LeaseInfo {
  enum class State {
    alive,      // touched a moment ago
    silent,     // not touched for longer than a holder may be
    dead,       // of a process that is certainly gone
    ended,      // of one that could not remove it
    temporary,  // being made, or left behind by one that was killed just then
    foreign,    // not Precast's, and left alone
  };
  std::string name;  // the key; of a file that is no lease its name
  std::string path;
  State state = State::foreign;
  std::optional<Owner> owner = {};  // as far as it can be read
  double age_s = 0;                 // since the last touch
  bool removed = false;
};

// The leases of one store. Thread-safe.
class Leases {
 public:
  // `store` must outlive it.
  explicit Leases(store::DirectoryStore& store, Timing timing = {})
      : store_(store), timing_(timing) {}

  // Blocks until this thread has the lease, or somebody else's compile has ended, or the limit is
  // reached. Errors, each of which means that there can be no lease here now, and that one should
  // compile without: invalid_argument for what is no key; what the folder does not allow
  // (permission_denied) or how it fails (io_error, resource_exhausted, unavailable).
  Result<Acquired> acquire(const std::string& key, const WaitOptions& options);

  // What lies in the folder of leases, by name. Changes nothing.
  Result<std::vector<LeaseInfo>> list();
  // Removes what the dead left, what ended, and what was silent for `silent_s`; with `dry_run` only
  // tells. Gives what was removed or would be. A live holder is never among it.
  Result<std::vector<LeaseInfo>> sweep(bool dry_run, double silent_s = kSweepSilenceSeconds);

  static constexpr double kSweepSilenceSeconds = 3600;

 private:
  store::DirectoryStore& store_;
  const Timing timing_;
};

std::string_view to_string(LeaseInfo::State state);

}  // namespace precast::lease
