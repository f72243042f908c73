// Policies of compile-or-load: what may be compiled, stored and loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cache/test_cache.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

RequestOptions under(Policy policy) {
  RequestOptions wishes;
  wishes.policy = policy;
  return wishes;
}
RequestOptions pinned(const std::optional<Digest>& root) {
  RequestOptions wishes;
  wishes.pin = root;
  return wishes;
}
CacheConfig configured(Policy policy) {
  CacheConfig config;
  config.policy = policy;
  return config;
}
CacheConfig at_least_ms(double ms) {
  CacheConfig config;
  config.min_compile_ms = ms;
  return config;
}

class PolicyTest : public CacheTest {
 protected:
  Result<CompileOrLoad> request(const RequestOptions& wishes, CacheConfig config = {}) {
    return open(std::move(config)).compile_or_load(*client_, program(), {}, wishes);
  }
  Report report(const RequestOptions& wishes, CacheConfig config = {}) {
    Result<CompileOrLoad> done = request(wishes, std::move(config));
    EXPECT_TRUE(done) << done.error().to_string();
    expect_right(done->executable);
    return std::move(done->report);
  }
};

TEST_F(PolicyTest, ReadOnlyCompilesAndStoresNothing) {
  const Report missed = report(under(Policy::read_only));
  EXPECT_EQ(missed.outcome, Outcome::skip);
  EXPECT_EQ(missed.reason, Reason::read_only);
  EXPECT_FALSE(fs::exists(missed.artifact_path));
  EXPECT_EQ(calls("PJRT_Executable_Serialize"), 0u);
  ask(open());
  EXPECT_EQ(report(under(Policy::read_only)).outcome, Outcome::hit);
}

TEST_F(PolicyTest, ReadOnlyLeavesABadEntryWhereItIs) {
  const std::string path = ask(open()).report.artifact_path;
  write(path, "not an artifact");
  const Report found = report(under(Policy::read_only));
  EXPECT_EQ(found.outcome, Outcome::skip);
  EXPECT_EQ(found.reason, Reason::entry_corrupt);
  EXPECT_EQ(read(path), "not an artifact");
}

TEST_F(PolicyTest, RefreshCompilesAndReplaces) {
  const Report first = ask(open()).report;
  const auto before = read(first.artifact_path);
  const Report again = report(under(Policy::refresh));
  EXPECT_EQ(again.outcome, Outcome::miss);
  EXPECT_EQ(again.reason, Reason::refreshed);
  EXPECT_EQ(again.key, first.key);
  EXPECT_EQ(compiles(), 2u);
  EXPECT_EQ(loads(), 2u);  // each proof; the entry was not loaded
  EXPECT_EQ(report({}).root, again.root);
}

TEST_F(PolicyTest, OfflineNeverCompiles) {
  const auto missed = request(under(Policy::offline));
  ASSERT_FALSE(missed);
  EXPECT_EQ(missed.error().code(), ErrorCode::unavailable);
  EXPECT_THAT(missed.error().message(), HasSubstr("offline"));
  EXPECT_THAT(missed.error().message(), HasSubstr("there is no entry of the key"));
  EXPECT_EQ(compiles(), 0u);

  const std::string path = ask(open()).report.artifact_path;
  EXPECT_EQ(report(under(Policy::offline)).outcome, Outcome::hit);
  write(path, "not an artifact");
  const auto corrupt = request(under(Policy::offline));
  ASSERT_FALSE(corrupt);
  EXPECT_THAT(corrupt.error().message(), HasSubstr("corrupt"));
  EXPECT_EQ(read(path), "not an artifact");
  EXPECT_EQ(compiles(), 1u);
  // A store that cannot be used is no reason to compile either.
  CacheConfig elsewhere;
  elsewhere.directory = path;
  const auto unusable = request(under(Policy::offline), elsewhere);
  ASSERT_FALSE(unusable);
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(PolicyTest, TheCachesPolicyHoldsUnlessTheRequestSaysOtherwise) {
  EXPECT_FALSE(request({}, configured(Policy::offline)));
  EXPECT_EQ(report(under(Policy::read_write), configured(Policy::offline)).outcome, Outcome::miss);
}

TEST_F(PolicyTest, OnlyThePinnedArtifactLoads) {
  const Report stored = ask(open()).report;
  ASSERT_TRUE(stored.root);
  EXPECT_EQ(report(pinned(stored.root)).outcome, Outcome::hit);
  const auto other = request(pinned(Digest::of("another")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::unavailable);
  EXPECT_THAT(other.error().message(), HasSubstr(stored.root->hex()));
  EXPECT_THAT(other.error().message(), HasSubstr(Digest::of("another").hex()));
  fs::remove(stored.artifact_path);
  EXPECT_FALSE(request(pinned(stored.root)));
  EXPECT_EQ(compiles(), 1u);
  RequestOptions both_wishes = under(Policy::refresh);
  both_wishes.pin = stored.root;
  const auto both = request(both_wishes);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code(), ErrorCode::invalid_argument);
}

TEST_F(PolicyTest, WhatCompilesFastIsNotStoredIfAsked) {
  const testing::EnvGuard slow("PRECAST_FAKE_LATENCY", "PJRT_Client_Compile:30");
  const Report fast = report({}, at_least_ms(1e6));
  EXPECT_EQ(fast.outcome, Outcome::skip);
  EXPECT_EQ(fast.reason, Reason::below_min_compile_time);
  EXPECT_THAT(fast.detail, HasSubstr("1000000.0 ms"));
  EXPECT_EQ(calls("PJRT_Executable_Serialize"), 0u);
  EXPECT_EQ(report({}, at_least_ms(20)).outcome, Outcome::miss);
}

TEST_F(PolicyTest, BeyondTheHardLimitNothingIsStored) {
  CacheConfig config;
  config.hard_limit_bytes = 100;
  const Report full = report({}, config);
  EXPECT_EQ(full.outcome, Outcome::skip);
  EXPECT_EQ(full.reason, Reason::store_full);
  EXPECT_THAT(full.detail, HasSubstr("hard limit"));
  EXPECT_FALSE(fs::exists(full.artifact_path));
}

TEST_F(PolicyTest, NamespacesShareNothing) {
  CacheConfig config;
  config.name_space = "team-a";
  const Report own = report({}, config);
  EXPECT_EQ(own.outcome, Outcome::miss);
  EXPECT_THAT(own.artifact_path, HasSubstr("/namespaces/team-a/v1/"));
  EXPECT_EQ(report({}).outcome, Outcome::miss);
  EXPECT_EQ(report({}, config).outcome, Outcome::hit);
  config.name_space = "../team";
  const Report wrong = report({}, config);
  EXPECT_EQ(wrong.reason, Reason::store_unavailable);
  EXPECT_THAT(wrong.detail, HasSubstr("../team"));
}

TEST_F(PolicyTest, WouldHitSaysWhatAPolicyMakesOfIt) {
  const Cache cache = open();
  const auto look = [&](const RequestOptions& wishes) {
    return cache.would_hit(*client_, program(), {}, wishes).value();
  };
  const Lookup offline = look(under(Policy::offline));
  EXPECT_FALSE(offline.hit);
  EXPECT_EQ(offline.outcome, Outcome::error);
  EXPECT_EQ(offline.reason, Reason::offline);
  EXPECT_TRUE(offline.record);
  EXPECT_EQ(look(under(Policy::read_only)).reason, Reason::read_only);
  ask(cache);
  EXPECT_TRUE(look(under(Policy::offline)).hit);
  EXPECT_EQ(look(under(Policy::refresh)).reason, Reason::refreshed);
  EXPECT_FALSE(look(under(Policy::refresh)).hit);
}

TEST(DigestText, OnlyItsOwnTextReadsBack) {
  const Digest digest = Digest::of("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex(digest.hex().substr(1)));
  EXPECT_FALSE(Digest::from_hex(digest.hex() + "0"));
  EXPECT_FALSE(Digest::from_hex("G" + digest.hex().substr(1)));
  std::string capitals = digest.hex();
  for (char& c : capitals) c = static_cast<char>(std::toupper(c));
  EXPECT_FALSE(Digest::from_hex(capitals));
  EXPECT_FALSE(Digest::from_hex(""));
}

}  // namespace
}  // namespace precast
