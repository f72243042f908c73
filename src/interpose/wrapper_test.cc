// The wrapper on the fake plugin, driven through the C ABI as a host does.
#include "interpose/wrapper.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/compile.h"
#include "interpose/log.h"
#include "pjrt/adopt.h"
#include "testing/env_guard.h"
#include "testing/fake_plugin_driver.h"
#include "testing/forks.h"
#include "testing/temp_dir.h"

namespace precast::interpose {
namespace {

using testing::Driver;
using testing::EnvGuard;
using ::testing::HasSubstr;
using testing::make_args;

constexpr std::string_view kDouble =
    "// fake: params=f32[4] results=f32[4] name=twice\nmodule @double {}\n";

// Under the sanitizers freed memory is held back, and everything takes longer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddressesComeAgain = false;
constexpr std::size_t kRounds = 200;
#else
constexpr bool kAddressesComeAgain = true;
constexpr std::size_t kRounds = 5000;  // of two handles each
#endif

class WrapperTest : public ::testing::Test {
 protected:
  WrapperTest() {
    set_log_level(std::nullopt);
    start();
  }

  // Another process, as far as the wrapper knows.
  void start(Settings settings = {}) {
    auto plugin = pjrt::open_for_host(PRECAST_FAKE_PLUGIN);
    ASSERT_TRUE(plugin) << plugin.error().to_string();
    wrapper_ = new Wrapper(*std::move(plugin), std::move(settings));
    all_.emplace_back(wrapper_);
    host_.emplace(wrapper_->table());
  }

  PJRT_LoadedExecutable* compile(PJRT_Client* client, std::string_view program = kDouble,
                                 const std::string& options = testing::compile_options(1, 1)) {
    PJRT_LoadedExecutable* executable = host_->compile(client, program, options);
    EXPECT_TRUE(host_->failure.ok()) << host_->failure.message;
    return executable;
  }

  void expect_right(PJRT_Client* client, PJRT_LoadedExecutable* executable,
                    std::size_t device = 0) {
    const auto results =
        host_->run(client, executable, {host_->device(client, device)}, {{1, 2, 3, 4}});
    EXPECT_EQ(results, std::vector<std::vector<float>>({{2, 3, 4, 5}})) << host_->failure.message;
  }

  // How many compiles, serializations and loads the plugin has begun: "CSD".
  std::string counted() const {
    std::ifstream file(dir_.file("counter"));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::size_t compiles() const {
    const std::string all = counted();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), 'C'));
  }
  std::string summary() const { return wrapper_->state().summary.text(); }

  testing::TempDir dir_;
  EnvGuard cache_{"PRECAST_CACHE", dir_.file("cache")};
  EnvGuard state_{"XDG_STATE_HOME", dir_.file("state")};
  EnvGuard counter_{"PRECAST_FAKE_COUNTER", dir_.file("counter")};
  EnvGuard flags_{"XLA_FLAGS", std::nullopt};
  EnvGuard disable_{"PRECAST_DISABLE", std::nullopt};
  Wrapper* wrapper_ = nullptr;
  std::optional<Driver> host_;
  std::vector<std::unique_ptr<Wrapper>> all_;
};

TEST_F(WrapperTest, TheSecondProcessLoadsWhatTheFirstCompiled) {
  PJRT_Client* client = host_->create_client();
  PJRT_LoadedExecutable* first = compile(client);
  expect_right(client, first);
  EXPECT_EQ(compiles(), 1U);
  EXPECT_THAT(summary(), HasSubstr("hits=0 misses=1"));
  host_->destroy(first);
  host_->destroy(client);

  start();
  client = host_->create_client();
  PJRT_LoadedExecutable* second = compile(client);
  expect_right(client, second);
  EXPECT_EQ(compiles(), 1U);
  EXPECT_THAT(summary(), HasSubstr("hits=1 misses=0"));
  host_->destroy(second);
  host_->destroy(client);
}

TEST_F(WrapperTest, LoadsOnTheDeviceThatIsAskedForNow) {
  PJRT_Client* client = host_->create_client();
  host_->destroy(compile(client, kDouble, testing::compile_options(1, 1, {0})));
  PJRT_LoadedExecutable* other = compile(client, kDouble, testing::compile_options(1, 1, {2}));
  EXPECT_EQ(compiles(), 1U);
  expect_right(client, other, 2);
  host_->destroy(other);
  host_->destroy(client);
}

// The fake plugin refuses to serialize what was loaded; real ones give bytes that do not run.
TEST_F(WrapperTest, GivesTheFirstBytesOfWhatItLoaded) {
  PJRT_Client* client = host_->create_client();
  PJRT_LoadedExecutable* fresh = compile(client);
  const std::string first = host_->serialize(fresh);
  PJRT_LoadedExecutable* loaded = compile(client);
  const std::string again = host_->serialize(loaded);
  EXPECT_TRUE(host_->failure.ok()) << host_->failure.message;
  EXPECT_EQ(again, first);
  PJRT_LoadedExecutable* of_bytes = host_->load(client, again);
  expect_right(client, of_bytes);
  for (PJRT_LoadedExecutable* each : {fresh, loaded, of_bytes}) host_->destroy(each);
  EXPECT_EQ(wrapper_->state().origins.size(), 0U);
  host_->destroy(client);
}

// Addresses come again: what was known of one must be gone with the handle.
TEST_F(WrapperTest, HandlesAreKnownWhileTheyLive) {
  PJRT_Client* client = host_->create_client();
  PJRT_LoadedExecutable* fresh = compile(client);
  const std::string bytes = host_->serialize(fresh);
  std::set<const void*> addresses;
  for (std::size_t i = 0; i < kRounds; ++i) {
    // By turns one of the cache's and one of the plugin's own.
    PJRT_LoadedExecutable* own = host_->load(client, bytes);
    addresses.insert(own);
    EXPECT_EQ(wrapper_->state().origins.find(own), nullptr);
    host_->destroy(own);
    PJRT_LoadedExecutable* cached = compile(client);
    addresses.insert(cached);
    EXPECT_NE(wrapper_->state().origins.find(cached), nullptr);
    host_->destroy(cached);
  }
  if (kAddressesComeAgain) {
    EXPECT_LT(addresses.size(), kRounds);  // else the test shows nothing
  }
  EXPECT_EQ(wrapper_->state().origins.size(), 0U);
  EXPECT_TRUE(host_->failure.ok()) << host_->failure.message;
  host_->destroy(fresh);
  host_->destroy(client);
}

TEST_F(WrapperTest, ErrorsAreThePluginsOwn) {
  constexpr std::string_view kBad =
      "// fake: fail=INVALID_ARGUMENT:the program is wrong\nmodule @bad {}\n";
  Driver bare;
  PJRT_Client* bare_client = bare.create_client();
  EXPECT_EQ(bare.compile(bare_client, kBad, testing::compile_options(1, 1)), nullptr);
  const std::size_t before = compiles();

  PJRT_Client* client = host_->create_client();
  EXPECT_EQ(host_->compile(client, kBad, testing::compile_options(1, 1)), nullptr);
  EXPECT_EQ(host_->failure.code, bare.failure.code);
  EXPECT_EQ(host_->failure.message, bare.failure.message);
  EXPECT_EQ(compiles(), before + 1);  // and it was tried once
  EXPECT_THAT(summary(), HasSubstr("errors=1"));
  bare.destroy(bare_client);
  host_->destroy(client);
}

// What is no program or no options is for the plugin to refuse.
TEST_F(WrapperTest, WhatCannotBeReadGoesToThePlugin) {
  Driver bare;
  PJRT_Client* bare_client = bare.create_client();
  PJRT_Client* client = host_->create_client();
  for (const auto& [program, options] : std::vector<std::pair<std::string, std::string>>{
           {"", testing::compile_options(1, 1)},
           {std::string(kDouble), ""},
           {std::string(kDouble), "\xff\xff"},
           {std::string(kDouble), testing::compile_options(1, 9)}}) {
    bare.failure = {};
    host_->failure = {};
    PJRT_LoadedExecutable* left = bare.compile(bare_client, program, options);
    PJRT_LoadedExecutable* right = host_->compile(client, program, options);
    EXPECT_EQ(left == nullptr, right == nullptr);
    EXPECT_EQ(host_->failure.code, bare.failure.code);
    EXPECT_EQ(host_->failure.message, bare.failure.message);
    if (left != nullptr) bare.destroy(left);
    if (right != nullptr) host_->destroy(right);
  }
  bare.destroy(bare_client);
  host_->destroy(client);
}

TEST_F(WrapperTest, AFaultOfTheCacheFailsNoCompile) {
  std::filesystem::create_directories(dir_.file("cache"));
  std::ofstream(dir_.file("cache") + "/v1") << "in the way";
  PJRT_Client* client = host_->create_client();
  PJRT_LoadedExecutable* executable = compile(client);
  expect_right(client, executable);
  host_->destroy(executable);
  host_->destroy(client);
}

// Of each member but the wrapped ones, and of the extensions, the plugin's own pointer is given.
TEST_F(WrapperTest, ReplacesNothingElse) {
  const auto* real = reinterpret_cast<const char*>(&wrapper_->real());
  const auto* given = reinterpret_cast<const char*>(wrapper_->table());
  ASSERT_EQ(wrapper_->table()->struct_size, wrapper_->real().struct_size);
  EXPECT_EQ(wrapper_->table()->extension_start, wrapper_->real().extension_start);
  std::set<std::size_t> replaced;
  for (std::size_t at = 0; at + sizeof(void*) <= wrapper_->real().struct_size;
       at += sizeof(void*)) {
    if (std::memcmp(real + at, given + at, sizeof(void*)) != 0) replaced.insert(at);
  }
  const std::set<std::size_t> wrapped = {offsetof(PJRT_Api, PJRT_Client_Create),
                                         offsetof(PJRT_Api, PJRT_Client_Destroy),
                                         offsetof(PJRT_Api, PJRT_Client_Compile),
                                         offsetof(PJRT_Api, PJRT_LoadedExecutable_GetExecutable),
                                         offsetof(PJRT_Api, PJRT_Executable_Serialize),
                                         offsetof(PJRT_Api, PJRT_Executable_Destroy),
                                         offsetof(PJRT_Api, PJRT_LoadedExecutable_Destroy)};
  EXPECT_EQ(replaced, wrapped);  // the fake plugin lacks the others
}

struct ExtensionChain {
  PJRT_Extension_Base last{sizeof(PJRT_Extension_Base), PJRT_Extension_Type_Profiler, nullptr};
  PJRT_Extension_Base first{sizeof(PJRT_Extension_Base), PJRT_Extension_Type_Profiler, &last};
};

TEST(UnknownExtension, IsAnythingButAPlaceInAProfile) {
  ExtensionChain chain;
  EXPECT_EQ(unknown_extension(nullptr, nullptr), std::nullopt);
  EXPECT_EQ(unknown_extension(&chain.first, &chain.last), std::nullopt);
  chain.last.type = PJRT_Extension_Type_PhaseCompile;
  EXPECT_EQ(unknown_extension(&chain.first, nullptr), PJRT_Extension_Type_PhaseCompile);
  EXPECT_EQ(unknown_extension(nullptr, &chain.last), PJRT_Extension_Type_PhaseCompile);
}

TEST_F(WrapperTest, DumpsOfPassesAreWrittenByACompile) {
  PJRT_Client* client = host_->create_client();
  const auto options = [](const char* name, const std::string& value) {
    auto made = CompileOptions::from_serialized(testing::compile_options(1, 1)).value();
    EXPECT_TRUE(made.set_option(name, value));
    return Bytes(made.serialized());
  };
  for (int i = 0; i < 2; ++i) {
    host_->destroy(compile(client, kDouble, options("xla_dump_hlo_pass_re", ".*")));
  }
  EXPECT_EQ(compiles(), 2U);
  EXPECT_THAT(summary(), HasSubstr("bypasses=2 (dumps_wanted 2)"));
  // The final program alone is written by a hit too.
  for (int i = 0; i < 2; ++i) {
    host_->destroy(compile(client, kDouble, options("xla_dump_to", dir_.file("dump"))));
  }
  EXPECT_EQ(compiles(), 3U);
  const std::filesystem::directory_iterator files(dir_.file("dump"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  host_->destroy(client);
}

TEST_F(WrapperTest, ThreadsWithOneProgramShareItsCompile) {
  PJRT_Client* client = host_->create_client();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, table = wrapper_->table()] {
      Driver host(table);
      PJRT_LoadedExecutable* executable =
          host.compile(client, kDouble, testing::compile_options(1, 1));
      EXPECT_TRUE(host.failure.ok()) << host.failure.message;
      host.destroy(executable);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiles(), 1U);
  EXPECT_EQ(wrapper_->state().origins.size(), 0U);
  host_->destroy(client);
}

// Only the plugin knows what a child may do with its parent's clients.
TEST_F(WrapperTest, AChildIsLeftToThePlugin) {
  PJRT_Client* client = host_->create_client();
  host_->destroy(compile(client));
  const pid_t child = ::fork();
  if (child == 0) {
    PJRT_LoadedExecutable* executable =
        host_->compile(client, kDouble, testing::compile_options(1, 1));
    host_->destroy(executable);
    ::_exit(host_->failure.ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(compiles(), 2U);
  host_->destroy(client);
}

// A plugin may refuse options before it reads its flags, and the host sets them before it tries
// again.
TEST_F(WrapperTest, FlagsAreThoseOfTheClientThatWasMade) {
  const std::string copy = dir_.file("libfresh.so");  // a plugin that read no flags yet
  std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, copy);
  const auto reason_after = [&](const std::string& second) {
    auto plugin = pjrt::open_for_host(copy);
    EXPECT_TRUE(plugin) << plugin.error().to_string();
    all_.push_back(std::make_unique<Wrapper>(*std::move(plugin), Settings()));
    wrapper_ = all_.back().get();
    host_.emplace(wrapper_->table());
    {
      const EnvGuard fault("PRECAST_FAKE_FAULT", "PJRT_Client_Create:INTERNAL:no");
      EXPECT_EQ(host_->create_client(), nullptr);
    }
    const EnvGuard flags("XLA_FLAGS", second);
    host_->failure = {};
    PJRT_Client* client = host_->create_client();
    host_->destroy(compile(client));
    host_->destroy(client);
    return summary();
  };
  EXPECT_THAT(reason_after("--xla_cpu_enable_fast_math=true"),
              HasSubstr("bypasses=1 (flags_unknown 1)"));
}

TEST_F(WrapperTest, AProgramInAFormatThatItIsNotGoesToThePlugin) {
  PJRT_Client* client = host_->create_client();
  host_->destroy(compile(client));
  const PJRT_Api& api = *wrapper_->table();
  std::string code(kDouble);
  const std::string options = testing::compile_options(1, 1);
  for (const std::string format : {"nonsense", "hlo", ""}) {
    auto program = make_args<PJRT_Program>();
    program.code = code.data();
    program.code_size = code.size();
    program.format = format.data();
    program.format_size = format.size();
    auto args = make_args<PJRT_Client_Compile_Args>();
    args.client = client;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    const std::size_t before = wrapper_->state().origins.size();
    const testing::Outcome outcome = host_->outcome(api.PJRT_Client_Compile(&args));
    if (outcome.ok()) host_->destroy(args.executable);
    EXPECT_EQ(wrapper_->state().origins.size(), before) << format;
  }
  EXPECT_THAT(summary(), HasSubstr("hits=0 misses=1"));
  host_->destroy(client);
}

// A newer host may say something that this version does not know, behind what it knows.
TEST_F(WrapperTest, WhatANewerHostSaysIsNotIgnored) {
  PJRT_Client* client = host_->create_client();
  host_->destroy(compile(client));
  struct Newer {
    PJRT_Client_Compile_Args args;
    std::int64_t more = 0;
  } newer{};
  newer.args.struct_size = sizeof newer;
  EXPECT_FALSE(has_more_than_known(newer.args));
  newer.more = 1;
  EXPECT_TRUE(has_more_than_known(newer.args));
  newer.args.struct_size = sizeof newer.args;
  EXPECT_FALSE(has_more_than_known(newer.args));
  host_->destroy(client);
}

TEST_F(WrapperTest, AClientWithAnUnknownExtensionIsNotCached) {
  PJRT_Extension_Base unknown{sizeof(PJRT_Extension_Base), PJRT_Extension_Type_Unknown, nullptr};
  auto args = make_args<PJRT_Client_Create_Args>();
  args.extension_start = &unknown;
  ASSERT_EQ(wrapper_->table()->PJRT_Client_Create(&args), nullptr);
  for (int i = 0; i < 2; ++i) host_->destroy(compile(args.client));
  EXPECT_EQ(compiles(), 2U);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("cache")));
  host_->destroy(args.client);
}

TEST_F(WrapperTest, AChildCompilesThoughAnotherThreadWasCompiling) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator may be locked by another thread at a fork";
#endif
  const EnvGuard home("XDG_CACHE_HOME", dir_.file("home"));
  const std::string path = dir_.file("plugin.so");
  testing::copy_enlarged(PRECAST_FAKE_PLUGIN, path);
  auto plugin = pjrt::open_for_host(path);
  ASSERT_TRUE(plugin) << plugin.error().to_string();
  all_.push_back(std::make_unique<Wrapper>(*std::move(plugin), Settings{}));
  const PJRT_Api* table = all_.back()->table();
  const auto compile_anew = [table](const std::string& name) {
    Driver host(table);
    PJRT_Client* client = host.create_client();
    const std::string program = std::string(kDouble) + "// " + name + "\n";
    for (int i = 0; i < 2 && host.failure.ok(); ++i) {
      PJRT_LoadedExecutable* executable =
          host.compile(client, program, testing::compile_options(1, 1));
      if (executable != nullptr) host.destroy(executable);
    }
    if (client != nullptr) host.destroy(client);
    return host.failure.ok();
  };
  const auto busy = [&](int round) {
    testing::change_mode(path, round % 2 == 0);
    static_cast<void>(compile_anew("parent " + std::to_string(round)));
  };
  const auto in_child = [&](int number) { return compile_anew("child " + std::to_string(number)); };
  EXPECT_TRUE(testing::forks_are_safe(busy, in_child));
}

TEST_F(WrapperTest, ReadOnlyStoresNothing) {
  Settings settings;
  settings.policy = Policy::read_only;
  start(std::move(settings));
  PJRT_Client* client = host_->create_client();
  for (int i = 0; i < 2; ++i) host_->destroy(compile(client));
  EXPECT_EQ(compiles(), 2U);
  EXPECT_THAT(summary(), HasSubstr("skips=2 (read_only 2)"));
  host_->destroy(client);
}

}  // namespace
}  // namespace precast::interpose
