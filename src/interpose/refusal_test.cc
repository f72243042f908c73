#include "interpose/refusal.h"

#include <gtest/gtest.h>

#include "testing/fake_plugin_driver.h"

namespace precast::interpose {
namespace {

TEST(Refusal, GivesItsErrorWhateverIsCalled) {
  const PJRT_Api* table = refusal("nothing is named");
  ASSERT_EQ(table->struct_size, sizeof(PJRT_Api));
  EXPECT_EQ(table->pjrt_api_version.major_version, 0);
  testing::Driver host(table);
  EXPECT_EQ(host.create_client(), nullptr);
  EXPECT_EQ(host.failure.code, PJRT_Error_Code_FAILED_PRECONDITION);
  EXPECT_EQ(host.failure.message, "nothing is named");

  auto initialize = testing::make_args<PJRT_Plugin_Initialize_Args>();
  EXPECT_EQ(host.outcome(table->PJRT_Plugin_Initialize(&initialize)).message, "nothing is named");
  auto kinds = testing::make_args<PJRT_TopologyDescription_GetMemorySpaceKindIds_Args>();
  PJRT_Error* last = table->PJRT_TopologyDescription_GetMemorySpaceKindIds(&kinds);
  EXPECT_EQ(host.outcome(last).message, "nothing is named");
}

// Hosts ask each error for its payloads.
TEST(Refusal, ItsErrorHasNoPayloads) {
  const PJRT_Api* table = refusal("no");
  auto initialize = testing::make_args<PJRT_Plugin_Initialize_Args>();
  PJRT_Error* error = table->PJRT_Plugin_Initialize(&initialize);
  auto each = testing::make_args<PJRT_Error_ForEachPayload_Args>();
  each.error = error;
  EXPECT_EQ(table->PJRT_Error_ForEachPayload(&each), nullptr);
}

}  // namespace
}  // namespace precast::interpose
