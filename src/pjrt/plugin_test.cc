#include "precast/plugin.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "pjrt/plugin_impl.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

using precast::testing::EnvGuard;
using precast::testing::TempDir;

std::string refusal(const std::string& path, ErrorCode code = ErrorCode::invalid_argument) {
  const auto plugin = Plugin::open(path);
  if (plugin) return "opened";
  EXPECT_EQ(plugin.error().code(), code);
  return plugin.error().message();
}

TEST(PluginOpen, OfAMissingFile) {
  EXPECT_EQ(refusal("/nowhere/plugin.so"), "no file '/nowhere/plugin.so'");
}

TEST(PluginOpen, SaysWhoNamedAFileThatIsMissing) {
  const EnvGuard plugin("PRECAST_PLUGIN", "/nowhere/plugin.so");
  const auto opened = Plugin::open("");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().to_string(),
            "invalid_argument: no file '/nowhere/plugin.so' (the plugin was found through "
            "PRECAST_PLUGIN)");
}

TEST(PluginOpen, OfAFolder) {
  const TempDir dir;
  EXPECT_EQ(refusal(dir.path().string()),
            "'" + dir.path().string() + "' is a folder; a plugin is a shared library in a file");
}

TEST(PluginOpen, OfAFileThatIsNoLibrary) {
  const TempDir dir;
  const std::string path = dir.file("plugin.so");
  for (const char* content : {"", "\x7f",
                              "\x7f"
                              "EL",
                              "#!/bin/sh\n"}) {
    std::ofstream(path, std::ios::trunc) << content;
    EXPECT_EQ(refusal(path),
              "'" + path + "' is not a shared library: it does not begin like an ELF file");
  }
}

TEST(PluginOpen, KeepsTheLoadersWords) {
  const TempDir dir;
  const std::string path = dir.file("plugin.so");
  std::ofstream(path) << "\x7f"
                         "ELF and then nothing of the kind";
  const std::string text = refusal(path);
  EXPECT_NE(text.find("cannot load '" + std::filesystem::canonical(path).string() + "': "),
            std::string::npos)
      << text;
}

TEST(PluginOpen, OfALibraryThatIsNoPlugin) {
  const std::string text = refusal(PRECAST_TEST_LIBRARY);
  EXPECT_NE(text.find("is not a PJRT plugin: it has no GetPjrtApi"), std::string::npos) << text;
}

TEST(PluginOpen, OfARelativePathInTheVariable) {
  const EnvGuard plugin("PRECAST_PLUGIN", "lib/plugin.so");
  EXPECT_NE(refusal("").find("relative path 'lib/plugin.so'"), std::string::npos);
}

TEST(PluginOpen, OfAnUnknownName) {
  EXPECT_NE(refusal("nonesuch").find("no plugin is named 'nonesuch'"), std::string::npos);
}

TEST(FindPlugins, TakesTheEnvironment) {
  const TempDir dir;
  std::ofstream(dir.file("p.so")) << "x";
  const EnvGuard names("PJRT_NAMES_AND_LIBRARY_PATHS", "mine:" + dir.file("p.so"));
  const EnvGuard preferred("PRECAST_PLUGIN", std::nullopt);
  const std::vector<FoundPlugin> plugins = find_plugins();
  ASSERT_FALSE(plugins.empty());
  EXPECT_EQ(plugins[0].name, "mine");
  EXPECT_EQ(plugins[0].path, dir.file("p.so"));
  EXPECT_EQ(plugins[0].origin, "PJRT_NAMES_AND_LIBRARY_PATHS");
}

PJRT_Api table() {
  PJRT_Api table{};
  table.struct_size = sizeof table;
  table.pjrt_api_version.minor_version = 115;
  return table;
}

TEST(CheckTable, TakesMajorVersionZeroOfAnyMinor) {
  PJRT_Api api = table();
  for (const int minor : {0, 54, 115, 4000}) {
    api.pjrt_api_version.minor_version = minor;
    EXPECT_TRUE(pjrt::check_table(&api)) << minor;
  }
}

TEST(CheckTable, RefusesNoTable) {
  const auto checked = pjrt::check_table(nullptr);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::invalid_argument);
}

TEST(CheckTable, RefusesAnotherMajorVersionAndNamesBoth) {
  PJRT_Api api = table();
  api.pjrt_api_version.major_version = 1;
  api.pjrt_api_version.minor_version = 2;
  const auto checked = pjrt::check_table(&api);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::unsupported);
  EXPECT_NE(checked.error().message().find("version 1.2"), std::string::npos);
  EXPECT_NE(checked.error().message().find("major version 0"), std::string::npos);
}

TEST(CheckTable, RefusesATableThatIsTooShort) {
  PJRT_Api api = table();
  api.struct_size = 64;  // version, Error_Destroy, Error_Message, Error_GetCode
  EXPECT_TRUE(pjrt::check_table(&api));
  api.struct_size = 63;
  EXPECT_EQ(pjrt::check_table(&api).error().code(), ErrorCode::unsupported);
  api.struct_size = 39;  // the version is not whole, so it must not be read
  EXPECT_EQ(pjrt::check_table(&api).error().code(), ErrorCode::invalid_argument);
  api.struct_size = 0;
  EXPECT_EQ(pjrt::check_table(&api).error().code(), ErrorCode::invalid_argument);
}

// A call that failed may have made the plugin read them.
TEST(FlagsBefore, AreUncertainOnceTheyChangedBeforeACallSucceeded) {
  const PJRT_Api api{};
  Plugin::Impl plugin(&api, "plugin.so");
  const auto is_certain_with = [&plugin](const char* flags) {
    const EnvGuard guard("XLA_FLAGS", flags);
    return pjrt::flags_before(plugin).certain;
  };
  EXPECT_TRUE(is_certain_with("--a"));
  EXPECT_TRUE(is_certain_with("--a"));
  EXPECT_FALSE(is_certain_with("--b"));
  EXPECT_FALSE(is_certain_with("--a"));
}

}  // namespace
}  // namespace precast
