#include "program/custom_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "precast/limits.h"

namespace precast::program {
namespace {

using Targets = std::set<std::string, std::less<>>;

TEST(CustomCalls, TheTable) {
  for (const char* target :
       {"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
        "xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback",
        "xla_buffer_python_cpu_callback", "xla_buffer_python_gpu_callback"}) {
    EXPECT_EQ(classify_custom_call(target), CustomCallClass::index_bound) << target;
  }
  for (const char* target : {"CustomSPMDPartitioning", "InspectSharding", "xla_python_cpu_callback",
                             "xla_python_gpu_callback"}) {
    EXPECT_EQ(classify_custom_call(target), CustomCallClass::process_bound) << target;
  }
}

TEST(CustomCalls, LookAlikesArePlain) {
  for (const char* target :
       {"", "lapack_sgetrf_ffi", "my_callback", "xla_ffi_python_cpu_callback2",
        "xla_ffi_python_cpu_callbac", "Xla_ffi_python_cpu_callback", "a.xla_python_cpu_callback",
        "xla_ffi_python_tpu_callback", "customspmdpartitioning", "CustomSPMDPartitioning ",
        "InspectShardings"}) {
    EXPECT_EQ(classify_custom_call(target), CustomCallClass::plain) << target;
  }
}

// A host may register a rule for any target that is not XLA's own.
TEST(CustomCalls, HowTheyArePartitionedIsKnownForXlasOwn) {
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "TopK",
                             "xla.sdy.FuncResultSharding", "mhlo.topk", "tpu_custom_call",
                             "__gpu$xla.gpu.triton", "annotate_device_placement"}) {
    EXPECT_TRUE(has_known_partitioning(target)) << target;
  }
  for (const char* target : {"", "my_op", "sharding", "Sharding2", "xla.sd", "lapack_sgetrf_ffi"}) {
    EXPECT_FALSE(has_known_partitioning(target)) << target;
  }
}

TEST(CustomCalls, AScanListsEachTargetOnceInItsClass) {
  CustomCallScan scan;
  for (const char* target : {"b", "a", "b", "InspectSharding", "xla_ffi_python_gpu_callback"}) {
    scan.add(target);
  }
  EXPECT_EQ(scan.plain, (Targets{"a", "b"}));
  EXPECT_EQ(scan.index_bound, Targets{"xla_ffi_python_gpu_callback"});
  EXPECT_EQ(scan.process_bound, Targets{"InspectSharding"});
  EXPECT_FALSE(scan.plain_truncated);
}

TEST(CustomCalls, OnlyPlainTargetsAreEverLeftOut) {
  CustomCallScan scan;
  for (std::size_t i = 0; i < limits::kMaxCustomCallTargets; ++i) scan.add(std::to_string(i));
  EXPECT_FALSE(scan.plain_truncated);
  scan.add("0");
  EXPECT_FALSE(scan.plain_truncated);
  scan.add("one more");
  EXPECT_TRUE(scan.plain_truncated);
  EXPECT_EQ(scan.plain.size(), limits::kMaxCustomCallTargets);
  scan.add("CustomSPMDPartitioning");
  EXPECT_EQ(scan.process_bound, Targets{"CustomSPMDPartitioning"});

  CustomCallScan long_name;
  long_name.add(std::string(100'000, 'x'));
  EXPECT_TRUE(long_name.plain_truncated);
  EXPECT_TRUE(long_name.plain.empty());
}

TEST(CustomCalls, UndecodableBytesAreScannedWithCaution) {
  const auto scan = [](const std::string& bytes) { return scan_bytes_for_custom_calls(bytes); };
  EXPECT_EQ(scan(""), CustomCallScan());
  EXPECT_EQ(scan("nothing of the kind"), CustomCallScan());
  // At the end, before a NUL, behind a length that looks like a letter, after a longer name.
  for (const std::string& bytes :
       {std::string("xCustomSPMDPartitioning"), std::string("CustomSPMDPartitioning\0x", 24),
        std::string("9CustomSPMDPartitioning("),
        std::string("CustomSPMDPartitioning2 CustomSPMDPartitioning")}) {
    EXPECT_EQ(scan(bytes).process_bound, Targets{"CustomSPMDPartitioning"}) << bytes;
  }
  EXPECT_EQ(scan("CustomSPMDPartitioning2"), CustomCallScan());
  EXPECT_EQ(scan("CustomSPMDPartitionin"), CustomCallScan());
  EXPECT_EQ(scan("\"xla_buffer_python_cpu_callback\"").index_bound,
            Targets{"xla_buffer_python_cpu_callback"});
}

}  // namespace
}  // namespace precast::program
