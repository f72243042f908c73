#include "key/build_record.h"

#include <gtest/gtest.h>

#include "key/test_inputs.h"
#include "precast/limits.h"

namespace precast::key {
namespace {

TEST(Lists, EnvironmentOfEachPlatform) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(environment_names("cpu"), Names{"LLVM_OVERRIDE_PRODUCER"});
  EXPECT_EQ(environment_names("tpu"), Names{"LLVM_OVERRIDE_PRODUCER"});
  const Names all = {"LLVM_OVERRIDE_PRODUCER", "NVIDIA_TF32_OVERRIDE"};
  EXPECT_EQ(environment_names("cuda"), all);
  EXPECT_EQ(environment_names("something new"), all) << "unknown: everything counts";
}

TEST(Lists, NeutralClientOptions) {
  EXPECT_TRUE(is_neutral_client_option("cpu", "cpu_device_count"));
  EXPECT_TRUE(is_neutral_client_option("cpu", "asynchronous"));
  EXPECT_FALSE(is_neutral_client_option("cpu", "process_id"));
  EXPECT_FALSE(is_neutral_client_option("cpu", "cpu_device_coun"));
  EXPECT_FALSE(is_neutral_client_option("cuda", "asynchronous"));
}

TEST(Record, FieldsStandInTheirOrder) {
  const std::vector<std::string> order = {
      "schema",      "program", "options",   "flags", "client_options",
      "environment", "plugin",  "placement", "cpu",   "extra"};
  for (const KeyInputs& inputs : {sample_inputs(), KeyInputs{}}) {
    std::vector<std::string> names;
    const KeyRecord record = build_record(inputs);
    for (const KeyField& field : record.fields()) names.push_back(field.name);
    EXPECT_EQ(names, order);
  }
}

TEST(Record, IsPureAndDecodes) {
  const KeyRecord record = build_record(sample_inputs());
  EXPECT_EQ(build_record(sample_inputs()), record);
  EXPECT_EQ(KeyRecord::decode(record.encode()).value(), record);
}

TEST(Record, SaysWhatItMeans) {
  const KeyRecord record = build_record(sample_inputs());
  EXPECT_EQ(*record.find("program")->find("mode"), "raw");
  EXPECT_EQ(*record.find("program")->find("format"), "mlir_bytecode");
  EXPECT_EQ(*record.find("program")->find("bytes"), "1234");
  EXPECT_EQ(*record.find("client_options")->find("process_id"), "int64:0");
  EXPECT_EQ(*record.find("plugin")->find("api_version"), "0.115");
  EXPECT_EQ(*record.find("plugin")->find("attribute.stablehlo_current_version"), "int64s:1,13,0");
  EXPECT_EQ(*record.find("placement")->find("0.kind"), "cpu");
  EXPECT_EQ(*record.find("placement")->find("0.at.coords"), "0,0,0");
  EXPECT_EQ(*record.find("cpu")->find("feature.avx2"), "+");
  EXPECT_EQ(*record.find("cpu")->find("feature.sse4a"), "-");
  KeyInputs no_cpu = sample_inputs();
  no_cpu.cpu.reset();
  EXPECT_NE(build_record(no_cpu).find("cpu")->find("none"), nullptr);
}

// The largest placement that is allowed has a record that can be read back.
TEST(Record, ItemsOfTheLargestPlacementAreWithinTheLimit) {
  constexpr std::uint64_t kItemsPerPosition = 6;  // kind, process, id, three coordinates
  EXPECT_LE(2 + kItemsPerPosition * limits::kMaxDevices, std::uint64_t{limits::kMaxKeyItems});
}

}  // namespace
}  // namespace precast::key
