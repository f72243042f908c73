#include "cli/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace precast::cli {
namespace {

using ::testing::HasSubstr;

TEST(Child, GivesTheAnswerHoweverLong) {
  const std::string long_text(1'000'000, 'x');
  const auto end = run_in_child([&](const Write& write) { write(long_text); }, 60);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
  EXPECT_EQ(end->answer, long_text);
}

TEST(Child, KeepsTheLastComplaintsAndNothingOfThemInTheAnswer) {
  const auto end = run_in_child(
      [](const Write& write) {
        for (int i = 0; i < 1000; ++i) std::fprintf(stderr, "chatter %d\n", i);
        std::printf("on standard output\n");
        std::fflush(stdout);
        write("answer");
      },
      60);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->answer, "answer");
  EXPECT_THAT(end->complaints, HasSubstr("chatter 999"));
  EXPECT_THAT(end->complaints, HasSubstr("on standard output"));
  EXPECT_LE(end->complaints.size(), 2000U);
}

TEST(Child, ReportsHowItDied) {
  const auto end = run_in_child(
      [](const Write& write) {
        write("half");
        std::fprintf(stderr, "a check failed\n");
        ::signal(SIGABRT, SIG_DFL);
        std::abort();
      },
      60);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->finished);
  EXPECT_EQ(end->answer, "half");
  EXPECT_THAT(end->complaints, HasSubstr("a check failed"));
  EXPECT_THAT(end->how, HasSubstr("signal 6"));

  const auto exited = run_in_child([](const Write&) { ::_exit(3); }, 60);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->how, "the process ended with exit code 3");
}

TEST(Child, DoesNotWaitForEver) {
  const auto end = run_in_child([](const Write&) { ::sleep(600); }, 1);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->finished);
  EXPECT_EQ(end->how, "no answer within 1 s");
}

}  // namespace
}  // namespace precast::cli
