#include "lease/flight.h"

#include <pthread.h>

#include <atomic>
#include <utility>

#include "base/periodic.h"

namespace precast::lease {
namespace {

// Never destroyed: a lease may end after the destructors of this library's statics have run.
std::atomic<Flights*> current = nullptr;

// What the parent's threads had locked stays locked in the child for ever, so it is left alone.
const bool watches_forks = ::pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); }) == 0;

}  // namespace

Flights& Flights::of_this_process() {
  static_cast<void>(watches_forks);
  Flights* found = current.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  auto fresh = std::make_unique<Flights>();
  if (current.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.release();
  }
  return *found;
}

Flights::Seat Flights::join(const std::string& id, const Waiting& leader) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Flight>& flight = flights_[id];
  if (flight != nullptr) return {flight, false};
  flight = std::make_shared<Flight>();
  flight->id = id;
  flight->process = base::process_number();
  flight->status = leader;
  flight->since = std::chrono::steady_clock::now();
  return {flight, true};
}

void Flights::set_status(Flight& flight, const Waiting& status) {
  const std::lock_guard lock(mutex_);
  flight.status = status;
  flight.since = std::chrono::steady_clock::now();
}

Waiting Flights::status(const Flight& flight) {
  const std::lock_guard lock(mutex_);
  Waiting status = flight.status;
  status.holding_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - flight.since).count();
  return status;
}

void Flights::finish(Flight& flight, const std::optional<Ending>& ending,
                     const std::optional<Error>& error) {
  const std::lock_guard lock(mutex_);
  if (flight.over) return;
  flight.over = true;
  flight.ending = ending;
  flight.error = error;
  flights_.erase(flight.id);
  changed_.notify_all();
}

bool Flights::wait_for(const Flight& flight, std::chrono::steady_clock::duration time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [&flight] { return flight.over; });
}

}  // namespace precast::lease
