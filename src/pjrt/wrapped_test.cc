#include "pjrt/wrapped.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "precast/wrapper.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::pjrt {
namespace {

using precast::testing::EnvGuard;
using precast::testing::TempDir;

class WrappedTest : public ::testing::Test {
 protected:
  WrappedTest() { environment_.names_and_libraries = "mine:" + plugin_; }

  // An empty file that this user alone may write; gives its path.
  std::string touch(const std::string& name) const {
    const std::string path = dir_.file(name);
    std::ofstream(path).put('x');
    EXPECT_EQ(::chmod(path.c_str(), 0644), 0);
    return path;
  }
  // Where the plugin is, or the error's code and text.
  std::string found(const std::string& wanted, const std::string& wrapper) const {
    const auto plugin = find_wrapped(wanted, wrapper, environment_);
    return plugin ? plugin->path : plugin.error().to_string();
  }
  std::string found(const std::string& wanted) const { return found(wanted, wrapper_); }

  TempDir dir_;
  std::string plugin_ = touch("plugin.so");
  std::string wrapper_ = touch("libprecast_pjrt.so");
  SearchEnvironment environment_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(NameIn, IsWhatStandsBehindTheWrappersOwnName) {
  EXPECT_EQ(name_in("/a/libprecast_pjrt_cpu.so"), "cpu");
  EXPECT_EQ(name_in("libprecast_pjrt_my_plugin.so"), "my_plugin");
  for (const char* none : {"/a/libprecast_pjrt.so", "/libprecast_pjrt_cpu.so/other.so", "",
                           "/a/libprecast_pjrt_cpu.so.1", "/a/cpu.so"}) {
    EXPECT_EQ(name_in(none), "") << none;
  }
}

TEST_F(WrappedTest, APathAShortNameOrTheWrappersNameSaysIt) {
  EXPECT_EQ(found(plugin_), plugin_);
  EXPECT_EQ(found("mine"), plugin_);
  EXPECT_EQ(found("", touch("libprecast_pjrt_mine.so")), plugin_);
  // What the variable says goes first.
  EXPECT_EQ(found(touch("other.so"), touch("libprecast_pjrt_mine.so")), dir_.file("other.so"));
}

TEST_F(WrappedTest, SaysWhatChoseIt) {
  EXPECT_EQ(find_wrapped(plugin_, wrapper_, environment_)->origin, "PRECAST_PJRT_PLUGIN");
  EXPECT_EQ(find_wrapped("mine", wrapper_, environment_)->origin, "PJRT_NAMES_AND_LIBRARY_PATHS");
}

TEST_F(WrappedTest, LinksAreFollowedAtOnce) {
  std::filesystem::create_symlink(plugin_, dir_.file("link.so"));
  EXPECT_EQ(found(dir_.file("link.so")), plugin_);
}

TEST_F(WrappedTest, RefusesWhatNamesNothing) {
  EXPECT_HAS(found(""), "PRECAST_PJRT_PLUGIN is not set");
  EXPECT_HAS(found("./plugin.so"), "the relative path './plugin.so'");
  EXPECT_HAS(found("abacus"), "no plugin is named 'abacus'");
  EXPECT_HAS(found(dir_.file("missing.so")), "missing.so");
}

TEST_F(WrappedTest, NeverFindsAWrapper) {
  EXPECT_HAS(found(wrapper_), "which is Precast's own plugin");
  EXPECT_HAS(found(touch("libprecast_pjrt_x.so")), "which is Precast's own plugin");
  // A copy with another name is itself all the same.
  EXPECT_HAS(found(plugin_, plugin_), "which is Precast's own plugin");
  std::filesystem::create_symlink(wrapper_, dir_.file("innocent.so"));
  EXPECT_HAS(found(dir_.file("innocent.so")), "which is Precast's own plugin");
}

TEST_F(WrappedTest, RefusesWhatOthersMayWrite) {
  ASSERT_EQ(::chmod(plugin_.c_str(), 0666), 0);
  EXPECT_HAS(found(plugin_), "permission_denied");
  EXPECT_HAS(found(plugin_), "everybody may write '" + plugin_ + "'");
  ASSERT_EQ(::chmod(plugin_.c_str(), 0644), 0);

  const std::string open = dir_.file("open");
  std::filesystem::create_directories(open + "/below");
  const std::string inside = touch("open/below/plugin.so");
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  EXPECT_HAS(found(inside), "everybody may write '" + open + "'");
  // There each may only replace what is his own.
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  EXPECT_EQ(found(inside), inside);
}

TEST_F(WrappedTest, TheEnvironmentOfThisProcessIsThePublicAnswer) {
  const EnvGuard variable("PRECAST_PJRT_PLUGIN", plugin_);
  const auto plugin = find_wrapped_plugin(wrapper_);
  ASSERT_TRUE(plugin) << plugin.error().to_string();
  EXPECT_EQ(plugin->path, plugin_);
}

}  // namespace
}  // namespace precast::pjrt
