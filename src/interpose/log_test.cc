#include "interpose/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

namespace precast::interpose {
namespace {

// How a child ended in which standard error is a pipe, whose read end `body` gets.
int status_of_child(const std::function<void(int read_end)>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(3);
    ::close(ends[1]);
    ::signal(SIGPIPE, SIG_DFL);
    ::alarm(20);  // a line that waits ends the child
    body(ends[0]);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

std::string read_some(int fd) {
  std::string text(10'000, '\0');
  const ssize_t size = ::read(fd, text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

TEST(Log, EndsNoHostWhoseErrorsNobodyReads) {
  EXPECT_EQ(status_of_child([](int read_end) {
              ::close(read_end);
              errno = 7;
              say_always("somebody should know");
              if (errno != 7) ::_exit(4);
              // And the signal did not stay.
              sigset_t pending;
              if (::sigpending(&pending) != 0 || ::sigismember(&pending, SIGPIPE) != 0) ::_exit(5);
            }),
            0);
}

TEST(Log, StopsNoHostWhoseErrorsPileUp) {
  EXPECT_EQ(status_of_child([](int read_end) {
              for (int i = 0; i < 10'000; ++i) say_always(std::string(500, 'x'));
              if (read_some(read_end).empty()) ::_exit(4);
            }),
            0);
}

TEST(Log, ALineIsOneLine) {
  EXPECT_EQ(status_of_child([](int read_end) {
              say_always("a\nb\x1b[31mc\r");
              if (read_some(read_end) != "[precast] a b [31mc \n") ::_exit(4);
              say_always(std::string(100'000, 'y'));
              const std::string cut = read_some(read_end);
              if (cut.size() != 4096 || cut.back() != '\n') ::_exit(5);
            }),
            0);
}

TEST(Log, SaysWhatTheLevelLetsThrough) {
  EXPECT_EQ(status_of_child([](int read_end) {
              set_log_level(LogLevel::info);
              say(LogLevel::debug, "no");
              say(LogLevel::info, "yes");
              if (read_some(read_end) != "[precast] yes\n") ::_exit(4);
              set_log_level(std::nullopt);
              say(LogLevel::warn, "no");
              ::fcntl(read_end, F_SETFL, O_NONBLOCK);
              if (!read_some(read_end).empty()) ::_exit(5);
            }),
            0);
}

}  // namespace
}  // namespace precast::interpose
