#include "pjrt/capabilities.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace precast::pjrt {
namespace {

// Never called: capabilities are found by looking.
template <typename Args>
PJRT_Error* never(Args*) {
  ADD_FAILURE() << "a function was called";
  return nullptr;
}

PJRT_Api full_table() {
  PJRT_Api table{};
  table.struct_size = sizeof table;
  table.pjrt_api_version.minor_version = 115;
  table.PJRT_LoadedExecutable_GetExecutable = never;
  table.PJRT_Executable_Serialize = never;
  table.PJRT_Executable_DeserializeAndLoad = never;
  table.PJRT_Executable_GetCompileOptions = never;
  table.PJRT_Executable_OptimizedProgram = never;
  table.PJRT_Client_TopologyDescription = never;
  table.PJRT_TopologyDescription_Serialize = never;
  table.PJRT_TopologyDescription_Fingerprint = never;
  table.PJRT_Executable_ParameterMemoryKinds = never;
  table.PJRT_Executable_GetCostAnalysis = never;
  return table;
}

PluginCapabilities of(const PJRT_Api& table) { return capabilities_of(Api(&table)); }

TEST(Capabilities, OfAFullTable) {
  const PJRT_Api table = full_table();
  const PluginCapabilities can = of(table);
  EXPECT_TRUE(can.serialize);
  EXPECT_TRUE(can.deserialize_and_load);
  EXPECT_TRUE(can.override_compile_options);
  EXPECT_TRUE(can.get_compile_options);
  EXPECT_TRUE(can.optimized_program);
  EXPECT_TRUE(can.topology);
  EXPECT_TRUE(can.topology_fingerprint);
  EXPECT_TRUE(can.memory_kinds_of_parameters);
  EXPECT_TRUE(can.cost_analysis);
  EXPECT_TRUE(can.extensions.empty());
}

TEST(Capabilities, OfAnEmptyTable) {
  PJRT_Api table{};
  table.struct_size = sizeof table;
  const PluginCapabilities can = of(table);
  EXPECT_FALSE(can.serialize);
  EXPECT_FALSE(can.deserialize_and_load);
  EXPECT_FALSE(can.override_compile_options);
  EXPECT_FALSE(can.get_compile_options);
  EXPECT_FALSE(can.optimized_program);
  EXPECT_FALSE(can.topology);
  EXPECT_FALSE(can.topology_fingerprint);
  EXPECT_FALSE(can.memory_kinds_of_parameters);
  EXPECT_FALSE(can.cost_analysis);
}

TEST(Capabilities, EndWithTheTable) {
  PJRT_Api table = full_table();
  table.struct_size = 984;  // of PJRT 0.81
  const PluginCapabilities can = of(table);
  EXPECT_TRUE(can.serialize);
  EXPECT_TRUE(can.topology);
  EXPECT_FALSE(can.get_compile_options);         // since 0.87
  EXPECT_FALSE(can.topology_fingerprint);        // since 0.101
  EXPECT_FALSE(can.memory_kinds_of_parameters);  // since 0.102
}

TEST(Capabilities, OverridingOptionsNeedsAVersion) {
  PJRT_Api table = full_table();
  table.pjrt_api_version.minor_version = 71;
  EXPECT_TRUE(of(table).override_compile_options);
  table.pjrt_api_version.minor_version = 70;
  EXPECT_FALSE(of(table).override_compile_options);
  EXPECT_TRUE(of(table).deserialize_and_load);
}

TEST(Capabilities, SerializingNeedsTheExecutableBehindALoadedOne) {
  PJRT_Api table = full_table();
  table.PJRT_LoadedExecutable_GetExecutable = nullptr;
  EXPECT_FALSE(of(table).serialize);
}

std::vector<std::string> names(std::vector<PJRT_Extension_Base>& links) {
  for (std::size_t i = 0; i + 1 < links.size(); ++i) links[i].next = &links[i + 1];
  PJRT_Api table{};
  table.struct_size = sizeof table;
  table.extension_start = links.data();
  return of(table).extensions;
}

TEST(Extensions, AreNamedInTheOrderOfTheChain) {
  std::vector<PJRT_Extension_Base> links(4);
  links[0].type = PJRT_Extension_Type_AbiVersion;
  links[1].type = PJRT_Extension_Type_Layouts;
  links[2].type = static_cast<PJRT_Extension_Type>(25);
  links[3].type = static_cast<PJRT_Extension_Type>(-1);
  const std::vector<std::string> expected = {"abi_version", "layouts", "type<25>", "type<-1>"};
  EXPECT_EQ(names(links), expected);
}

TEST(Extensions, OfOlderPluginsAreShort) {
  std::vector<PJRT_Extension_Base> links(3);
  links[0].type = PJRT_Extension_Type_Layouts;
  links[0].struct_size = 72;  // of PJRT 0.81
  links[1].type = PJRT_Extension_Type_Shardings;
  links[1].struct_size = 40;
  links[2].type = static_cast<PJRT_Extension_Type>(25);
  links[0].next = &links[1];
  links[1].next = &links[2];
  PJRT_Api table{};
  table.struct_size = sizeof table;
  table.extension_start = links.data();
  EXPECT_EQ(of(table).short_extensions, std::vector<std::string>{"layouts"});
}

TEST(Extensions, OfAChainThatBitesItsTailEnd) {
  std::vector<PJRT_Extension_Base> links(3);
  links[2].next = &links[1];
  EXPECT_EQ(names(links).size(), 3U);
  links[2].next = &links[2];
  EXPECT_EQ(names(links).size(), 3U);
}

TEST(Extensions, OfAnEndlessChainAreBounded) {
  std::vector<PJRT_Extension_Base> links(kMaxExtensions + 10);
  EXPECT_EQ(names(links).size(), static_cast<std::size_t>(kMaxExtensions));
}

}  // namespace
}  // namespace precast::pjrt
