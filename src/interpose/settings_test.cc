#include "interpose/settings.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace precast::interpose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Settings settings(const std::map<std::string, std::string>& variables) {
  return read_settings([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Settings, AreTheDefaultsWhereNothingIsSet) {
  const Settings read = settings({});
  EXPECT_EQ(read.plugin, "");
  EXPECT_EQ(read.log, LogLevel::warn);
  EXPECT_FALSE(read.disabled);
  EXPECT_FALSE(read.summary);
  EXPECT_EQ(read.policy, Policy::read_write);
  EXPECT_EQ(read.min_compile_ms, 0);
  EXPECT_THAT(read.complaints, IsEmpty());
}

TEST(Settings, AreWhatTheVariablesSay) {
  const Settings read = settings({{"PRECAST_PJRT_PLUGIN", "/a/b.so"},
                                  {"PRECAST_LOG", "debug"},
                                  {"PRECAST_SUMMARY", "1"},
                                  {"PRECAST_DISABLE", "true"},
                                  {"PRECAST_LABEL", "train"},
                                  {"PRECAST_POLICY", "read-only"},
                                  {"PRECAST_MIN_COMPILE_MS", "2.5"},
                                  {"PRECAST_WAIT_LIMIT_S", "60"}});
  EXPECT_EQ(read.plugin, "/a/b.so");
  EXPECT_EQ(read.log, LogLevel::debug);
  EXPECT_TRUE(read.summary);
  EXPECT_TRUE(read.disabled);
  EXPECT_EQ(read.label, "train");
  EXPECT_EQ(read.policy, Policy::read_only);
  EXPECT_EQ(read.min_compile_ms, 2.5);
  EXPECT_EQ(read.wait_limit_s, 60);
  EXPECT_THAT(read.complaints, IsEmpty());
  EXPECT_EQ(settings({{"PRECAST_LOG", "off"}}).log, std::nullopt);
  EXPECT_EQ(settings({{"PRECAST_LOG", "info"}}).log, LogLevel::info);
  EXPECT_EQ(settings({{"PRECAST_POLICY", "refresh"}}).policy, Policy::refresh);
}

TEST(Settings, NoAndNothingDisableNothing) {
  for (const char* value : {"", "0"}) {
    EXPECT_FALSE(settings({{"PRECAST_DISABLE", value}}).disabled);
    EXPECT_FALSE(settings({{"PRECAST_SUMMARY", value}}).summary);
  }
}

// A host that runs with a mistyped variable runs as without it, and is told.
TEST(Settings, AValueThatMeansNothingCountsAsNotSet) {
  const Settings read = settings(
      {{"PRECAST_LOG", "loud"}, {"PRECAST_POLICY", "offline"}, {"PRECAST_MIN_COMPILE_MS", "-1"}});
  EXPECT_EQ(read.log, LogLevel::warn);
  EXPECT_EQ(read.policy, Policy::read_write);
  EXPECT_EQ(read.min_compile_ms, 0);
  EXPECT_THAT(read.complaints, ElementsAre(HasSubstr("PRECAST_LOG is 'loud'"),
                                           HasSubstr("PRECAST_POLICY is 'offline'"),
                                           HasSubstr("PRECAST_MIN_COMPILE_MS is '-1'")));
  for (const char* value : {"x", "1x", "nan", "1e999"}) {
    EXPECT_EQ(settings({{"PRECAST_MIN_COMPILE_MS", value}}).complaints.size(), 1U) << value;
  }
}

}  // namespace
}  // namespace precast::interpose
