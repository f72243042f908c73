// Leases: what this process holds in stores while it compiles, so that others wait for it instead
// of compiling the same (docs/stores.md).
#pragma once

#include "precast/export.h"

namespace precast {

// Gives back every lease that this process holds, so that whoever waits goes on at once: for a
// handler of a signal that ends the process. The library installs no handler by itself; without
// one, those who wait on this machine notice the death within a fraction of a second, and those
// elsewhere after ten seconds of silence. What is being compiled here goes on, without a lease.
// Async-signal-safe, and may be called at any time. It makes system calls in each store with a
// lease, and where a store hangs it does so too; leases that were given up because their store had
// hung are passed by. A handler that must end calls alarm(2) first, as the command does.
PRECAST_EXPORT void release_leases_on_signal() noexcept;

// Installs handlers for SIGTERM, SIGINT and SIGHUP, as far as they are not ignored, that do this
// and then what would have happened without them: a handler that is there now is called, with its
// mask and flags; else the signal ends the process, as its exit status says. In that case a store
// that hangs is given a second, and then SIGALRM ends the process. A program that sets handlers of
// its own later calls it again. Thread-safe; not to be called by a handler.
PRECAST_EXPORT void release_leases_when_told_to_end();

}  // namespace precast
