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
               .artifact = "/some/artifact",
               .root = base::sha256("root"),
               .device_ids = {},
               .timeout_s = 60};
};

using Kind = TrialEnd::Kind;

TEST_F(TrialLoad, TheLastLineDecides) {
  EXPECT_EQ(with("echo noise; echo 'precast: trial load: loads'").kind, Kind::loads);
  const TrialEnd refused = with("echo 'precast: trial load: refused: INTERNAL: no'");
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.text, "INTERNAL: no");
  const TrialEnd not_run = with("echo 'precast: trial load: not run: no plugin'");
  EXPECT_EQ(not_run.kind, Kind::could_not_run);
  EXPECT_EQ(not_run.text, "no plugin");
}

TEST_F(TrialLoad, ACrashAfterTheLastLineDoesNotMatter) {
  EXPECT_EQ(with("echo 'precast: trial load: loads'; kill -SEGV $$").kind, Kind::loads);
}

TEST_F(TrialLoad, ACrashHasItsLastWords) {
  const TrialEnd crash = with("echo 'Check failed: x == y'; kill -ABRT $$");
  EXPECT_EQ(crash.kind, Kind::crashed);
  EXPECT_EQ(crash.text,
            "loading ended a process of its own by signal 6 (Aborted): Check failed: x == y");
}

TEST_F(TrialLoad, AnExitOfThePluginIsACrash) {
  EXPECT_EQ(with("exit 1").kind, Kind::crashed);
  EXPECT_EQ(with("exit 0").kind, Kind::crashed);
}

TEST_F(TrialLoad, WhoeverStoppedTheChildSaysNothingAboutTheArtifact) {
  EXPECT_EQ(with("kill -KILL $$").kind, Kind::could_not_run);
  EXPECT_EQ(with("kill -TERM $$").kind, Kind::could_not_run);
}

TEST_F(TrialLoad, AnOldCommandSaysNothingAboutTheArtifact) {
  EXPECT_EQ(with("echo \"precast: error: there is no verb 'trial-load'\"; exit 2").kind,
            Kind::could_not_run);
  trial_.command = "/no/such/command";
  EXPECT_EQ(trial_load(trial_).kind, Kind::could_not_run);
}

TEST_F(TrialLoad, TimeRunsOut) {
  trial_.timeout_s = 1;
  EXPECT_EQ(with("exec sleep 60").kind, Kind::timed_out);
}

TEST_F(TrialLoad, TheChildIsToldEverything) {
  trial_.options = {{"count", std::int64_t{4}}, {"name", std::string("4")}, {"flag", true}};
  trial_.device_ids = {2, 0};
  const TrialEnd end = with("echo \"precast: trial load: refused: $*\"");
  EXPECT_EQ(end.text, "trial-load --plugin /some/plugin.so --artifact /some/artifact --root " +
                          trial_.root.hex() +
                          " --client-option count:int=4 --client-option name:string=4"
                          " --client-option flag:bool=true --devices 2,0");
}

}  // namespace
}  // namespace precast::cache
