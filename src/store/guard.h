// Guard: asks a file system that may never answer, and gives up in time.
//
//   Guard guard("/mnt/cache", kStoreSilence);
//   Result<Bytes> bytes = guard.run<Bytes>([=] { return read(guard.ops(), ...); });
//
// Each piece of work runs on a thread of the guard's. As long as its system calls return, however
// slowly, it is waited for; when none has returned for the silence, it is left alone with its
// thread, and from then on this process asks nothing of that path any more, whichever guard it has
// for it: one silence per process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/per_process.h"
#include "precast/error.h"
#include "precast/result.h"
#include "store/counting_ops.h"

namespace precast::store {

// A call that has not returned for so long will not.
inline constexpr std::chrono::milliseconds kStoreSilence{10'000};

// Thread-safe. At its end it does not wait for work that hangs.
class Guard {
 public:
  Guard(std::string path, std::chrono::milliseconds silence);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // What `work` returned; deadline_exceeded once the path hangs, and when there can be no thread
  // resource_exhausted. `work` goes on after that: it owns what it uses, or shares it, and makes
  // its calls through CountingOps.
  template <typename T>
  Result<T> run(std::function<Result<T>()> work);

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
  Result<void> run_erased(std::function<void()> work);

  const std::string path_;
  const std::chrono::milliseconds silence_;
  base::PerProcess<Threads> threads_;
};

template <typename T>
Result<T> Guard::run(std::function<Result<T>()> work) {
  // Shared: work that hangs may write its result long after the caller has gone.
  auto result = std::make_shared<std::optional<Result<T>>>();
  PRECAST_TRY(run_erased([result, work = std::move(work)] { result->emplace(work()); }));
  return std::move(**result);
}

}  // namespace precast::store
