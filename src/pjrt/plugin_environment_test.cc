#include "pjrt/plugin_environment.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "precast/limits.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::pjrt {
namespace {

using precast::testing::EnvGuard;

int affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

TEST(EffectiveCpuCount, IsTheAffinity) {
  const EnvGuard nproc("NPROC", std::nullopt);
  const EnvGuard pjrt_nproc("PJRT_NPROC", std::nullopt);
  EXPECT_EQ(effective_cpu_count(), affinity());
}

TEST(EffectiveCpuCount, FollowsANarrowerAffinity) {
  const EnvGuard nproc("NPROC", std::nullopt);
  const EnvGuard pjrt_nproc("PJRT_NPROC", std::nullopt);
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const int count = effective_cpu_count();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(count, 1);
}

TEST(EffectiveCpuCount, IsLoweredByTheVariables) {
  for (const char* name : {"NPROC", "PJRT_NPROC"}) {
    const EnvGuard nproc("NPROC", std::nullopt);
    const EnvGuard pjrt_nproc("PJRT_NPROC", std::nullopt);
    for (const char* text : {"1", " 1", "1\n", "+1", "01"}) {
      const EnvGuard set(name, text);
      EXPECT_EQ(effective_cpu_count(), 1) << name << "='" << text << "'";
    }
    for (const char* text : {"", " ", "0", "-1", "one", "1.5", "1x", "99999999999", "1000000"}) {
      const EnvGuard set(name, text);
      EXPECT_EQ(effective_cpu_count(), affinity()) << name << "='" << text << "'";
    }
  }
}

TEST(PluginVariable, TellsEmptyFromUnset) {
  const EnvGuard empty("PRECAST_TEST_VARIABLE", "");
  EXPECT_EQ(plugin_variable("PRECAST_TEST_VARIABLE"), "");
  const EnvGuard unset("PRECAST_TEST_VARIABLE", std::nullopt);
  EXPECT_EQ(plugin_variable("PRECAST_TEST_VARIABLE"), std::nullopt);
}

TEST(FlagsFileContent, IsWhatXlaWouldRead) {
  const precast::testing::TempDir dir;
  std::ofstream(dir.path() / "flags", std::ios::binary) << std::string("--a\0b", 5);
  EXPECT_EQ(flags_file_content(dir.file("flags")), std::string("--a\0b", 5));
  EXPECT_EQ(flags_file_content(dir.path().string()), "");
  EXPECT_EQ(flags_file_content(""), std::nullopt);
  EXPECT_EQ(flags_file_content("--xla_cpu_ftz"), std::nullopt);
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(flags_file_content(dir.file("pipe")), std::nullopt);
  std::filesystem::resize_file(dir.file("flags"), limits::kMaxFlagsFileBytes + 1);
  EXPECT_EQ(flags_file_content(dir.file("flags")), std::nullopt);
}

}  // namespace
}  // namespace precast::pjrt
