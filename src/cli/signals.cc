#include "cli/signals.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "precast/leases.h"

namespace precast::cli {
namespace {

constexpr std::array<int, 3> kEnding = {SIGTERM, SIGINT, SIGHUP};

// What was there before, by the place in kEnding. Written before a handler may run.
std::array<struct sigaction, kEnding.size()> before;

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

extern "C" void on_ending(int number) {
  const int error = errno;
  end_after_limit();
  release_leases_on_signal();
  ::alarm(0);
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    if (kEnding[i] == number) ::sigaction(number, &before[i], nullptr);
  }
  // It is blocked here, and comes again when this handler returns, to what was there before.
  ::raise(number);
  errno = error;
}

}  // namespace

void install_signal_handlers() {
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    if (::sigaction(kEnding[i], nullptr, &before[i]) != 0) continue;
    if (before[i].sa_handler == SIG_IGN) continue;  // nohup, for one
    struct sigaction ours{};
    ours.sa_handler = on_ending;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigaction(kEnding[i], &ours, nullptr);
  }
}

}  // namespace precast::cli
