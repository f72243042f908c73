// What every conformance test starts from: one plugin and one client per process.
//
// PRECAST_CONFORMANCE_PLUGIN names the plugin: a path, a short name, or "file:" and the name of a
// library among those that are found by a short name. The suite is compiled once and run per
// plugin. PRECAST_CONFORMANCE_LACKS lists, separated by commas, what this plugin is known to lack;
// only then do the tests of it skip:
//
//   client_option_check   it takes client options that it does not know
//   layouts               its buffers are row-major only
//   programs              it does not run what StableHLO programs say
//   result_memory_kinds   it does not tell in which memory results are
//   xla_options           it reads no compile options but counts and devices
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/plugin.h"
#include "precast/program.h"

namespace precast::conformance {

// Fails the test and gives up on it when the result is an error.
#define PRECAST_ASSERT_OK(result) ASSERT_TRUE(result) << (result).error().to_string()
#define PRECAST_SKIP_IF_LACKING(capability) \
  if (lacks(capability)) GTEST_SKIP() << "the plugin is known to lack " << (capability)
#define PRECAST_EXPECT_HAS(text, part) \
  EXPECT_NE(std::string_view(text).find(part), std::string_view::npos) << (text)

// Numbers as the bytes of a tensor, and back.
template <typename T>
HostTensor tensor(ElementType element, std::vector<std::int64_t> dimensions,
                  const std::vector<T>& values) {
  Bytes data(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(data.data(), values.data(), data.size());
  return {{element, std::move(dimensions)}, std::move(data)};
}
template <typename T>
std::vector<T> values_of(const HostTensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(T));
  return values;
}

// f32[2,3] of start, start + 1 and so on
HostTensor matrix(float start);

Program program(const std::string& text);

// One replica and partition on each of the devices.
CompileOptions replicas_on(const std::vector<std::int64_t>& device_ids);

class Conformance : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;

  static const Plugin& plugin();
  static const Client& client();
  // The ids of the devices that can be used, in order.
  static std::vector<std::int64_t> device_ids();

  static bool lacks(std::string_view capability);

  // Compiles for the given devices; an error fails the test and gives nothing.
  static std::optional<CompiledExecutable> compiled(const std::string& text,
                                                    const std::vector<std::int64_t>& device_ids);
};

}  // namespace precast::conformance
