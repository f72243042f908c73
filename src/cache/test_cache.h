// For the tests of compile-or-load: a cache in a folder of its own on the fake plugin, which
// counts.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {

inline constexpr std::string_view kProgram =
    "// fake: params=f32[4] results=f32[4]\nmodule @double {}\n";

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline HostTensor floats(const std::vector<float>& values) {
  HostTensor tensor{{ElementType::f32, {static_cast<std::int64_t>(values.size())}}, {}};
  tensor.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest()
      : log_("PRECAST_FAKE_LOG", dir_.file("calls")),
        disable_("PRECAST_DISABLE", std::nullopt),
        flags_("XLA_FLAGS", std::nullopt) {
    Result<Plugin> plugin = Plugin::open(PRECAST_FAKE_PLUGIN);
    EXPECT_TRUE(plugin) << plugin.error().to_string();
    plugin_.emplace(std::move(plugin).value());
    client_.emplace(make_client());
  }

  Client make_client() {
    Result<Client> client = plugin_->create_client({});
    EXPECT_TRUE(client) << client.error().to_string();
    return std::move(client).value();
  }

  Cache open(CacheConfig config = {}) {
    if (config.directory.empty()) config.directory = dir_.file("cache");
    return Cache::open(std::move(config));
  }

  static Program program(std::string_view text = kProgram) {
    return Program::from_bytes(Bytes(text), "test.mlir").value();
  }

  // Compiles or loads, and shows that the executable gives the right answer (the fake adds one).
  CompileOrLoad ask(const Cache& cache, std::string_view text = kProgram,
                    const CompileOptions& options = {}) {
    Result<CompileOrLoad> done = cache.compile_or_load(*client_, program(text), options);
    EXPECT_TRUE(done) << done.error().to_string();
    expect_right(done->executable);
    return std::move(done).value();
  }

  static void expect_right(const LoadedExecutable& executable) {
    auto outputs = executable.run({floats({1, 2, 3, 4})});
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    for (const auto& device : *outputs) {
      ASSERT_EQ(device.size(), 1u);
      EXPECT_EQ(device[0].data, floats({2, 3, 4, 5}).data);
    }
  }

  std::size_t calls(const std::string& function) const {
    std::istringstream log(read(dir_.file("calls")));
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);) count += line == function ? 1 : 0;
    return count;
  }
  std::size_t compiles() const { return calls("PJRT_Client_Compile"); }
  std::size_t loads() const { return calls("PJRT_Executable_DeserializeAndLoad"); }

  testing::TempDir dir_;
  testing::EnvGuard log_;
  testing::EnvGuard disable_;
  testing::EnvGuard flags_;
  std::optional<Plugin> plugin_;
  std::optional<Client> client_;
};

}  // namespace precast
