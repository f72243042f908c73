#include "cache/flags_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/file.h"

namespace precast::cache {
namespace {

// The first words say what is wrong; XLA prints a manual behind them.
constexpr std::size_t kMaxOutput = 8 << 10;

struct Actions {
  posix_spawn_file_actions_t actions;
  bool whole;

  explicit Actions(int output) {
    whole =
        ::posix_spawn_file_actions_init(&actions) == 0 &&
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
        ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) == 0;
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions); }
};

// Reads until the end; false when the time is over before.
bool read_output(int fd, int timeout_s, FlagsChild& child) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  std::string last;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd watched{fd, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 1 << 14> block;
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string_view text(block.data(), static_cast<std::size_t>(got));
    child.output.append(text.substr(0, kMaxOutput - child.output.size()));
    last.append(text);
    if (last.size() > kAlive.size()) last.erase(0, last.size() - kAlive.size());
  }
  child.alive = last == kAlive;
  return true;
}

void wait_for(pid_t pid, FlagsChild& child) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    child.how = "an end that nobody saw";  // the host may have its children collected by others
    return;
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    child.stopped = signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
    child.how = fmt::format("signal {} ({})", signal, ::strsignal(signal));
  } else {
    child.how = fmt::format("exit code {}", WEXITSTATUS(status));
  }
}

}  // namespace

FlagsChild run_flags_child(const std::string& command, const std::string& plugin, int timeout_s) {
  FlagsChild child;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    child.how = fmt::format("no pipe: {}", std::strerror(errno));
    return child;
  }
  const base::Fd output(ends[0]);
  base::Fd input(ends[1]);
  const Actions actions(input.get());
  std::array<std::string, 4> words = {command, "check-flags", "--plugin", plugin};
  const std::array<char*, 5> arguments = {words[0].data(), words[1].data(), words[2].data(),
                                          words[3].data(), nullptr};
  pid_t pid = 0;
  const int failed = actions.whole ? ::posix_spawn(&pid, command.c_str(), &actions.actions, nullptr,
                                                   arguments.data(), environ)
                                   : ENOMEM;
  if (failed != 0) {
    child.how = fmt::format("cannot start '{}': {}", command, std::strerror(failed));
    return child;
  }
  child.started = true;
  input.reset(-1);
  child.in_time = read_output(output.get(), timeout_s, child);
  if (!child.in_time) ::kill(pid, SIGKILL);
  wait_for(pid, child);
  return child;
}

}  // namespace precast::cache
