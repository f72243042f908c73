// Compile-or-load for a runtime that is no plugin: one of strings, which counts.
#include "precast/foreign.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "cache/test_cache.h"

namespace precast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kCallback = R"(module @m {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0)
      {mhlo.backend_config = {index = 0 : ui64}} : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
)";

// A loaded executable of this runtime.
struct Loaded {
  Bytes bytes;
  Bytes front_end;
  std::vector<std::int64_t> devices;
  bool compiled = false;
};

class ForeignTest : public CacheTest {
 protected:
  ForeignTest() {
    facts_.name = "strings";
    facts_.library = PRECAST_FAKE_PLUGIN;  // mapped since CacheTest opened it
    facts_.platform = "cpu";
    facts_.platform_version = "1";
    facts_.sample = sample();
    for (std::int64_t id = 0; id < 8; ++id) {
      Device device;
      device.id = id;
      device.addressable = true;
      device.kind = "cpu";
      facts_.devices.push_back(device);
    }
    request_.front_end = "binding";
  }

  static Bytes sample() { return read(PRECAST_TESTDATA "/cpu/executable.binpb"); }

  static CompileOptions on(std::vector<std::int64_t> devices) {
    CompileOptions options;
    options.set_assignment(DeviceAssignment{1, static_cast<int>(devices.size()), devices});
    return options;
  }

  ForeignRuntime runtime() {
    ForeignRuntime made;
    made.facts = std::make_shared<const ForeignFacts>(facts_);
    made.compile = [this](const Program& /*asked*/,
                          const CompileOptions& options) -> Result<ForeignExecutable> {
      ++compiled_;
      if (compile_error_) return *compile_error_;
      if (during_compile_) during_compile_();
      return std::make_shared<Loaded>(Loaded{sample(), {}, options.assignment()->device_ids, true});
    };
    made.serialize = [](const ForeignExecutable& executable) -> Result<Bytes> {
      return std::static_pointer_cast<Loaded>(executable)->bytes;
    };
    made.load = [this](BytesView bytes, BytesView front_end,
                       const CompileOptions& options) -> Result<ForeignExecutable> {
      ++loaded_;
      if (load_error_) return *load_error_;
      return std::make_shared<Loaded>(
          Loaded{Bytes(bytes), Bytes(front_end), options.assignment()->device_ids, false});
    };
    made.cancelled = [this] { return cancelled_.load(); };
    return made;
  }

  Result<ForeignDone> ask(const CompileOptions& options = on({0}),
                          std::string_view text = kProgram) {
    return open().compile_or_load(runtime(), program(text), options, request_);
  }

  static const Loaded& got(const Result<ForeignDone>& done) {
    return *std::static_pointer_cast<Loaded>(done->executable);
  }

  std::optional<Digest> key(const CompileOptions& options = on({0})) {
    auto made = open().key(runtime(), program(), options, request_);
    EXPECT_TRUE(made) << made.error().to_string();
    EXPECT_TRUE(made->record) << made->detail;
    return made->record ? std::optional(made->record->digest()) : std::nullopt;
  }

  ForeignFacts facts_;
  RequestOptions request_;
  std::atomic<int> compiled_ = 0;
  std::atomic<int> loaded_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::optional<Error> compile_error_;
  std::optional<Error> load_error_;
  std::function<void()> during_compile_;
};

TEST_F(ForeignTest, AMissIsStoredAndTheNextRequestLoadsItOnOtherDevices) {
  const auto first = ask(on({0, 1, 2, 3}));
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->report.outcome, Outcome::miss) << first->report.detail;
  EXPECT_TRUE(got(first).compiled);
  EXPECT_EQ(loaded_, 1);  // the proof before it was published

  const auto second = ask(on({4, 5, 7, 6}));
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(second->report.outcome, Outcome::hit) << second->report.detail;
  EXPECT_EQ(second->report.key, first->report.key);
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(got(second).bytes, sample());
  EXPECT_EQ(got(second).front_end, "binding");
  EXPECT_THAT(got(second).devices, ElementsAre(4, 5, 7, 6));
}

TEST_F(ForeignTest, WhatIsKeptBesideAnExecutableIsAskedForWhenItIsStored) {
  int asked = 0;
  const auto request = [&] {
    ForeignRuntime made = runtime();
    made.front_end = [&asked]() -> Bytes {
      ++asked;
      return "made late";
    };
    return open().compile_or_load(made, program(), on({0}), request_);
  };
  ASSERT_TRUE(request());
  EXPECT_EQ(asked, 1);
  const auto hit = request();
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->report.outcome, Outcome::hit);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(got(hit).front_end, "made late");
}

TEST_F(ForeignTest, OnlyCallsThatTheFrontEndSettledAreCached) {
  constexpr std::string_view kRule = R"(module @m {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.custom_call @CustomSPMDPartitioning(%arg0)
      {backend_config = "rule 0"} : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
)";
  const auto request = [&](std::vector<std::string> settled, std::string why) {
    ForeignRuntime made = runtime();
    made.settled_calls = std::move(settled);
    made.unsettled_because = std::move(why);
    auto done = open().compile_or_load(made, program(kRule), on({0}), request_);
    EXPECT_TRUE(done);
    return done->report;
  };
  EXPECT_EQ(request({}, "").reason, Reason::process_bound_call);
  const Report refused = request({"InspectSharding"}, "the rule opens files");
  EXPECT_EQ(refused.reason, Reason::process_bound_call);
  EXPECT_THAT(refused.detail, HasSubstr("CustomSPMDPartitioning"));
  EXPECT_THAT(refused.detail, HasSubstr("the rule opens files"));
  EXPECT_EQ(request({"CustomSPMDPartitioning"}, "").outcome, Outcome::miss);
  EXPECT_EQ(request({"CustomSPMDPartitioning"}, "").outcome, Outcome::hit);
}

TEST_F(ForeignTest, NoKeyIsThatOfAPluginWithTheSameBytes) {
  const auto plugin = open().key(*client_, program(), on({0}), request_);
  ASSERT_TRUE(plugin && plugin->record);
  EXPECT_NE(plugin->record->digest(), key());
}

TEST_F(ForeignTest, EveryFactCounts) {
  std::vector<std::optional<Digest>> keys = {key()};
  const ForeignFacts plain = facts_;
  const auto with = [&](const std::function<void(ForeignFacts&)>& change) {
    facts_ = plain;
    change(facts_);
    keys.push_back(key());
  };
  with([](ForeignFacts& facts) { facts.name = "others"; });
  with([](ForeignFacts& facts) { facts.platform_version = "2"; });
  with([](ForeignFacts& facts) { facts.attributes.push_back({"version", "1.2"}); });
  with([](ForeignFacts& facts) { facts.client_options.push_back({"speed", std::int64_t{3}}); });
  with([](ForeignFacts& facts) { facts.flags.xla_flags = "--xla_cpu_enable_fast_math=true"; });
  with([](ForeignFacts& facts) { facts.cpu_count = 123; });
  with([](ForeignFacts& facts) { facts.devices[0].kind = "other"; });
  const auto sorted = [&keys] {
    auto copy = keys;
    std::sort(copy.begin(), copy.end(), [](const auto& a, const auto& b) { return *a < *b; });
    return copy;
  }();
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
}

TEST_F(ForeignTest, CallbacksNeedAFrontEndThatBindsThem) {
  const auto bypassed = ask(on({0}), kCallback);
  ASSERT_TRUE(bypassed);
  EXPECT_EQ(bypassed->report.outcome, Outcome::bypass);
  EXPECT_EQ(bypassed->report.reason, Reason::index_bound_call);
  facts_.binds_callbacks = true;
  EXPECT_EQ(ask(on({0}), kCallback)->report.outcome, Outcome::miss);
  EXPECT_EQ(ask(on({0}), kCallback)->report.outcome, Outcome::hit);
}

TEST_F(ForeignTest, ATopologySaysForWhichCpuAsAnExecutableDoes) {
  EXPECT_EQ(ask()->report.outcome, Outcome::miss);
  facts_.sample.clear();
  facts_.topology = read(PRECAST_TESTDATA "/cpu/topology.binpb");
  EXPECT_EQ(ask()->report.outcome, Outcome::hit);
  facts_.topology.pop_back();  // what does not parse says nothing
  EXPECT_EQ(ask()->report.reason, Reason::cpu_unknown);
  facts_.sample = sample();
  EXPECT_EQ(ask()->report.outcome, Outcome::hit);
}

TEST_F(ForeignTest, WhatCannotBeKeyedBypasses) {
  const ForeignFacts plain = facts_;
  const auto reason = [&](const std::function<void(ForeignFacts&)>& change) {
    facts_ = plain;
    change(facts_);
    const auto done = ask();
    EXPECT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->report.outcome, Outcome::bypass);
    return done->report.reason;
  };
  EXPECT_EQ(reason([](ForeignFacts& facts) { facts.platform = "moon"; }), Reason::platform_unknown);
  EXPECT_EQ(reason([](ForeignFacts& facts) { facts.flags.certain = false; }),
            Reason::flags_unknown);
  EXPECT_EQ(reason([](ForeignFacts& facts) { facts.sample.clear(); }), Reason::cpu_unknown);
  EXPECT_EQ(reason([](ForeignFacts& facts) { facts.devices[0].addressable = false; }),
            Reason::multi_process);
  EXPECT_EQ(reason([this](ForeignFacts& facts) { facts.library = dir_.file("absent.so"); }),
            Reason::plugin_bytes_unknown);
  write(dir_.file("not_mapped.so"), "x");
  EXPECT_EQ(reason([this](ForeignFacts& facts) { facts.library = dir_.file("not_mapped.so"); }),
            Reason::plugin_bytes_unknown);
  EXPECT_EQ(loaded_, 0);
}

TEST_F(ForeignTest, ErrorsOfTheCallersInputAreReturned) {
  EXPECT_EQ(ask(CompileOptions()).error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(ask(on({0, 9})).error().message(), HasSubstr("9"));
  ForeignRuntime half = runtime();
  half.serialize = nullptr;
  const auto done = open().compile_or_load(half, program(), on({0}), request_);
  EXPECT_THAT(done.error().message(), HasSubstr("serialize"));
  request_.cpu_baseline = "x86-64-v3";
  EXPECT_EQ(ask().error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(compiled_, 0);
}

TEST_F(ForeignTest, ACompileErrorIsTheCallersUnchanged) {
  compile_error_ = Error::from_plugin(3, "this does not compile");
  const auto done = ask();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::plugin_error);
  EXPECT_EQ(done.error().message(), "this does not compile");
}

TEST_F(ForeignTest, ARefusedLoadCompiles) {
  ASSERT_EQ(ask()->report.outcome, Outcome::miss);
  load_error_ = Error(ErrorCode::incompatible, "another number of callbacks");
  const auto done = ask();
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->report.outcome, Outcome::skip);
  EXPECT_EQ(done->report.reason, Reason::entry_incompatible);
  EXPECT_THAT(done->report.detail, HasSubstr("another number of callbacks"));
  EXPECT_TRUE(got(done).compiled);
}

TEST_F(ForeignTest, AWaitEndsWhenTheCallerGivesUp) {
  std::mutex mutex;
  std::condition_variable changed;
  bool compiling = false;
  bool may_end = false;
  during_compile_ = [&] {
    std::unique_lock lock(mutex);
    compiling = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_end; });
  };
  std::thread holder([&] { EXPECT_TRUE(ask()); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return compiling; });
  }
  cancelled_ = true;
  const auto given_up = ask();
  ASSERT_FALSE(given_up);
  EXPECT_THAT(given_up.error().message(), HasSubstr("gave up"));
  EXPECT_EQ(compiled_, 1);
  {
    const std::lock_guard lock(mutex);
    may_end = true;
  }
  changed.notify_all();
  holder.join();
}

TEST_F(ForeignTest, AnArtifactLoadsWithoutAKeyOnTheDevicesGiven) {
  const auto first = ask(on({0, 1}));
  ASSERT_TRUE(first);
  const auto entry = VerifiedArtifact::from_file(first->report.artifact_path);
  ASSERT_TRUE(entry);
  const auto bytes = with_front_end(*entry, "all of it");
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  const auto artifact = VerifiedArtifact::decode(*bytes);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->key_record(), entry->key_record());
  EXPECT_EQ(artifact->provenance(), entry->provenance());
  EXPECT_NE(artifact->root(), entry->root());

  const auto loaded = load(runtime(), *artifact, {.device_ids = {6, 3}});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const Loaded& got = *std::static_pointer_cast<Loaded>(*loaded);
  EXPECT_EQ(got.bytes, sample());
  EXPECT_EQ(got.front_end, "all of it");
  EXPECT_THAT(got.devices, ElementsAre(6, 3));

  const int before = loaded_;
  EXPECT_EQ(load(runtime(), *artifact, {.device_ids = {6}}).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(load(runtime(), *artifact, {.device_ids = {6, 8}}).error().code(),
            ErrorCode::invalid_argument);
  facts_.platform_version = "2";
  const auto other = load(runtime(), *artifact, {.device_ids = {6, 3}});
  EXPECT_EQ(other.error().code(), ErrorCode::incompatible);
  EXPECT_THAT(other.error().message(), HasSubstr("platform_version"));
  EXPECT_EQ(load(*client_, *artifact, {.device_ids = {0, 1}}).error().code(),
            ErrorCode::incompatible);
  EXPECT_EQ(loaded_, before);
}

TEST_F(ForeignTest, WhatAFrontEndSerializedItselfIsAnArtifactToo) {
  const auto key = open().key(runtime(), program(), on({0, 1}), request_);
  ASSERT_TRUE(key);
  ForeignSerialized serialized{.record = *key->record,
                               .executable = sample(),
                               .options = on({0, 1}),
                               .program_name = "mine",
                               .front_end = "a binding"};
  const auto bytes = make_artifact(facts_, serialized);
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  const auto artifact = VerifiedArtifact::decode(*bytes);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->key_record(), key->record->encode());
  EXPECT_EQ(artifact->provenance().program_name, "mine");
  EXPECT_EQ(artifact->provenance().plugin_path, facts_.library);
  const auto loaded = load(runtime(), *artifact, {.device_ids = {6, 3}});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(std::static_pointer_cast<Loaded>(*loaded)->front_end, "a binding");

  serialized.executable.clear();
  EXPECT_EQ(make_artifact(facts_, serialized).error().code(), ErrorCode::invalid_argument);
}

TEST_F(ForeignTest, ABypassCompilesByAFunctionOfItsOwn) {
  int beside = 0;
  ForeignRuntime two = runtime();
  two.compile_bypassed = [&](const Program& asked, const CompileOptions& options) {
    ++beside;
    return two.compile(asked, options);
  };
  const Cache cache = open();
  ASSERT_TRUE(cache.compile_or_load(two, program(), on({0}), request_));
  EXPECT_EQ(beside, 0);
  const auto bypassed = cache.compile_or_load(two, program(kCallback), on({0}), request_);
  ASSERT_TRUE(bypassed);
  EXPECT_EQ(bypassed->report.outcome, Outcome::bypass);
  EXPECT_EQ(beside, 1);
}

TEST_F(ForeignTest, AHitSaysWhatItSaved) {
  during_compile_ = [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
  const auto first = ask();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->report.saved_ms, 0);
  const auto second = ask();
  ASSERT_TRUE(second);
  double took = 0;
  for (const Phase& phase : second->report.phases) took += phase.ms;
  const auto entry = VerifiedArtifact::from_file(first->report.artifact_path);
  ASSERT_TRUE(entry);
  EXPECT_LE(second->report.saved_ms, entry->provenance().compile_ms - took);
  EXPECT_NE(second->report.saved_ms, 0);
}

TEST_F(ForeignTest, APluginThatAFrontEndOpenedHasThePluginsIdentity) {
  void* library = ::dlopen(PRECAST_FAKE_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto opened =
      plugin_at(reinterpret_cast<const void* (*)()>(::dlsym(library, "GetPjrtApi"))());
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_FALSE(opened->is_wrapper);
  EXPECT_EQ(opened->api_version, client_->plugin().api_version());
  EXPECT_EQ(opened->attributes, client_->plugin().attributes());
  facts_.library = opened->path;
  facts_.api_version = opened->api_version;
  facts_.attributes = opened->attributes;
  facts_.platform = client_->platform_name();
  facts_.platform_version = client_->platform_version();
  const auto face = open().key(runtime(), program(), on({0}), request_);
  const auto plugin = open().key(*client_, program(), on({0}), request_);
  ASSERT_TRUE(face && face->record && plugin && plugin->record);
  EXPECT_EQ(face->record->find("plugin")->digest(), plugin->record->find("plugin")->digest());
  EXPECT_FALSE(plugin_at(nullptr));
}

TEST(MappedLibrary, IsTheFileOfTheProcess) {
  ASSERT_TRUE(Plugin::open(PRECAST_FAKE_PLUGIN));
  const auto file = mapped_library(PRECAST_FAKE_PLUGIN);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->digest, Plugin::open(PRECAST_FAKE_PLUGIN)->mapped_file()->digest);
  EXPECT_EQ(mapped_library(PRECAST_FAKE_PLUGIN)->digest, file->digest);
}

// A copy is opened, and then replaced or written to.
TEST(MappedLibrary, IsUnknownOnceTheFileIsAnother) {
  const testing::TempDir dir;
  const std::filesystem::path copy = dir.file("library.so");
  std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, copy);
  // It was there before this process.
  std::filesystem::last_write_time(
      copy, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  EXPECT_EQ(mapped_library(copy).error().code(), ErrorCode::unavailable);  // not mapped
  ASSERT_TRUE(Plugin::open(copy));
  ASSERT_TRUE(mapped_library(copy));
  std::filesystem::last_write_time(copy, std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(mapped_library(copy).error().code(), ErrorCode::unavailable);
  std::filesystem::remove(copy);
  std::filesystem::copy_file(PRECAST_FAKE_PLUGIN, copy);
  EXPECT_EQ(mapped_library(copy).error().code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace precast
