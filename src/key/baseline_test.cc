// Baselines on the CPUs of testdata/cpu: triple, LLVM's name and features, a line each. The Intel
// one is what XLA's CPU plugin said on such a machine, the AMD one is in its form from LLVM's
// description.
#include <gtest/gtest.h>

#include <fstream>

#include "key/build_record.h"
#include "key/test_inputs.h"
#include "topology/cpu_features.h"

namespace precast::key {
namespace {

proto::CpuTarget cpu_of(const std::string& name) {
  std::ifstream file(std::string(PRECAST_TESTDATA) + "/cpu/" + name + ".txt");
  proto::CpuTarget cpu;
  std::getline(file, cpu.triple);
  std::getline(file, cpu.name);
  std::getline(file, cpu.features);
  EXPECT_FALSE(cpu.features.empty()) << name;
  return cpu;
}

KeyRecord record_of(const proto::CpuTarget& cpu, int count, const std::string& baseline) {
  KeyInputs inputs = sample_inputs();
  inputs.cpu = HostCpu{cpu, count, baseline};
  return build_record(inputs);
}

TEST(Baseline, IntelAndAmdHaveOneKeyWithItAndTwoWithout) {
  const proto::CpuTarget intel = cpu_of("intel_emeraldrapids");
  const proto::CpuTarget amd = cpu_of("amd_znver4");
  EXPECT_NE(record_of(intel, 8, ""), record_of(amd, 8, ""));
  std::vector<KeyRecord> levels;
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    EXPECT_EQ(record_of(intel, 8, name), record_of(amd, 64, name)) << name;
    levels.push_back(record_of(intel, 8, name));
  }
  EXPECT_NE(levels[0].digest(), levels[1].digest());
  EXPECT_NE(levels[1].digest(), levels[2].digest());
}

TEST(Baseline, BothReachEveryLevelAndHoldMore) {
  for (const char* cpu : {"intel_emeraldrapids", "amd_znver4"}) {
    const std::string features = cpu_of(cpu).features;
    for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      const topology::Baseline* level = topology::find_baseline(name);
      ASSERT_NE(level, nullptr) << name;
      EXPECT_TRUE(topology::missing_features(level->features, features).empty()) << name;
      EXPECT_FALSE(topology::beyond_baseline(*level, features).empty()) << name;
      EXPECT_TRUE(topology::beyond_baseline(*level, level->features).empty()) << name;
    }
  }
}

TEST(Baseline, LevelsHoldTheOnesBefore) {
  const topology::Baseline& v2 = *topology::find_baseline("x86-64-v2");
  const topology::Baseline& v3 = *topology::find_baseline("x86-64-v3");
  const topology::Baseline& v4 = *topology::find_baseline("x86-64-v4");
  EXPECT_TRUE(topology::beyond_baseline(v3, v2.features).empty());
  EXPECT_TRUE(topology::beyond_baseline(v4, v3.features).empty());
  EXPECT_EQ(topology::beyond_baseline(v3, v4.features),
            (std::vector<std::string>{"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}));
  EXPECT_EQ(topology::beyond_baseline(v2, v3.features),
            (std::vector<std::string>{"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe",
                                      "xsave"}));
  EXPECT_EQ(topology::find_baseline("x86-64"), nullptr);
  EXPECT_EQ(topology::find_baseline(""), nullptr);
}

}  // namespace
}  // namespace precast::key
