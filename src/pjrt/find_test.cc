#include "pjrt/find.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::pjrt {
namespace {

using precast::testing::EnvGuard;
using precast::testing::TempDir;

constexpr const char* kCpu = "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so";
constexpr const char* kOldCpu = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
constexpr const char* kCuda13 = "jax_plugins/xla_cuda13/xla_cuda_plugin.so";
constexpr const char* kCuda12 = "jax_plugins/xla_cuda12/xla_cuda_plugin.so";
constexpr const char* kTpu = "libtpu/libtpu.so";

class FindTest : public ::testing::Test {
 protected:
  // Makes an empty file with its folders; gives its path.
  std::string touch(const std::string& name) {
    const std::filesystem::path path = dir_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path).put('x');
    return path.string();
  }
  std::string package(const std::string& file, const std::string& python = "python3.11",
                      const std::string& venv = "venv") {
    return touch(venv + "/lib/" + python + "/site-packages/" + file);
  }
  std::string venv() const { return dir_.file("venv"); }

  std::string resolved(const std::string& name) const {
    const auto path = resolve(name, environment_);
    return path ? path->path : path.error().to_string();
  }
  std::string refusal(const std::string& name) const {
    const auto path = resolve(name, environment_);
    if (path) return "found " + path->path;
    EXPECT_EQ(path.error().code(), ErrorCode::invalid_argument);
    return path.error().message();
  }

  TempDir dir_;
  SearchEnvironment environment_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(FindTest, APathIsTakenAsItIs) {
  environment_.precast_plugin = touch("other.so");
  EXPECT_EQ(resolved("/a/b.so"), "/a/b.so");
  EXPECT_EQ(resolved("./b.so"), "./b.so");
}

TEST_F(FindTest, TheOriginSaysWhoNamedThePlugin) {
  environment_.virtual_env = venv();
  package(kCpu);
  EXPECT_EQ(resolve("/a/b.so", environment_)->origin, "");
  EXPECT_EQ(resolve("cpu", environment_)->origin, "VIRTUAL_ENV");
  environment_.precast_plugin = "/a/b.so";
  EXPECT_EQ(resolve("", environment_)->origin, "PRECAST_PLUGIN");
}

TEST_F(FindTest, NothingFoundSaysWhereItLooked) {
  const std::string text = refusal("");
  EXPECT_HAS(text, "no plugin found");
  EXPECT_HAS(text, "PRECAST_PLUGIN (not set)");
  EXPECT_HAS(text, "PJRT_NAMES_AND_LIBRARY_PATHS (not set)");
  EXPECT_HAS(text, "VIRTUAL_ENV (not set)");
}

TEST_F(FindTest, AnUnknownNameListsTheNames) {
  environment_.virtual_env = venv();
  package(kCpu);
  const std::string text = refusal("gpu");
  EXPECT_HAS(text, "'gpu'");
  EXPECT_HAS(text, "the names are: cpu ('");
  EXPECT_HAS(text, venv());
}

TEST_F(FindTest, TheNamesVariableComesBeforeTheVirtualEnvironment) {
  environment_.virtual_env = venv();
  const std::string in_venv = package(kCpu);
  EXPECT_EQ(resolved("cpu"), in_venv);
  const std::string named = touch("named.so");
  environment_.names_and_libraries = "cpu:" + named;
  EXPECT_EQ(resolved("cpu"), named);
  EXPECT_EQ(resolved(""), named);
}

TEST_F(FindTest, TheNamesVariableHoldsAList) {
  const std::string first = touch("first.so");
  const std::string second = touch("second.so");
  environment_.names_and_libraries = "one:" + first + ",two:" + second + ",";
  EXPECT_EQ(resolved("one"), first);
  EXPECT_EQ(resolved("two"), second);
  EXPECT_EQ(resolved(""), first);
}

TEST_F(FindTest, TheNamesVariableIsNotRelative) {
  environment_.names_and_libraries = "one:lib/one.so,two:/nowhere/two.so,three,:/x,four:";
  const std::string text = refusal("one");
  EXPECT_HAS(text, "('one:lib/one.so' is not an absolute path, so it was left out)");
  EXPECT_HAS(text, "('two:/nowhere/two.so': no such file)");
  EXPECT_HAS(text, "('three' is not name:path, so it was left out)");
  EXPECT_HAS(text, "(':/x' is not name:path, so it was left out)");
  EXPECT_HAS(text, "('four:' is not name:path, so it was left out)");
}

TEST_F(FindTest, PrecastPluginCountsOnlyWithoutAnArgument) {
  environment_.virtual_env = venv();
  const std::string cpu = package(kCpu);
  const std::string cuda = package(kCuda12);
  environment_.precast_plugin = "cuda";
  EXPECT_EQ(resolved(""), cuda);
  EXPECT_EQ(resolved("cpu"), cpu);
  environment_.precast_plugin = "/elsewhere/x.so";
  EXPECT_EQ(resolved(""), "/elsewhere/x.so");
  EXPECT_EQ(resolved("cpu"), cpu);
}

TEST_F(FindTest, PrecastPluginWithAnUnknownNameIsNamed) {
  environment_.precast_plugin = "gpu";
  EXPECT_HAS(refusal(""), "PRECAST_PLUGIN ('gpu')");
}

TEST_F(FindTest, PrecastPluginIsNotRelative) {
  environment_.precast_plugin = "./x.so";
  const std::string text = refusal("");
  EXPECT_HAS(text, "PRECAST_PLUGIN is the relative path './x.so'");
}

TEST_F(FindTest, TheVirtualEnvironmentIsNotRelative) {
  environment_.virtual_env = "venv";
  EXPECT_HAS(refusal("cpu"), "VIRTUAL_ENV ('venv' is not an absolute path, so it was left out)");
}

TEST_F(FindTest, KnowsThePackages) {
  environment_.virtual_env = venv();
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"cpu", package(kCpu)},     {"cpu", package(kOldCpu)}, {"cuda", package(kCuda13)},
      {"cuda", package(kCuda12)}, {"tpu", package(kTpu)},
  };
  const Search result = search(environment_);
  ASSERT_EQ(result.found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(result.found[i].name, expected[i].first);
    EXPECT_EQ(result.found[i].path, expected[i].second);
    EXPECT_EQ(result.found[i].origin, "VIRTUAL_ENV");
  }
}

TEST_F(FindTest, TheSecondCpuPackageServesAlone) {
  environment_.virtual_env = venv();
  const std::string old = package(kOldCpu);
  EXPECT_EQ(resolved("cpu"), old);
}

TEST_F(FindTest, ANewerPythonComesFirst) {
  environment_.virtual_env = venv();
  package(kCpu, "python3.9");
  const std::string newest = package(kCpu, "python3.13");
  package(kCpu, "python3.11");
  package(kCpu, "python3");
  package(kCpu, "python3.14t");
  EXPECT_EQ(resolved("cpu"), newest);
  EXPECT_EQ(search(environment_).found.size(), 3U);
}

TEST_F(FindTest, ABinaryOfABuildTreeFindsTheTreesVenv) {
  const std::string plugin = package(kCpu, "python3.11", "tree/venv");
  for (const char* folder : {"bin", "tests"}) {
    environment_.executable = touch(std::string("tree/") + folder + "/precast");
    EXPECT_HAS(refusal("cpu"), "no plugin is named") << "without CMakeCache.txt";
  }
  touch("tree/CMakeCache.txt");
  for (const char* folder : {"bin", "tests"}) {
    environment_.executable = dir_.file(std::string("tree/") + folder + "/precast");
    EXPECT_EQ(resolved("cpu"), plugin);
    EXPECT_EQ(search(environment_).found[0].origin, "the build tree");
  }
  environment_.executable = touch("tree/other/precast");
  EXPECT_HAS(refusal("cpu"), "no plugin is named");
}

TEST_F(FindTest, TheVirtualEnvironmentComesBeforeTheBuildTree) {
  package(kCpu, "python3.11", "tree/venv");
  touch("tree/CMakeCache.txt");
  environment_.executable = touch("tree/bin/precast");
  environment_.virtual_env = venv();
  const std::string active = package(kCpu);
  EXPECT_EQ(resolved("cpu"), active);
}

TEST_F(FindTest, TheWorkingDirectoryDoesNotCount) {
  // A venv below the working directory, as in a checkout somebody stepped into.
  package(kCpu, "python3.11", "venv");
  package(kCpu, "python3.11", "build/venv");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  const std::string text = refusal("cpu");
  std::filesystem::current_path(before);
  EXPECT_HAS(text, "no plugin is named 'cpu'");
}

TEST_F(FindTest, ListPutsThePreferredPluginFirst) {
  environment_.virtual_env = venv();
  const std::string cpu = package(kCpu);
  const std::string cuda = package(kCuda13);
  environment_.precast_plugin = "cuda";
  std::vector<FoundPlugin> plugins = list(environment_);
  ASSERT_EQ(plugins.size(), 2U);
  EXPECT_EQ(plugins[0].path, cuda);
  EXPECT_EQ(plugins[1].path, cpu);

  environment_.precast_plugin = touch("mine.so");
  plugins = list(environment_);
  ASSERT_EQ(plugins.size(), 3U);
  EXPECT_EQ(plugins[0].name, "mine.so");
  EXPECT_EQ(plugins[0].path, environment_.precast_plugin);
  EXPECT_EQ(plugins[0].origin, "PRECAST_PLUGIN");

  environment_.precast_plugin = "relative/mine.so";
  EXPECT_EQ(list(environment_).size(), 2U);
  environment_.precast_plugin = "/nowhere/mine.so";
  EXPECT_EQ(list(environment_).size(), 2U);
}

TEST_F(FindTest, NothingFoundIsAnEmptyList) { EXPECT_TRUE(list(environment_).empty()); }

TEST(SearchEnvironment, IsThatOfTheProcess) {
  const EnvGuard plugin("PRECAST_PLUGIN", "a");
  const EnvGuard names("PJRT_NAMES_AND_LIBRARY_PATHS", "b:/c");
  const EnvGuard venv("VIRTUAL_ENV", std::nullopt);
  const SearchEnvironment environment = search_environment();
  EXPECT_EQ(environment.precast_plugin, "a");
  EXPECT_EQ(environment.names_and_libraries, "b:/c");
  EXPECT_EQ(environment.virtual_env, "");
  EXPECT_EQ(std::filesystem::path(environment.executable).filename(), "pjrt_test");
}

}  // namespace
}  // namespace precast::pjrt
