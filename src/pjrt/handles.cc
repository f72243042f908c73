#include "pjrt/handles.h"

namespace precast::pjrt {

Result<void> PendingEvents::await() {
  Result<void> outcome;
  for (const Handle<PJRT_Event>& event : events_) {
    Block<PJRT_Event_Await_Args> args;
    args->event = event.get();
    Result<void> awaited = api_->call(kEventAwait, args);
    if (!awaited && outcome) outcome = std::move(awaited);
  }
  events_.clear();
  return outcome;
}

}  // namespace precast::pjrt
