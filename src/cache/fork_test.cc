// A child that was forked while another thread of its parent held the core's locks.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/test_cache.h"
#include "pjrt/adopt.h"
#include "testing/forks.h"

namespace precast {
namespace {

class ForkTest : public CacheTest {
 protected:
  ForkTest() {
    testing::copy_enlarged(PRECAST_FAKE_PLUGIN, path_);
    own_.emplace(Plugin::open(path_).value());
    client_.emplace(own_->create_client({}).value());
  }

  // All that takes a lock: the file is hashed again in each round.
  void use_everything(const Cache& cache, const Client& client, const std::string& text) {
    const Program asked = program(std::string(kProgram) + "// " + text + "\n");
    const auto done = cache.compile_or_load(client, asked, CompileOptions());
    if (done) static_cast<void>(done->executable.run({floats({1, 2, 3, 4})}));
    static_cast<void>(cpu_target(client));
    static_cast<void>(own_->mapped_file());
  }

  const std::string path_ = dir_.file("plugin.so");
  testing::EnvGuard home_{"XDG_CACHE_HOME", dir_.file("home")};
  testing::EnvGuard state_{"XDG_STATE_HOME", dir_.file("state")};
  std::optional<Plugin> own_;
};

TEST_F(ForkTest, AChildUsesWhatAnotherThreadHeld) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator may be locked by another thread at a fork";
#endif
  const Cache cache = open();
  const auto busy = [&](int round) {
    testing::change_mode(path_, round % 2 == 0);
    use_everything(cache, *client_, "parent " + std::to_string(round));
  };
  const auto in_child = [&](int number) {
    const Result<Plugin> again = Plugin::open(path_);
    if (!again || again->impl() != own_->impl()) return false;  // opened once
    const Result<Client> client = again->create_client({});
    if (!client || !client->flags().certain) return false;
    use_everything(cache, *client, "child " + std::to_string(number));
    const auto done = open().compile_or_load(*client, program(), CompileOptions());
    return done.has_value();
  };
  EXPECT_TRUE(testing::forks_are_safe(busy, in_child));
}

// Once as the last that was being opened, and once as one of its own. The loader had them before:
// what it does itself is interrupted nowhere.
TEST_F(ForkTest, AChildOpensWhatAnotherThreadWasOpening) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator may be locked by another thread at a fork";
#endif
  const testing::EnvGuard slow("PRECAST_FAKE_LATENCY", "PJRT_Plugin_Initialize:20");
  constexpr int kCopies = 40;
  std::vector<std::string> copies;
  for (int i = 0; i < kCopies; ++i) {
    copies.push_back(dir_.file(std::to_string(i) + ".so"));
    std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, copies.back());
    ASSERT_NE(::dlopen(copies.back().c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
  }
  std::atomic<std::size_t> last = 0;
  const auto busy = [&](int round) {
    if (round + 1 >= kCopies) return;
    last = static_cast<std::size_t>(round);
    static_cast<void>(Plugin::open(copies[last]));
  };
  const auto in_child = [&](int) {
    const auto opened = Plugin::open(copies[last]);
    const auto own = Plugin::open(copies.back());
    return opened && own && opened->create_client({}) && own->create_client({});
  };
  EXPECT_TRUE(testing::forks_are_safe(busy, in_child));
}

Client::FlagSnapshot flags_of_a_client(const Plugin& plugin) {
  const Result<Client> client = plugin.create_client({});
  return client ? client->flags() : Client::FlagSnapshot{};
}

// The plugin took the flags of the process that first made a client; where that process was about
// to, nobody knows.
TEST_F(ForkTest, AChildKnowsTheFlagsOfItsParentOrThatItDoesNot) {
  const testing::EnvGuard flags("XLA_FLAGS", "--xla_cpu_enable_fast_math=true");
  const auto plugin_at = [this](const char* name) {
    std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, dir_.file(name));
    return Plugin::open(dir_.file(name)).value();
  };
  const Plugin looked = plugin_at("looked.so");
  const Plugin about_to = plugin_at("about_to.so");
  const Plugin unused = plugin_at("unused.so");
  EXPECT_TRUE(flags_of_a_client(looked).certain);
  static_cast<void>(pjrt::before_client(about_to));
  const pid_t child = ::fork();
  if (child == 0) {
    const testing::EnvGuard other("XLA_FLAGS", "--xla_cpu_enable_fast_math=false");
    const auto first = flags_of_a_client(looked);
    if (!first.certain || first.xla_flags != "--xla_cpu_enable_fast_math=true") ::_exit(1);
    if (flags_of_a_client(about_to).certain) ::_exit(2);
    const auto own = flags_of_a_client(unused);
    ::_exit(own.certain && own.xla_flags == "--xla_cpu_enable_fast_math=false" ? 0 : 3);
  }
  EXPECT_TRUE(testing::ended_well(child));
  EXPECT_TRUE(flags_of_a_client(about_to).certain);
}

}  // namespace
}  // namespace precast
