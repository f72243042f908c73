// Loading and releasing leaves nothing behind, and an input is not copied more often than it must
// be.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "precast/precast.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

constexpr int kCycles = 500;
constexpr int kWarmUp = 100;  // the allocators' pools fill
constexpr std::uint64_t kMiB = 1 << 20;

// A line of /proc/self/status in bytes: VmRSS is now, VmHWM the most there ever was.
std::uint64_t memory(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);) {
    if (text.starts_with(line + ":")) return std::stoull(text.substr(line.size() + 1)) * 1024;
  }
  ADD_FAILURE() << "no " << line;
  return 0;
}

Result<Client> open_client() {
  constexpr std::string_view kFile = "file:";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  const char* variable = std::getenv("PRECAST_MEMORY_PLUGIN");
  std::string name = variable == nullptr ? "cpu" : variable;
  if (name.starts_with(kFile)) {
    name.replace(0, kFile.size(), "/");
    for (const FoundPlugin& found : find_plugins()) {
      if (found.path.ends_with(name)) name = found.path;
    }
  }
  PRECAST_ASSIGN(const Plugin plugin, Plugin::open(name));
  return plugin.create_client({});
}

// Hits and releases `program` kCycles times; what stays of each may be `most_bytes_each`.
void expect_flat(const Program& program, std::uint64_t most_bytes_each) {
  const testing::TempDir folder;
  const Result<Client> client = open_client();
  ASSERT_TRUE(client) << client.error().to_string();
  CacheConfig config;
  config.directory = folder.file("cache");
  const Cache cache = Cache::open(config);
  std::uint64_t before = 0;
  for (int i = 0; i <= kCycles; ++i) {
    const auto done = cache.compile_or_load(*client, program, {});
    ASSERT_TRUE(done) << done.error().to_string();
    ASSERT_EQ(done->report.outcome, i == 0 ? Outcome::miss : Outcome::hit) << done->report.detail;
    if (i == kWarmUp) before = memory("VmRSS");
  }
  const std::uint64_t after = memory("VmRSS");
  const std::uint64_t grown = after > before ? after - before : 0;
  std::printf("resident: %llu MiB after %d loads, %llu MiB after %d: %llu bytes for each\n",
              static_cast<unsigned long long>(before / kMiB), kWarmUp,
              static_cast<unsigned long long>(after / kMiB), kCycles,
              static_cast<unsigned long long>(grown / (kCycles - kWarmUp)));
  EXPECT_LE(grown, most_bytes_each * (kCycles - kWarmUp));
}

// An executable of 9 kB takes some 100 kB when it is loaded: one in ten kept would show.
TEST(Memory, SmallProgram) {
  const auto program = Program::from_bytes(
      R"(module @small {
  func.func public @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
    %0 = stablehlo.add %a, %b : tensor<64xf32>
    %1 = stablehlo.tanh %0 : tensor<64xf32>
    return %1 : tensor<64xf32>
  }
})",
      "small");
  ASSERT_TRUE(program) << program.error().to_string();
  expect_flat(*program, 10 << 10);
}

// An executable of 257 kB.
TEST(Memory, Ranker) {
  const auto program = Program::from_file("examples/ranker/ranker.mlirbc");
  ASSERT_TRUE(program) << program.error().to_string();
  expect_flat(*program, 64 << 10);
}

TEST(Memory, AnInputOfAGigabyte) {
  constexpr std::int64_t kCount = 1 << 28;
  const Result<Client> client = open_client();
  ASSERT_TRUE(client) << client.error().to_string();
  const auto program = Program::from_bytes(
      R"(module @large {
  func.func public @main(%a: tensor<268435456xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [0]
      : (tensor<268435456xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
})",
      "large");
  ASSERT_TRUE(program) << program.error().to_string();
  const auto executable = client->compile(*program, {});
  ASSERT_TRUE(executable) << executable.error().to_string();
  HostTensor input{{ElementType::f32, {kCount}}, Bytes(kCount * sizeof(float), '\0')};
  const float largest = 7;
  std::memcpy(input.data.data() + input.data.size() / 2, &largest, sizeof largest);

  const std::uint64_t before = memory("VmRSS");  // holds the input
  const auto outputs = executable->run({input});
  ASSERT_TRUE(outputs) << outputs.error().to_string();
  const std::uint64_t peak = memory("VmHWM");
  float result = 0;
  std::memcpy(&result, outputs->at(0).at(0).data.data(), sizeof result);
  EXPECT_EQ(result, largest);
  std::printf("resident: %llu MiB with the input, %llu MiB at the most\n",
              static_cast<unsigned long long>(before / kMiB),
              static_cast<unsigned long long>(peak / kMiB));
  // The device's own copy, and nothing else.
  EXPECT_LE(peak - before, input.data.size() + 64 * kMiB);
  EXPECT_GE(before, input.data.size());
}

}  // namespace
}  // namespace precast
