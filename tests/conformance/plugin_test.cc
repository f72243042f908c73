// A plugin and its client: opening, facts, devices, topology, flags.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/hash.h"
#include "precast/limits.h"
#include "testing/env_guard.h"
#include "tests/conformance/fixture.h"

namespace precast::conformance {
namespace {

using testing::EnvGuard;

using PluginConformance = Conformance;

TEST_F(PluginConformance, SaysWhatItIs) {
  EXPECT_TRUE(std::filesystem::path(plugin().path()).is_absolute());
  EXPECT_EQ(std::filesystem::canonical(plugin().path()).string(), plugin().path());
  EXPECT_EQ(plugin().api_version().major, 0);
  EXPECT_GT(plugin().api_version().minor, 0);
  EXPECT_GT(plugin().api_struct_size(), 848U);  // of PJRT 0.57
}

TEST_F(PluginConformance, CanDoWhatTheCacheNeeds) {
  EXPECT_TRUE(plugin().capabilities().serialize);
  EXPECT_TRUE(plugin().capabilities().deserialize_and_load);
  EXPECT_TRUE(plugin().capabilities().override_compile_options);
}

TEST_F(PluginConformance, IsOpenedOnce) {
  const auto again = Plugin::open(plugin().path());
  PRECAST_ASSERT_OK(again);
  EXPECT_EQ(again->impl(), plugin().impl());
  const std::filesystem::path link =
      std::filesystem::path(::testing::TempDir()) / ("link-" + std::to_string(::getpid()) + ".so");
  std::filesystem::create_symlink(plugin().path(), link);
  const auto linked = Plugin::open(link.string());
  std::filesystem::remove(link);
  PRECAST_ASSERT_OK(linked);
  EXPECT_EQ(linked->impl(), plugin().impl());
}

TEST_F(PluginConformance, IsTheFileThatIsMapped) {
  const auto file = plugin().mapped_file();
  PRECAST_ASSERT_OK(file);
  EXPECT_EQ(file->path, plugin().path());
  const auto content = base::read_file(plugin().path(), std::uint64_t{4} << 30);
  PRECAST_ASSERT_OK(content);
  EXPECT_EQ(file->bytes, content->size());
  EXPECT_EQ(file->digest, base::sha256(*content));
  const auto again = plugin().mapped_file();
  PRECAST_ASSERT_OK(again);
  EXPECT_EQ(again->digest, file->digest);
}

TEST_F(PluginConformance, ClientNamesItsPlatform) {
  EXPECT_FALSE(client().platform_name().empty());
  EXPECT_FALSE(client().platform_version().empty());
  EXPECT_EQ(client().process_index(), 0);
  EXPECT_EQ(client().plugin().impl(), plugin().impl());
  EXPECT_TRUE(client().options().empty());
}

TEST_F(PluginConformance, DevicesAreListedById) {
  const std::vector<Device>& devices = client().devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_TRUE(std::is_sorted(devices.begin(), devices.end(),
                             [](const Device& a, const Device& b) { return a.id < b.id; }));
  for (const Device& device : devices) {
    EXPECT_TRUE(device.addressable);
    EXPECT_EQ(device.process_index, 0);
    EXPECT_GE(device.local_hardware_id, 0);
    EXPECT_FALSE(device.kind.empty());
    EXPECT_FALSE(device.text.empty());
    EXPECT_FALSE(device.memory_kinds.empty());
  }
}

TEST_F(PluginConformance, DeviceCountFollowsTheOption) {
  if (client().platform_name() != "cpu") GTEST_SKIP() << "only CPU clients have the option";
  const std::vector<NamedValue> options = {{"cpu_device_count", std::int64_t{3}}};
  const auto three = plugin().create_client(options);
  PRECAST_ASSERT_OK(three);
  EXPECT_EQ(three->devices().size(), 3U);
  EXPECT_EQ(three->options(), options);
  EXPECT_EQ(client().devices().size(), 4U);
}

TEST_F(PluginConformance, AnUnknownClientOptionIsNamed) {
  PRECAST_SKIP_IF_LACKING("client_option_check");
  const auto client = plugin().create_client({{"no_such_option", std::int64_t{1}}});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), ErrorCode::plugin_error);
  PRECAST_EXPECT_HAS(client.error().message(), "no_such_option");
}

TEST_F(PluginConformance, DefaultAssignmentNamesDevices) {
  const auto assignment = client().default_assignment(2, 1);
  PRECAST_ASSERT_OK(assignment);
  EXPECT_EQ(assignment->replicas, 2);
  EXPECT_EQ(assignment->partitions, 1);
  ASSERT_EQ(assignment->device_ids.size(), 2U);
  EXPECT_NE(assignment->device_ids[0], assignment->device_ids[1]);
  const std::vector<std::int64_t> ids = device_ids();
  for (const std::int64_t id : assignment->device_ids) {
    EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
  }
}

TEST_F(PluginConformance, DefaultAssignmentRefusesCountsThatMakeNoSense) {
  constexpr int kMax = std::numeric_limits<int>::max();
  for (const auto& [replicas, partitions] : std::vector<std::pair<int, int>>{
           {0, 1}, {1, 0}, {-1, 1}, {-1, -1}, {kMax, kMax}, {limits::kMaxDevices, 2}}) {
    const auto assignment = client().default_assignment(replicas, partitions);
    ASSERT_FALSE(assignment) << replicas << " " << partitions;
    EXPECT_EQ(assignment.error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(PluginConformance, DefaultAssignmentBeyondTheDevicesIsAnError) {
  const int count = static_cast<int>(client().devices().size());
  const auto assignment = client().default_assignment(count + 1, 1);
  ASSERT_FALSE(assignment);
  EXPECT_EQ(assignment.error().code(), ErrorCode::invalid_argument);
}

TEST_F(PluginConformance, TopologyIsWhatThePluginCan) {
  const auto topology = client().topology();
  PRECAST_ASSERT_OK(topology);
  EXPECT_EQ(topology->serialized.empty(), !plugin().capabilities().topology);
  EXPECT_EQ(topology->fingerprint.has_value(), plugin().capabilities().topology_fingerprint);
  const auto again = client().topology();
  PRECAST_ASSERT_OK(again);
  EXPECT_EQ(again->serialized, topology->serialized);
  EXPECT_EQ(again->fingerprint, topology->fingerprint);
}

TEST_F(PluginConformance, FlagsAreThoseOfTheFirstClient) {
  const Client::FlagSnapshot before = client().flags();
  const EnvGuard flags("XLA_FLAGS", "--xla_cpu_enable_fast_math=true");
  const auto later = plugin().create_client({});
  PRECAST_ASSERT_OK(later);
  EXPECT_EQ(later->flags().xla_flags, before.xla_flags);
  EXPECT_EQ(later->flags().libtpu_init_args, before.libtpu_init_args);
  EXPECT_NE(later->flags().xla_flags, "--xla_cpu_enable_fast_math=true");
}

TEST_F(PluginConformance, CpuCountIsTheSmallerOfThenAndNow) {
  const int now = client().cpu_count();
  EXPECT_GE(now, 1);
  {
    const EnvGuard nproc("NPROC", "1");
    EXPECT_EQ(client().cpu_count(), 1);
    const auto narrow = plugin().create_client({});
    PRECAST_ASSERT_OK(narrow);
    const EnvGuard wide("NPROC", std::nullopt);
    EXPECT_EQ(narrow->cpu_count(), 1) << "it was created with one";
  }
  EXPECT_EQ(client().cpu_count(), now);
}

}  // namespace
}  // namespace precast::conformance
