// Recorder: counts what this process does, in memory, and writes it down from time to time.
//
//   std::shared_ptr<Recorder> recorder = Recorder::of(state);
//   recorder->count({.name = "hit", .phases = phases, .total_ms = 1.2});
//
// Counting makes no system call that could wait. What was counted is written each minute by the
// thread of base::Periodic, at the end of the last owner, and at exit() for owners that never end.
// A file is one snapshot or the next, whenever the process is killed. A forked child counts from
// zero, into a file of its own. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "stats/totals.h"

namespace precast::stats {

inline constexpr std::chrono::seconds kFlushPeriod{60};

class Recorder {
 public:
  // The one of this process for a state folder (empty: that of the environment), shared by all who
  // ask for it. Null when there is no state folder. Touches no file. The first who asks decides
  // about the period.
  static std::shared_ptr<Recorder> of(const std::string& state,
                                      std::chrono::milliseconds period = kFlushPeriod);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void count(const Event& event);

  // Writes what was counted since the last time; what cannot be written is kept for the next.
  void flush();

 private:
  struct State;

  Recorder(std::string state_directory, std::chrono::milliseconds period);
  State& here();
  static void at_exit();

  const std::string state_directory_;
  const std::chrono::milliseconds period_;
  std::atomic<State*> state_;  // of one process; a child leaves its parent's alone
};

// Flushes all recorders of this process.
void flush_recorders();

}  // namespace precast::stats
