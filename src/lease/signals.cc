// What a process does that is told to end: it gives its leases back first.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "base/per_process.h"
#include "precast/leases.h"

namespace precast {
namespace {

constexpr std::array<int, 3> kEnding = {SIGTERM, SIGINT, SIGHUP};

// What was there before, by the place in kEnding. Written before the handler may run.
std::array<struct sigaction, kEnding.size()> before;

base::PerProcess<std::mutex>& installing = *new base::PerProcess<std::mutex>();

// A store that hangs would keep the release, and with it the end, for ever.
constexpr unsigned kReleaseLimitSeconds = 1;

void end_after_limit() {
  struct sigaction ends{};
  ends.sa_handler = SIG_DFL;
  ::sigaction(SIGALRM, &ends, nullptr);
  sigset_t alarm_only;
  ::sigemptyset(&alarm_only);
  ::sigaddset(&alarm_only, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  ::alarm(kReleaseLimitSeconds);
}

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// The process ends here, unless the kernel does not let it (the first of a PID namespace).
void end_by(int number, const struct sigaction& action) {
  end_after_limit();
  release_leases_on_signal();
  ::alarm(0);
  ::sigaction(number, &action, nullptr);
  // It is blocked here, and comes again when this handler returns.
  ::raise(number);
}

extern "C" void on_ending(int number, siginfo_t* info, void* context) {
  const int error = errno;
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    if (kEnding[i] != number) continue;
    const struct sigaction& action = before[i];
    if (!has_handler(action)) {
      end_by(number, action);
      break;
    }
    // What it does is its own affair, the alarm clock too.
    release_leases_on_signal();
    errno = error;
    if ((action.sa_flags & SA_SIGINFO) != 0) {
      action.sa_sigaction(number, info, context);
    } else {
      action.sa_handler(number);
    }
    return;
  }
  errno = error;
}

}  // namespace

void release_leases_when_told_to_end() {
  const std::lock_guard lock(installing.here());
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    struct sigaction there{};
    if (::sigaction(kEnding[i], nullptr, &there) != 0) continue;
    if (!has_handler(there) && there.sa_handler == SIG_IGN) continue;  // nohup, for one
    if ((there.sa_flags & SA_SIGINFO) != 0 && there.sa_sigaction == on_ending) continue;
    before[i] = there;
    struct sigaction ours = there;  // its mask, and whether calls are restarted, are kept
    ours.sa_sigaction = on_ending;
    ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
    ::sigaction(kEnding[i], &ours, nullptr);
  }
}

}  // namespace precast
