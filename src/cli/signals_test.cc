// The handlers that give leases back, as the command has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "cli/chatter.h"
#include "cli/child.h"
#include "precast/leases.h"

namespace precast::cli {
namespace {

using ::testing::HasSubstr;

// Each in a process of its own. What it said, or how it ended.
std::string in_child(const std::function<void(const Write&)>& work) {
  const auto end = run_in_child(
      [&](const Write& write) {
        for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::signal(each, SIG_DFL);
        work(write);
      },
      60);
  if (!end) return end.error().to_string();
  return end->finished ? end->answer : end->how;
}

TEST(Signals, EndTheProcessAsBefore) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_THAT(in_child([signal](const Write&) {
                  release_leases_when_told_to_end();
                  ::raise(signal);
                }),
                HasSubstr("ended by signal " + std::to_string(signal)));
  }
}

TEST(Signals, StayIgnored) {
  EXPECT_EQ(in_child([](const Write& write) {
              ::signal(SIGHUP, SIG_IGN);
              release_leases_when_told_to_end();
              ::raise(SIGHUP);
              write("still here");
            }),
            "still here");
}

volatile std::sig_atomic_t calls = 0;

TEST(Signals, GoOnToTheHandlerThatWasThere) {
  EXPECT_EQ(in_child([](const Write& write) {
              ::signal(SIGTERM, [](int) { calls = calls + 1; });
              release_leases_when_told_to_end();
              ::raise(SIGTERM);
              ::raise(SIGTERM);
              write(std::to_string(calls));
            }),
            "2");
}

TEST(Signals, AreInstalledOnceAndAgainBeforeAHandlerThatCameLater) {
  EXPECT_EQ(in_child([](const Write& write) {
              release_leases_when_told_to_end();
              release_leases_when_told_to_end();
              struct sigaction theirs{};
              theirs.sa_sigaction = [](int number, siginfo_t* info, void*) {
                if (info->si_signo == number) calls = calls + 1;
              };
              theirs.sa_flags = SA_SIGINFO;
              ::sigaction(SIGTERM, &theirs, nullptr);
              release_leases_when_told_to_end();
              ::raise(SIGTERM);
              write(std::to_string(calls));
            }),
            "1");
}

TEST(Signals, OfChatterComeFirstAndGoOn) {
  EXPECT_THAT(in_child([](const Write&) {
                release_leases_when_told_to_end();
                keep_back_chatter();
                ::raise(SIGTERM);
              }),
              HasSubstr("ended by signal 15"));
}

}  // namespace
}  // namespace precast::cli
