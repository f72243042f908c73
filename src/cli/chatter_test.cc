#include "cli/chatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>

#include "cli/child.h"

namespace precast::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Each in a process of its own, since descriptor 2 and signals are the process's. What reached the
// real standard error are the complaints.
ChildEnd in_child(const std::function<void(const Write&)>& work) {
  auto end = run_in_child(work, 60);
  EXPECT_TRUE(end);
  return end ? *end : ChildEnd{};
}

TEST(Chatter, IsKeptBackAndGivenOnce) {
  const ChildEnd end = in_child([](const Write& write) {
    keep_back_chatter();
    keep_back_chatter();
    std::fprintf(stderr, "the plugin\n");
    std::fprintf(own_stderr(), "the command\n");
    write(take_chatter());
    write(take_chatter());
    std::fprintf(stderr, "dropped\n");
  });
  EXPECT_EQ(end.answer, "the plugin\n");
  EXPECT_EQ(end.complaints, "the command\n");
}

TEST(Chatter, OnlyItsEndIsGiven) {
  const ChildEnd end = in_child([](const Write& write) {
    keep_back_chatter();
    for (int i = 0; i < 10'000; ++i) std::fprintf(stderr, "line %d\n", i);
    write(take_chatter());
  });
  EXPECT_THAT(end.answer, EndsWith("line 9999\n"));
  EXPECT_THAT(end.answer, HasSubstr("bytes before this are left out)\n"));
  EXPECT_LT(end.answer.size(), kMaxChatterBytes + 100);
}

TEST(Chatter, OfALoopIsForgotten) {
  const ChildEnd end = in_child([](const Write& write) {
    keep_back_chatter();
    const std::string line(1000, 'x');
    for (int i = 0; i < 5'000; ++i) {
      std::fprintf(stderr, "%s\n", line.c_str());
      trim_chatter();
    }
    write(std::to_string(::lseek(STDERR_FILENO, 0, SEEK_END)));
    std::fprintf(stderr, "last\n");
    write(take_chatter());
  });
  EXPECT_LT(std::stol(end.answer), 1'100'000);
  EXPECT_THAT(end.answer, EndsWith("xx\nlast\n"));
}

TEST(Chatter, IsShownWhenTheProcessIsEndedByASignal) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGTERM}) {
    const ChildEnd end = in_child([signal](const Write&) {
      for (const int each : {SIGABRT, SIGSEGV, SIGILL, SIGTERM}) ::signal(each, SIG_DFL);
      keep_back_chatter();
      std::fprintf(stderr, "a check failed\n");
      (void)::raise(signal);
    });
    EXPECT_EQ(end.complaints,
              "precast: the process ends; the plugin's last words:\na check failed\n");
    EXPECT_THAT(end.how, HasSubstr("signal " + std::to_string(signal)));
  }
}

TEST(Chatter, IsShownWhenThePluginExits) {
  // As LLVM and as XLA do.
  for (void (*leave)(int) :
       std::initializer_list<void (*)(int)>{&std::exit, &::_exit, &std::_Exit}) {
    const ChildEnd end = in_child([leave](const Write&) {
      keep_back_chatter();
      std::fprintf(stderr, "unknown option\n");
      leave(3);
    });
    EXPECT_THAT(end.complaints, HasSubstr("unknown option\n"));
    EXPECT_THAT(end.how, HasSubstr("exit code 3"));
  }
}

TEST(Chatter, OfWhichThereIsNoneIsNotShown) {
  const ChildEnd end = in_child([](const Write& write) {
    keep_back_chatter();
    write("[" + take_chatter() + "]");
    std::exit(0);
  });
  EXPECT_EQ(end.answer, "[]");
  EXPECT_THAT(end.complaints, Not(HasSubstr("last words")));
}

}  // namespace
}  // namespace precast::cli
