#include "interpose/log.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string>

namespace precast::interpose {
namespace {

constexpr int kNothing = static_cast<int>(LogLevel::warn) + 1;
// What fits into any pipe that has room at all, so that writing it does not wait for a reader.
constexpr std::size_t kMaxLineBytes = 4096;

std::atomic<int> least_said = static_cast<int>(LogLevel::warn);

// A host that does not ignore SIGPIPE would end at a line that nobody can read. While it is there,
// this thread takes none; one that the line caused is gone afterwards.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~WithoutSigpipe() {
    if (!blocked_) return;
    const timespec at_once{};
    if (!was_pending_) static_cast<void>(::sigtimedwait(&pipe_, nullptr, &at_once));
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool blocked_ = false;
};

// A pipe that nobody empties must not stop the host.
bool has_room() {
  pollfd error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&error, 1, 0) == 1 && (error.revents & POLLOUT) != 0;
}

void write_line(std::string_view text) {
  std::string line = "[precast] ";
  line += text.substr(0, kMaxLineBytes - line.size() - 1);
  // Paths and names are the host's: no line end or escape of theirs is obeyed by a terminal.
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  line += '\n';
  const WithoutSigpipe guard;
  if (!has_room()) return;
  // A host that closed its standard error does not hear it.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void set_log_level(std::optional<LogLevel> least) {
  least_said = least ? static_cast<int>(*least) : kNothing;
}

bool says(LogLevel level) { return static_cast<int>(level) >= least_said; }

void say(LogLevel level, std::string_view text) noexcept {
  if (says(level)) say_always(text);
}

void say_always(std::string_view text) noexcept {
  const int saved = errno;
  try {
    write_line(text);
  } catch (...) {
    errno = saved;  // there is no memory for words
  }
  errno = saved;
}

}  // namespace precast::interpose
