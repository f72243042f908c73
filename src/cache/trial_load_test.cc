// What is made of a child's words; tests/cli/test_trial_load.py has the real child.
#include "cache/trial_load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "base/hash.h"
#include "testing/temp_dir.h"

namespace precast::cache {
namespace {

class TrialLoad : public ::testing::Test {
 protected:
  // A command that is this script.
  TrialEnd with(const std::string& script) {
    const std::string command = temp_.path().string() + "/command";
    std::ofstream(command) << "#!/bin/sh\n" << script << "\n";
    ::chmod(command.c_str(), 0700);
    trial_.command = command;
    return trial_load(trial_);
  }

  testing::TempDir temp_;
  Trial trial_{.command = {},
               .plugin = "/some/plugin.so",
               .options = {},
               .artifact = -1,
               .root = base::sha256("root"),
               .device_ids = {},
               .timeout_s = 60};
};

using Kind = TrialEnd::Kind;

// What the child says before it loads.
const std::string kBegins = "echo 'precast: trial load: begins'; ";

TEST_F(TrialLoad, WhatTheChildSaysLastDecides) {
  EXPECT_EQ(with("echo noise; echo 'precast: trial load: loads'").kind, Kind::loads);
  EXPECT_EQ(with(kBegins + "echo 'precast: trial load: loads'").kind, Kind::loads);
  const TrialEnd refused = with("echo 'precast: trial load: refused: INTERNAL: no'");
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.text, "INTERNAL: no");
  const TrialEnd not_run = with("echo 'precast: trial load: not run: no plugin'");
  EXPECT_EQ(not_run.kind, Kind::could_not_run);
  EXPECT_EQ(not_run.text, "no plugin");
}

TEST_F(TrialLoad, WhatComesAfterDoesNotMatter) {
  const std::string loads = kBegins + "echo 'precast: trial load: loads'; ";
  EXPECT_EQ(with(loads + "kill -SEGV $$").kind, Kind::loads);
  EXPECT_EQ(with(loads + "echo 'teardown: bye'; kill -ABRT $$").kind, Kind::loads);
  EXPECT_EQ(with(loads + "yes | head -c 100000; exit 1").kind, Kind::loads);
  EXPECT_EQ(with(loads + "printf 'half a line'; kill -KILL $$").kind, Kind::loads);
  EXPECT_EQ(with("printf 'half a line '; " + loads + "exit 0").kind, Kind::loads);
}

TEST_F(TrialLoad, AQuotedLineIsTheWordsOfTheOneThatQuotesIt) {
  const TrialEnd end =
      with(kBegins + "echo 'precast: trial load: refused: no: precast: trial load: loads'");
  EXPECT_EQ(end.kind, Kind::refused);
  EXPECT_EQ(end.text, "no: precast: trial load: loads");
}

// A second client may not fit on the device, the plugin may not open, the machine may be full.
TEST_F(TrialLoad, WhatHappensBeforeItBeginsSaysNothingAboutTheArtifact) {
  for (const std::string end : {"kill -ABRT $$", "kill -SEGV $$", "exit 0", "exit 1", "exit 9",
                                "exit 127", "echo 'Check failed: no memory'; kill -ABRT $$"}) {
    EXPECT_EQ(with(end).kind, Kind::could_not_run) << end;
  }
  const TrialEnd crash = with("echo 'Check failed: no memory'; kill -ABRT $$");
  EXPECT_NE(crash.text.find("signal 6"), std::string::npos) << crash.text;
  EXPECT_NE(crash.text.find("Check failed: no memory"), std::string::npos) << crash.text;
  trial_.timeout_s = 1;
  EXPECT_EQ(with("exec sleep 60").kind, Kind::could_not_run);
}

TEST_F(TrialLoad, ACrashHasItsLastWords) {
  const TrialEnd crash = with(kBegins + "echo 'Check failed: x == y'; kill -ABRT $$");
  EXPECT_EQ(crash.kind, Kind::crashed);
  EXPECT_EQ(crash.text,
            "loading ended a process of its own by signal 6 (Aborted): Check failed: x == y");
}

TEST_F(TrialLoad, AnExitOfThePluginIsACrash) {
  EXPECT_EQ(with(kBegins + "exit 1").kind, Kind::crashed);
  EXPECT_EQ(with(kBegins + "exit 0").kind, Kind::crashed);
}

TEST_F(TrialLoad, WhoeverStoppedTheChildSaysNothingAboutTheArtifact) {
  EXPECT_EQ(with(kBegins + "kill -KILL $$").kind, Kind::could_not_run);
  EXPECT_EQ(with(kBegins + "kill -TERM $$").kind, Kind::could_not_run);
}

TEST_F(TrialLoad, ALackOfMemorySaysNothingAboutTheArtifact) {
  EXPECT_EQ(with(kBegins + "echo 'precast: error: out of memory' >&2; exit 9").kind,
            Kind::could_not_run);
}

TEST_F(TrialLoad, AnOldCommandSaysNothingAboutTheArtifact) {
  EXPECT_EQ(with("echo \"precast: error: there is no verb 'trial-load'\"; exit 2").kind,
            Kind::could_not_run);
  trial_.command = "/no/such/command";
  EXPECT_EQ(trial_load(trial_).kind, Kind::could_not_run);
}

TEST_F(TrialLoad, TimeRunsOut) {
  trial_.timeout_s = 1;
  EXPECT_EQ(with(kBegins + "exec sleep 60").kind, Kind::timed_out);
}

TEST_F(TrialLoad, TheChildIsToldEverything) {
  trial_.options = {{"count", std::int64_t{4}}, {"name", std::string("4")}, {"flag", true}};
  trial_.device_ids = {2, 0};
  const TrialEnd end = with("echo \"precast: trial load: refused: $*\"");
  EXPECT_EQ(end.text, "trial-load --plugin /some/plugin.so --artifact /proc/self/fd/3 --root " +
                          trial_.root.hex() +
                          " --client-option count:int=4 --client-option name:string=4"
                          " --client-option flag:bool=true --devices 2,0");
}

}  // namespace
}  // namespace precast::cache
