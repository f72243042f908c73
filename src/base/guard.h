// Guard: asks a file system that may never answer, and gives up in time.
//
//   Guard guard("/mnt/cache", kSilence);
//   Result<Bytes> bytes = guard.run<Bytes>([=] { return read(path); });
//
// Each piece of work runs on a thread of the guard's. As long as its system calls return, however
// slowly, it is waited for; when none has returned for the silence, it is left alone with its
// thread, and from then on this process asks nothing of that path any more, whichever guard it has
// for it: one silence per process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/per_process.h"
#include "precast/error.h"
#include "precast/result.h"

namespace precast::base {

// A call that has not returned for so long will not.
inline constexpr std::chrono::milliseconds kSilence{10'000};

// What one thread's calls have come to. Read by others.
class Progress {
 public:
  // How many calls have returned.
  std::uint64_t calls() const { return calls_; }
  // How much longer than others the call may take that is going on.
  std::chrono::milliseconds allowance() const { return std::chrono::milliseconds(allowance_ms_); }

  void moved() { ++calls_; }
  void allow(std::chrono::milliseconds more) { allowance_ms_ = more.count(); }

  // Bytes that this piece of work has written; of its own thread alone.
  std::uint64_t written = 0;

  // That of the work on this thread; null: nobody counts.
  static Progress* here();
  static void count_here(Progress* progress);

 private:
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::int64_t> allowance_ms_ = 0;
};

// Thread-safe. At its end it does not wait for work that hangs.
class Guard {
 public:
  Guard(std::string path, std::chrono::milliseconds silence);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // What `work` returned; deadline_exceeded once the path hangs, and when there can be no thread
  // resource_exhausted. `work` goes on after that: it owns what it uses, or shares it, and makes
  // its calls through something that counts them (store::CountingOps), or all of it takes less.
  // What it throws is resource_exhausted or internal. `meanwhile` is called by this thread again
  // and again while it waits, twenty times in a silence.
  template <typename T>
  Result<T> run(std::function<Result<T>()> work, const std::function<void()>& meanwhile = {});

  // Whether any path hangs.
  static bool any_hung();

  // Why nothing is asked any more; nothing while the path answers.
  std::optional<Error> hung() const;

  // Ends the threads that have nothing to do; later work starts others.
  void rest();

 private:
  class Pool;
  // A forked child has none of its parent's threads.
  struct Threads {
    std::shared_ptr<Pool> pool;
    Threads();
  };

  // Runs it to its end, or says why it was not.
  Result<void> run_erased(std::function<void()> work, const std::function<void()>& meanwhile);

  const std::string path_;
  const std::chrono::milliseconds silence_;
  base::PerProcess<Threads> threads_;
};

template <typename T>
Result<T> Guard::run(std::function<Result<T>()> work, const std::function<void()>& meanwhile) {
  // Shared: work that hangs may write its result long after the caller has gone.
  auto result = std::make_shared<std::optional<Result<T>>>();
  PRECAST_TRY(run_erased([result, work = std::move(work)] { result->emplace(work()); }, meanwhile));
  return std::move(**result);
}

// Whether a file system by this number (statfs' f_type) is known to be this machine's own.
bool is_local(std::uint32_t magic);

// Does `work` on files in `folder`, which may not be there yet: small files besides the store.
// Where the folder lies on this machine's own file systems, as is found out once, that is all;
// elsewhere under a guard. False when it hangs, or did before: then it is as if there were no such
// folder, and `work`, which owns what it uses, may still be going on.
bool do_if_it_answers(const std::string& folder, std::function<void()> work);

}  // namespace precast::base
