// Periodic: work that one native thread of this process does again and again.
//
//   PRECAST_ASSIGN(Periodic beat, Periodic::start(std::chrono::seconds(1), [fd] { touch(fd); }));
//
// All registrations of a process share one thread. It starts with the first of them and has ended
// when the last was stopped; every signal is blocked in it, so that none is handled there. A forked
// child has no such thread and none of its parent's registrations: what it holds of them does
// nothing, and it may start its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "precast/result.h"

namespace precast::base {

// One registration; its end is stop(). Thread-safe but for moves and the end. Calls are made one
// after the other: one that blocks delays the others, and stop() of it.
class Periodic {
 public:
  Periodic() = default;
  Periodic(Periodic&& other) noexcept;
  Periodic& operator=(Periodic&& other) noexcept;
  ~Periodic() { stop(); }

  // Calls `call` first after `period` (1 ms or more) and then `period` after each call returned.
  // `call` throws nothing and may stop its own registration. resource_exhausted when no thread can
  // be started.
  static Result<Periodic> start(std::chrono::milliseconds period, std::function<void()> call);

  // Afterwards `call` does not run and never will; waits for one that runs now, unless it is called
  // from there. Another time it does nothing.
  void stop();
  // The same without waiting: for a call that hangs, and whatever it uses must then stay for ever.
  // It is left alone with its thread, and the others get another one.
  void abandon();

 private:
  Periodic(std::uint64_t process, std::uint64_t id) : process_(process), id_(id) {}

  std::uint64_t process_ = 0;          // which process, counted along its line of forks
  std::atomic<std::uint64_t> id_ = 0;  // 0: none
};

// Changes with every fork() on the way from the program's start to this process, so that a child
// can tell what its parent made. Async-signal-safe, and makes no system call.
std::uint64_t process_number();

}  // namespace precast::base
