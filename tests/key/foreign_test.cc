// A plugin whose first client somebody else made, under flags that are gone from the environment:
// the key holds what the plugin says is in force.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "pjrt/block.h"
#include "pjrt/c_abi.h"
#include "testing/env_guard.h"
#include "tests/key/items.h"

namespace precast::tests {
namespace {

using testing::EnvGuard;

// Makes a client as a program without Precast would, and leaves it alone.
void make_client_elsewhere(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto entry = reinterpret_cast<const PJRT_Api* (*)()>(::dlsym(library, "GetPjrtApi"));
  ASSERT_NE(entry, nullptr);
  const PJRT_Api* api = entry();
  pjrt::Block<PJRT_Plugin_Initialize_Args> initialize;
  ASSERT_EQ(api->PJRT_Plugin_Initialize(initialize.get()), nullptr);
  pjrt::Block<PJRT_Client_Create_Args> create;
  ASSERT_EQ(api->PJRT_Client_Create(create.get()), nullptr);
}

std::string path_of_cpu_plugin() {
  for (const FoundPlugin& plugin : find_plugins()) {
    if (plugin.name == "cpu") return plugin.path;
  }
  return "";
}

TEST(Foreign, TheFlagsInForceAreReadBack) {
  const std::string path = path_of_cpu_plugin();
  if (path.empty()) GTEST_SKIP() << "no CPU plugin is found";
  {
    const EnvGuard theirs("XLA_FLAGS", "--xla_cpu_prefer_vector_width=128");
    make_client_elsewhere(path);
  }
  const EnvGuard ours("XLA_FLAGS", "--xla_cpu_prefer_vector_width=512 --xla_fuel=x=3");
  const Client client = Plugin::open(path).value().create_client({}).value();
  EXPECT_FALSE(client.flags().certain);
  const auto key = key_on(client);
  ASSERT_TRUE(key && key->record) << (key ? key->detail : key.error().to_string());
  EXPECT_EQ(item_of(*key->record, "flags", "effective.xla_cpu_prefer_vector_width"), "128");
  EXPECT_EQ(item_of(*key->record, "flags", "--xla_cpu_prefer_vector_width"), "none");
  // What no option shows counts as it stands.
  EXPECT_EQ(item_of(*key->record, "flags", "--xla_fuel"), "x=3");
  EXPECT_EQ(key_on(client)->record, key->record);
}

}  // namespace
}  // namespace precast::tests
