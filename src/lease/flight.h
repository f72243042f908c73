// Flights: what the threads of one process share about one key, so that only one of them looks at
// the lease file. The others sleep until it has something to tell.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "lease/record.h"
#include "precast/cache.h"
#include "precast/error.h"

namespace precast::lease {

// One attempt of one thread, its leader. Guarded by Flights.
struct Flight {
  std::string id;
  std::uint64_t process = 0;  // that it belongs to: a child has none of its parent's
  bool over = false;
  std::optional<Ending> ending;  // how the compile ended, here or elsewhere
  std::optional<Error> error;    // why there can be no lease
  Waiting status;                // whom a follower waits for
  std::chrono::steady_clock::time_point since;
};

// Those of this process. Thread-safe.
class Flights {
 public:
  // The same for all callers of a process; another one in a forked child.
  static Flights& of_this_process();

  struct Seat {
    std::shared_ptr<Flight> flight;
    bool leads = false;  // then finish() is to be called
  };
  // The flight of this id that is under way, or a new one.
  Seat join(const std::string& id, const Waiting& leader);
  void set_status(Flight& flight, const Waiting& status);
  Waiting status(const Flight& flight);
  // Ends the flight and wakes its followers. Without ending and error one of them leads next.
  void finish(Flight& flight, const std::optional<Ending>& ending,
              const std::optional<Error>& error);
  // Whether the flight is over, after `time` at most.
  bool wait_for(const Flight& flight, std::chrono::steady_clock::duration time);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace precast::lease
