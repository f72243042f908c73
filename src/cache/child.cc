#include "cache/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/file.h"

namespace precast::cache {
namespace {

// The first words say what is wrong; XLA prints a manual behind them.
constexpr std::size_t kMaxKept = 8 << 10;
// What a child says in the end may have other words behind it: those of the process's end.
constexpr std::size_t kMaxTail = 256 << 10;

struct Pipe {
  base::Fd read;
  base::Fd write;

  // Both ends are above the descriptors that the child gets others for.
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    const base::Fd first(ends[0]);
    const base::Fd second(ends[1]);
    read.reset(::fcntl(first.get(), F_DUPFD_CLOEXEC, kInheritedFd + 1));
    write.reset(::fcntl(second.get(), F_DUPFD_CLOEXEC, kInheritedFd + 1));
    return read && write;
  }
};

struct Actions {
  posix_spawn_file_actions_t actions;
  bool whole;

  Actions(int input, int output, int inherited) {
    whole = ::posix_spawn_file_actions_init(&actions) == 0 &&
            ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0 &&
            ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
            ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) == 0 &&
            (inherited < 0 ||
             ::posix_spawn_file_actions_adddup2(&actions, inherited, kInheritedFd) == 0);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions); }
};

using Clock = std::chrono::steady_clock;

// A process in the kernel's hands (a read from a server that died) does not end when it is told to.
constexpr std::chrono::seconds kEndPatience{5};
constexpr std::chrono::milliseconds kLongestPause{20};

// Reads until the end; false when the time is over before.
bool read_output(int fd, Clock::time_point deadline, ChildEnd& child) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd watched{fd, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 1 << 14> block;
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    const std::string_view text(block.data(), static_cast<std::size_t>(got));
    child.output.append(text.substr(0, kMaxKept - child.output.size()));
    child.tail.append(text);
    if (child.tail.size() > kMaxTail) child.tail.erase(0, child.tail.size() - kMaxTail);
  }
}

// False when the time is over before it has ended.
bool wait_for(pid_t pid, Clock::time_point deadline, ChildEnd& child) {
  int status = 0;
  for (std::chrono::milliseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) {
      child.unseen = true;  // the host has its children collected by others, or ignores SIGCHLD
      child.how = "an end that nobody saw";
      return true;
    }
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    child.stopped = signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
    child.crashed = !child.stopped;
    child.how = fmt::format("signal {} ({})", signal, ::strsignal(signal));
  } else {
    child.how = fmt::format("exit code {}", WEXITSTATUS(status));
  }
  return true;
}

}  // namespace

ChildEnd run_child(const std::string& command, const std::vector<std::string>& arguments,
                   int timeout_s, int inherited) {
  ChildEnd child;
  Pipe life;
  Pipe output;
  if (!life.open() || !output.open()) {
    child.how = fmt::format("no pipe: {}", std::strerror(errno));
    return child;
  }
  const Actions actions(life.read.get(), output.write.get(), inherited);
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), command);
  std::vector<char*> pointers(words.size() + 1, nullptr);
  std::ranges::transform(words, pointers.begin(), [](std::string& word) { return word.data(); });
  pid_t pid = 0;
  const int failed = actions.whole ? ::posix_spawn(&pid, command.c_str(), &actions.actions, nullptr,
                                                   pointers.data(), environ)
                                   : ENOMEM;
  if (failed != 0) {
    child.how = fmt::format("cannot start '{}': {}", command, std::strerror(failed));
    return child;
  }
  child.started = true;
  life.read.reset(-1);
  output.write.reset(-1);
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(timeout_s);
  // Who closes its output has not ended.
  child.in_time = read_output(output.read.get(), deadline, child) && wait_for(pid, deadline, child);
  if (child.in_time) return child;
  ::kill(pid, SIGKILL);
  if (!wait_for(pid, Clock::now() + kEndPatience, child)) {
    child.unseen = true;
    child.how = "an end that did not come";
  }
  return child;
}

}  // namespace precast::cache
