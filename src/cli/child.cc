#include "cli/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace precast::cli {
namespace {

// Enough of a crash's words to see the reason, and no more than a screen.
constexpr std::size_t kMaxComplaints = 2000;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void close_read() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
};

void write_whole(int fd, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t wrote = ::write(fd, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;  // the parent is gone, and with it the reader
    at += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void be_child(const std::function<void(const Write&)>& work, const Pipe& answer,
                           const Pipe& complaints) {
  // Nobody would read the answer of an orphan.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(complaints.write, STDERR_FILENO);
  ::dup2(complaints.write, STDOUT_FILENO);
  work([&answer](const std::string& text) { write_whole(answer.write, text); });
  // Not exit(): what the parent has in its buffers is the parent's to write.
  ::_exit(0);
}

// Reads what is there; false at the end.
bool drain(int fd, std::string& into) {
  std::array<char, 1 << 14> block;
  const ssize_t got = ::read(fd, block.data(), block.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(block.data(), static_cast<std::size_t>(got));
  return got > 0;
}

void keep_the_end(std::string& complaints) {
  if (complaints.size() <= kMaxComplaints) return;
  complaints.erase(0, complaints.size() - kMaxComplaints);
}

// Reads both pipes until they end; false when the time is over before.
bool read_both(const Pipe& answer, const Pipe& complaints, int timeout_s, ChildEnd& end) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  std::array<pollfd, 2> watched = {{{answer.read, POLLIN, 0}, {complaints.read, POLLIN, 0}}};
  // The answer decides: a process that the plugin left behind may hold the other pipe open.
  while (watched[0].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0) continue;
    if (watched[1].revents != 0 && !drain(complaints.read, end.complaints)) watched[1].fd = -1;
    if (watched[0].revents != 0 && !drain(answer.read, end.answer)) watched[0].fd = -1;
    keep_the_end(end.complaints);
  }
  return true;
}

}  // namespace

Result<ChildEnd> run_in_child(const std::function<void(const Write&)>& work, int timeout_s) {
  Pipe answer;
  Pipe complaints;
  if (!answer.open() || !complaints.open()) {
    return Error(ErrorCode::resource_exhausted,
                 fmt::format("making a pipe: {}", std::strerror(errno)));
  }
  const pid_t child = ::fork();
  if (child < 0) {
    return Error(ErrorCode::resource_exhausted,
                 fmt::format("starting a child process: {}", std::strerror(errno)));
  }
  if (child == 0) be_child(work, answer, complaints);
  answer.close_write();
  complaints.close_write();

  ChildEnd end;
  const bool in_time = read_both(answer, complaints, timeout_s, end);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // What it said last, just before it died.
  pollfd rest = {complaints.read, POLLIN, 0};
  while (::poll(&rest, 1, 0) > 0 && drain(complaints.read, end.complaints)) {
  }
  keep_the_end(end.complaints);
  if (!in_time) {
    end.how = fmt::format("no answer within {} s", timeout_s);
  } else if (WIFSIGNALED(status)) {
    end.how = fmt::format("the process was ended by signal {} ({})", WTERMSIG(status),
                          ::strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    end.how = fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
  } else {
    end.finished = true;
  }
  return end;
}

}  // namespace precast::cli
