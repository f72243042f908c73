// What the command does when it is told to end: it gives its leases back first.
#pragma once

namespace precast::cli {

// For SIGTERM, SIGINT and SIGHUP, as far as they are not ignored: leases go back to those who wait,
// and then what would have happened happens: a handler that was there is called, else the signal
// ends the process, as its exit status says. A store that hangs is given a second for the leases,
// and then SIGALRM ends the process. Once, before there are other threads.
void install_signal_handlers();

}  // namespace precast::cli
