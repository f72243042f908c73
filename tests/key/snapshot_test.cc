// Flags are those of the plugin's first client: later changes of XLA_FLAGS change no key, as they
// change nothing in the real plugin.
#include <gtest/gtest.h>

#include "testing/env_guard.h"
#include "tests/key/items.h"

namespace precast::tests {
namespace {

using testing::EnvGuard;

// What a compile in this process is made with, as the plugin itself says.
TEST(Snapshot, ALaterChangeOfTheEnvironmentLeavesTheKeyAsItIs) {
  const EnvGuard first("XLA_FLAGS", "--xla_cpu_prefer_vector_width=128 stop --xla_cpu_ftz");
  const auto plugin = Plugin::open("cpu");
  ASSERT_TRUE(plugin) << plugin.error().to_string();
  const Client client = plugin->create_client({}).value();
  EXPECT_TRUE(client.flags().certain);
  const auto before = key_on(client);
  ASSERT_TRUE(before && before->record);
  EXPECT_EQ(item_of(*before->record, "flags", "--xla_cpu_prefer_vector_width"), "128");
  EXPECT_EQ(item_of(*before->record, "flags", "--xla_cpu_ftz"), "none");
  EXPECT_EQ(before->warnings.size(), 1u);

  for (const char* later : {"--xla_cpu_prefer_vector_width=512", "--no_such_flag", ""}) {
    const EnvGuard changed("XLA_FLAGS", later);
    EXPECT_EQ(key_on(client)->record, before->record) << later;
    const Client second = plugin->create_client({}).value();
    EXPECT_EQ(key_on(second)->record, before->record) << later;
  }
}

// Options of one effect have one key on the real plugin's client, others have another.
TEST(Snapshot, PlacementSharesAndCountsDoNot) {
  const auto plugin = Plugin::open("cpu");
  ASSERT_TRUE(plugin);
  const Client client = plugin->create_client({{"cpu_device_count", std::int64_t{8}}}).value();
  const auto key = [&](int replicas, int partitions, std::vector<std::int64_t> ids) {
    CompileOptions options;
    options.set_replicas(replicas);
    options.set_partitions(partitions);
    options.set_assignment(DeviceAssignment{replicas, partitions, std::move(ids)});
    const auto made = key_on(client, options);
    EXPECT_TRUE(made && made->record);
    return made && made->record ? made->record->digest() : Digest();
  };
  const Digest four = key(4, 1, {0, 1, 2, 3});
  EXPECT_EQ(key(4, 1, {4, 5, 6, 7}), four);
  EXPECT_EQ(key(4, 1, {3, 2, 1, 0}), four);
  EXPECT_EQ(key(4, 1, {0, 2, 4, 6}), four);
  EXPECT_NE(key(1, 4, {0, 1, 2, 3}), four);
  EXPECT_NE(key(2, 2, {0, 1, 2, 3}), four);
  EXPECT_NE(key(2, 1, {0, 1}), four);
  EXPECT_NE(key(2, 1, {0, 1}), key(1, 2, {0, 1}));
}

}  // namespace
}  // namespace precast::tests
