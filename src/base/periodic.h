// Periodic: work that one native thread of this process does again and again.
//
//   PRECAST_ASSIGN(Periodic beat, Periodic::start(std::chrono::seconds(1), [fd] { touch(fd); }));
//
// All registrations of a lane share one thread. It starts with the first of them and has ended when
// the last was stopped; every signal is blocked in it, so that none is handled there. A forked
// child has no such thread and none of its parent's registrations: what it holds of them does
// nothing, and it may start its own. What may hang for a reason of its own, such as its file
// system, belongs into a lane of its own; lanes are few, and stay in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "precast/result.h"

namespace precast::base {

class Scheduler;

// One registration; its end is stop(). Thread-safe but for moves and the end. The calls of a lane
// are made one after the other: one that blocks delays the others, and stop() of it, but not stop()
// of the others.
class Periodic {
 public:
  Periodic() = default;
  Periodic(Periodic&& other) noexcept;
  Periodic& operator=(Periodic&& other) noexcept;
  ~Periodic() { stop(); }

  // Calls `call` first after `period` (1 ms or more) and then `period` after each call returned.
  // `call` throws nothing and may stop its own registration. resource_exhausted when no thread can
  // be started.
  static Result<Periodic> start(std::chrono::milliseconds period, std::function<void()> call,
                                const std::string& lane = {});

  // Which registration it is: abandon() of this is for those who do not know whether the Periodic
  // is there any more, and then does nothing. Thread-safe.
  struct Id {
    std::uint64_t process = 0;  // counted along its line of forks
    Scheduler* scheduler = nullptr;
    std::uint64_t number = 0;  // 0: none

    void abandon() const;
  };
  Id id() const { return {process_, scheduler_, number_}; }

  // Afterwards `call` does not run and never will; waits for one that runs now, unless it is called
  // from there. Another time it does nothing.
  void stop();
  // The same without waiting: for a call that hangs, and whatever it uses must then stay for ever.
  // It is left alone with its thread, and the others of its lane get another one. A stop() that
  // waits for that call goes on waiting.
  void abandon() { id().abandon(); }

 private:
  explicit Periodic(const Id& id)
      : process_(id.process), scheduler_(id.scheduler), number_(id.number) {}

  std::uint64_t process_ = 0;
  Scheduler* scheduler_ = nullptr;
  std::atomic<std::uint64_t> number_ = 0;
};

// Changes with every fork() on the way from the program's start to this process, so that a child
// can tell what its parent made. Async-signal-safe, and makes no system call.
std::uint64_t process_number();

}  // namespace precast::base
