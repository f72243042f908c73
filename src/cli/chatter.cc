#include "cli/chatter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace precast::cli {
namespace {

// A loop's chatter may grow to this before its beginning is forgotten.
constexpr off_t kTrimAboveBytes = 1 << 20;

// What a signal handler needs, ready before the first signal.
struct Kept {
  std::atomic<bool> active{false};  // to be shown when the process ends
  int memory = -1;                  // what descriptor 2 is
  int terminal = -1;                // what it was
  std::FILE* own = stderr;
};
Kept& kept() {
  static Kept& instance = *new Kept;  // never destroyed: threads of plugins outlive main
  return instance;
}

// Safe in a signal handler.
void write_whole(int fd, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, text, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
}

// Where the part that is shown begins.
off_t start_of_tail(int memory) {
  const off_t size = ::lseek(memory, 0, SEEK_END);
  return size > static_cast<off_t>(kMaxChatterBytes) ? size - static_cast<off_t>(kMaxChatterBytes)
                                                     : 0;
}

// Copies the end of the chatter to where it would have gone. Safe in a signal handler.
void show_before_the_end() {
  Kept& state = kept();
  if (!state.active.exchange(false)) return;
  constexpr std::string_view kHeading = "precast: the process ends; the plugin's last words:\n";
  std::array<char, 4096> block;
  bool first = true;
  for (off_t at = start_of_tail(state.memory);;) {
    const ssize_t got = ::pread(state.memory, block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    if (first) write_whole(state.terminal, kHeading.data(), kHeading.size());
    first = false;
    write_whole(state.terminal, block.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

// What SIGTERM did before: the command has a handler of its own (signals.h).
struct sigaction before_sigterm{};

void on_fatal_signal(int signal) {
  show_before_the_end();
  // The default is back (SA_RESETHAND), and the signal is not blocked (SA_NODEFER).
  if (signal == SIGTERM) (void)::sigaction(SIGTERM, &before_sigterm, nullptr);
  (void)::raise(signal);
}

void watch_signals() {
  // A stack of its own: a plugin may have used up the thread's.
  static std::array<char, 64 << 10> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  (void)::sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = on_fatal_signal;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP, SIGTERM}) {
    struct sigaction before{};
    // Whoever started us with a signal ignored wants it ignored.
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    if (signal == SIGTERM) {
      before_sigterm = before;
    } else if (before.sa_handler != SIG_DFL) {
      continue;
    }
    (void)::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void keep_back_chatter() {
  Kept& state = kept();
  if (state.memory >= 0) return;
  const int memory = ::memfd_create("precast-chatter", MFD_CLOEXEC);
  const int terminal = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  std::FILE* own = terminal < 0 ? nullptr : ::fdopen(terminal, "w");
  // Append: a write after trim_chatter() goes to the new end.
  if (memory < 0 || own == nullptr || ::fcntl(memory, F_SETFL, O_APPEND) != 0 ||
      std::fflush(stderr) != 0 || ::dup2(memory, STDERR_FILENO) < 0) {
    if (memory >= 0) ::close(memory);
    if (own != nullptr) {
      (void)std::fclose(own);
    } else if (terminal >= 0) {
      ::close(terminal);
    }
    return;
  }
  (void)std::setvbuf(own, nullptr, _IONBF, 0);
  state.memory = memory;
  state.terminal = terminal;
  state.own = own;
  state.active = true;
  watch_signals();
  (void)std::atexit(show_before_the_end);
}

std::FILE* own_stderr() { return kept().own; }

void trim_chatter() {
  const Kept& state = kept();
  if (!state.active || ::lseek(state.memory, 0, SEEK_END) <= kTrimAboveBytes) return;
  std::string tail(kMaxChatterBytes, '\0');
  const ssize_t got = ::pread(state.memory, tail.data(), tail.size(), start_of_tail(state.memory));
  if (got < 0 || ::ftruncate(state.memory, 0) != 0) return;
  write_whole(state.memory, tail.data(), static_cast<std::size_t>(got));
}

std::string take_chatter() {
  Kept& state = kept();
  if (!state.active.exchange(false)) return {};
  const off_t start = start_of_tail(state.memory);
  std::string text(kMaxChatterBytes, '\0');
  const ssize_t got = ::pread(state.memory, text.data(), text.size(), start);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  if (start > 0) text = fmt::format("({} bytes before this are left out)\n", start) + text;
  return text;
}

}  // namespace precast::cli

// XLA ends the process with _exit() when it does not know a flag, after it said which. That runs no
// handler of exit(), so the command's own _exit() goes before libc's (src/cli/CMakeLists.txt
// exports it to the plugins). libc declares both as functions that do not return.
extern "C" {
__attribute__((visibility("default"))) void _exit(int status) {  // NOLINT
  precast::cli::show_before_the_end();
  for (;;) ::syscall(SYS_exit_group, status);
}
__attribute__((visibility("default"))) void _Exit(int status) noexcept {  // NOLINT
  ::_exit(status);
}
}  // extern "C"
