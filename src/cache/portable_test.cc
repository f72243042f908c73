// Portable executables (compile_portable_executable), whose device is named at each run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cache/test_cache.h"
#include "precast/precast.h"
#include "testing/env_guard.h"

namespace precast {
namespace {

using testing::EnvGuard;
using ::testing::HasSubstr;

class PortableTest : public CacheTest {
 protected:
  // Field 4, and one replica and partition.
  static CompileOptions portable() {
    return CompileOptions::from_serialized(Bytes("\x20\x01\x1a\x04\x20\x01\x28\x01", 8)).value();
  }
  Report ask_portable(const Cache& cache, const Client& client) const {
    const auto done = cache.compile_or_load(client, program(), portable());
    EXPECT_TRUE(done) << done.error().to_string();
    return done ? done->report : Report();
  }
};

TEST_F(PortableTest, IsAnEntryOfItsOwn) {
  ASSERT_TRUE(portable().portable());
  const Cache cache = open();
  EXPECT_EQ(ask_portable(cache, *client_).outcome, Outcome::miss);
  const Report hit = ask_portable(open(), *client_);
  EXPECT_EQ(hit.outcome, Outcome::hit) << hit.detail;
  EXPECT_EQ(compiles(), 1u);
  const Report placed = ask(cache).report;
  EXPECT_EQ(placed.outcome, Outcome::miss);
  EXPECT_NE(placed.key, hit.key);
}

TEST_F(PortableTest, HowManyDevicesThereAreDoesNotCount) {
  const Cache cache = open();
  ask_portable(cache, *client_);
  const EnvGuard count("PRECAST_FAKE_DEVICES", "1");
  EXPECT_EQ(ask_portable(cache, make_client()).outcome, Outcome::hit);
}

TEST_F(PortableTest, AFileOfOneDoesNotSayWhereItRuns) {
  const Report report = ask_portable(open(), *client_);
  const auto artifact = VerifiedArtifact::from_file(report.artifact_path);
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  const auto loaded = load(*client_, *artifact);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::incompatible);
  EXPECT_THAT(loaded.error().message(), HasSubstr("portable"));
}

TEST_F(PortableTest, IsNotCachedWhereTheDevicesDiffer) {
  const Cache cache = open();
  ask_portable(cache, *client_);
  const EnvGuard kinds("PRECAST_FAKE_DEVICE_KINDS", "large,small");
  const Report several_kinds = ask_portable(cache, make_client());
  EXPECT_EQ(several_kinds.outcome, Outcome::bypass);
  EXPECT_EQ(several_kinds.reason, Reason::cannot_load);
  EXPECT_THAT(several_kinds.detail, HasSubstr("of several kinds"));
}

TEST_F(PortableTest, IsNotCachedAmongProcesses) {
  const EnvGuard processes("PRECAST_FAKE_PROCESS_INDICES", "0,1");
  const Report report = ask_portable(open(), make_client());
  EXPECT_EQ(report.outcome, Outcome::bypass);
  EXPECT_EQ(report.reason, Reason::cannot_load);
}

}  // namespace
}  // namespace precast
