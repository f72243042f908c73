// Compile-or-load on the fake plugin: outcomes, reasons, and both laws under faults.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "cache/test_cache.h"
#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using testing::EnvGuard;
using ::testing::HasSubstr;
using testing::TempDir;

TEST_F(CacheTest, MissThenHit) {
  const Cache cache = open();
  const Report miss = ask(cache).report;
  EXPECT_EQ(miss.outcome, Outcome::miss);
  EXPECT_EQ(miss.reason, Reason::not_found);
  EXPECT_TRUE(fs::is_regular_file(miss.artifact_path));
  EXPECT_EQ(miss.artifact_bytes, fs::file_size(miss.artifact_path));
  EXPECT_EQ(compiles(), 1u);

  const Report hit = ask(open()).report;
  EXPECT_EQ(hit.outcome, Outcome::hit);
  EXPECT_EQ(hit.reason, Reason::none);
  EXPECT_EQ(hit.key, miss.key);
  EXPECT_EQ(hit.artifact_path, miss.artifact_path);
  EXPECT_EQ(hit.artifact_bytes, miss.artifact_bytes);
  EXPECT_EQ(hit.executable_bytes, miss.executable_bytes);
  EXPECT_TRUE(hit.warnings.empty());
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(CacheTest, PhasesTellWhatHappened) {
  const Cache cache = open();
  const auto names = [](const Report& report) {
    std::vector<std::string> list;
    for (const Phase& phase : report.phases) list.push_back(phase.name);
    return list;
  };
  EXPECT_EQ(names(ask(cache).report),
            (std::vector<std::string>{"key", "lookup", "lease", "compile", "serialize", "encode",
                                      "prove", "publish", "record"}));
  EXPECT_EQ(names(ask(cache).report),
            (std::vector<std::string>{"key", "lookup", "verify", "load"}));
}

TEST_F(CacheTest, OtherDevicesShareTheEntry) {
  const Cache cache = open();
  ask(cache);
  CompileOptions options;
  options.set_assignment(DeviceAssignment{1, 1, {3}});
  const CompileOrLoad moved = ask(cache, kProgram, options);
  EXPECT_EQ(moved.report.outcome, Outcome::hit);
  EXPECT_EQ(moved.executable.device_ids(), std::vector<std::int64_t>{3});
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(CacheTest, CountsAreAnotherCompilation) {
  const Cache cache = open();
  ask(cache);
  CompileOptions options;
  options.set_replicas(2);
  const CompileOrLoad two = ask(cache, kProgram, options);
  EXPECT_EQ(two.report.outcome, Outcome::miss);
  EXPECT_EQ(two.executable.device_ids().size(), 2u);
}

TEST_F(CacheTest, AFlippedByteIsReplaced) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  const std::string good = read(path);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string bad = good;
    const std::size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    write(path, bad);
    const std::size_t loads_before = loads();
    const Report report = ask(cache).report;
    EXPECT_NE(report.outcome, Outcome::hit) << "byte " << at;
    // The plugin saw the new artifact (the trial load) and not the damaged one.
    EXPECT_LE(loads(), loads_before + 1);
    EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
  }
}

TEST_F(CacheTest, ARenamedEntryIsNeverServed) {
  const Cache cache = open();
  const Report first = ask(cache).report;
  const Report second =
      ask(cache, "// fake: params=f32[4] results=f32[4]\nmodule @other {}\n").report;
  ASSERT_NE(first.key, second.key);
  fs::copy_file(first.artifact_path, second.artifact_path, fs::copy_options::overwrite_existing);
  const Report again =
      ask(cache, "// fake: params=f32[4] results=f32[4]\nmodule @other {}\n").report;
  EXPECT_EQ(again.outcome, Outcome::miss);
  EXPECT_EQ(again.reason, Reason::entry_corrupt);
  EXPECT_THAT(again.detail, HasSubstr("key record"));
  EXPECT_EQ(loads(), 3u);  // three trial loads, no load of the renamed entry
}

TEST_F(CacheTest, APluginThatRefusesToLoadLeavesTheEntry) {
  const Cache cache = open();
  const std::string path = ask(cache).report.artifact_path;
  const std::string before = read(path);
  {
    const EnvGuard fault("PRECAST_FAKE_FAULT",
                         "PJRT_Executable_DeserializeAndLoad:RESOURCE_EXHAUSTED:no memory");
    const Report report = ask(cache).report;
    EXPECT_EQ(report.outcome, Outcome::skip);
    EXPECT_EQ(report.reason, Reason::load_failed);
    EXPECT_THAT(report.detail, HasSubstr("no memory"));
  }
  EXPECT_EQ(read(path), before);
  EXPECT_EQ(ask(cache).report.outcome, Outcome::hit);
}

TEST_F(CacheTest, AProgramThatCannotBeSerializedIsACountedSkip) {
  const Cache cache = open();
  constexpr std::string_view kSort =
      "// fake: params=f32[4] results=f32[4]\n// fake: not_serializable\nmodule @sort {}\n";
  const Report report = ask(cache, kSort).report;
  EXPECT_EQ(report.outcome, Outcome::skip);
  EXPECT_EQ(report.reason, Reason::not_serializable);
  EXPECT_THAT(report.detail, HasSubstr("not serializable"));
  EXPECT_FALSE(fs::exists(report.artifact_path));
  EXPECT_TRUE(report.warnings.empty());
}

TEST_F(CacheTest, AFailedTrialLoadPublishesNothing) {
  const Cache cache = open();
  {
    const EnvGuard fault("PRECAST_FAKE_FAULT",
                         "PJRT_Executable_DeserializeAndLoad:INTERNAL:broken");
    const Report report = ask(cache).report;
    EXPECT_EQ(report.outcome, Outcome::skip);
    EXPECT_EQ(report.reason, Reason::proof_failed);
    EXPECT_FALSE(fs::exists(report.artifact_path));
  }
  EXPECT_EQ(ask(cache).report.outcome, Outcome::miss);
}

TEST_F(CacheTest, CompileErrorsAreThePluginsOwn) {
  const Cache cache = open();
  const auto done = cache.compile_or_load(
      *client_, program("// fake: fail=INVALID_ARGUMENT:this does not parse\nmodule {}\n"), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::plugin_error);
  EXPECT_EQ(done.error().plugin_code(), 3);
  EXPECT_THAT(done.error().to_string(), HasSubstr("this does not parse"));
  EXPECT_THAT(done.error().to_string(), HasSubstr("test.mlir"));
}

TEST_F(CacheTest, DisabledTouchesNoFolder) {
  const EnvGuard disable("PRECAST_DISABLE", "1");
  const Report report = ask(open()).report;
  EXPECT_EQ(report.outcome, Outcome::bypass);
  EXPECT_EQ(report.reason, Reason::disabled);
  EXPECT_FALSE(fs::exists(dir_.file("cache")));
}

TEST_F(CacheTest, AFolderThatCannotBeUsedCostsOneWarning) {
  write(dir_.file("file"), "in the way");
  std::vector<std::string> warnings;
  CacheConfig config;
  config.directory = dir_.file("file");
  config.log = [&](LogLevel, const std::string& text) { warnings.push_back(text); };
  const Cache cache = open(config);
  ASSERT_TRUE(cache.unusable());
  for (int i = 0; i < 3; ++i) {
    const Report report = ask(cache).report;
    EXPECT_EQ(report.outcome, Outcome::bypass);
    EXPECT_EQ(report.reason, Reason::store_unavailable);
  }
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr(dir_.file("file")));
}

TEST_F(CacheTest, WhoAsksWithAProfileHearsOfTheEntryWithout) {
  std::vector<std::string> told;
  CacheConfig config;
  config.log = [&](LogLevel, const std::string& text) { told.push_back(text); };
  const Cache cache = open(config);
  CompileOptions guided;
  guided.set_profile("a profile");
  EXPECT_EQ(ask(cache, kProgram, guided).report.detail, "");  // there is none
  const Report plain = ask(cache).report;
  EXPECT_EQ(plain.detail, "");
  CompileOptions other;
  other.set_profile("another profile");
  const Report missed = ask(cache, kProgram, other).report;
  EXPECT_EQ(missed.reason, Reason::not_found);
  EXPECT_THAT(missed.detail, HasSubstr("with a profile"));
  EXPECT_THAT(missed.detail, HasSubstr(plain.key->hex()));
  EXPECT_THAT(told, ::testing::ElementsAre(missed.detail));
  EXPECT_EQ(ask(cache, kProgram, other).report.outcome, Outcome::hit);

  CompileOptions third;
  third.set_profile("a third");
  RequestOptions offline;
  offline.policy = Policy::offline;
  const auto refused = cache.compile_or_load(*client_, program(), third, offline);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr(plain.key->hex()));
}

TEST_F(CacheTest, NoHomeMeansNoCache) {
  const EnvGuard home("HOME", std::nullopt);
  const EnvGuard xdg("XDG_CACHE_HOME", std::nullopt);
  const EnvGuard cache_variable("PRECAST_CACHE", std::nullopt);
  const Cache cache = Cache::open({});
  ASSERT_TRUE(cache.unusable());
  EXPECT_EQ(ask(cache).report.reason, Reason::store_unavailable);
}

TEST_F(CacheTest, TheDefaultFolder) {
  const EnvGuard home("HOME", "/h");
  const EnvGuard xdg("XDG_CACHE_HOME", "relative/is/ignored");
  {
    const EnvGuard variable("PRECAST_CACHE", "/p");
    EXPECT_EQ(default_cache_directory()->path, "/p");
    EXPECT_EQ(default_cache_directory()->origin, "PRECAST_CACHE");
  }
  const EnvGuard variable("PRECAST_CACHE", "");
  EXPECT_EQ(default_cache_directory()->path, "/h/.cache/precast");
  const EnvGuard absolute("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(default_cache_directory()->path, "/x/precast");
}

TEST_F(CacheTest, StrictReturnsFaults) {
  CacheConfig config;
  config.strict = true;
  const Cache cache = open(config);
  const std::string path = ask(cache).report.artifact_path;
  write(path, read(path).substr(0, 100));
  const auto corrupt = cache.compile_or_load(*client_, program(), {});
  ASSERT_FALSE(corrupt);
  EXPECT_EQ(corrupt.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(compiles(), 1u);

  write(dir_.file("file"), "");
  config.directory = dir_.file("file");
  const auto unusable = open(config).compile_or_load(*client_, program(), {});
  EXPECT_FALSE(unusable);
}

TEST_F(CacheTest, DeviceIdsAreChecked) {
  const Cache cache = open();
  CompileOptions options;
  options.set_assignment(DeviceAssignment{1, 1, {99}});
  const auto missing = cache.compile_or_load(*client_, program(), options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(missing.error().message(), HasSubstr("99"));

  options.set_assignment(DeviceAssignment{2, 1, {1, 1}});
  EXPECT_FALSE(cache.compile_or_load(*client_, program(), options));
  CompileOptions many;
  many.set_replicas(64);
  EXPECT_FALSE(cache.compile_or_load(*client_, program(), many));
  EXPECT_EQ(compiles(), 0u);
}

TEST_F(CacheTest, ANewerStablehloIsRefusedBeforeTheCompile) {
  Bytes bytes("ML\xefR\x0dStableHLO_v99.0.0\0", 24);
  const Result<Program> newer = Program::from_bytes(bytes, "new.mlirbc");
  ASSERT_TRUE(newer) << newer.error().to_string();
  const auto done = open().compile_or_load(*client_, *newer, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(done.error().message(), HasSubstr("99.0.0"));
  EXPECT_EQ(compiles(), 0u);
}

TEST_F(CacheTest, SaltIsInTheKeyAndLabelIsNot) {
  const Cache cache = open();
  RequestOptions labelled;
  labelled.label = "step 7";
  RequestOptions salted;
  salted.salt = "s";
  const auto plain = cache.key(*client_, program(), {})->record->digest();
  EXPECT_EQ(cache.key(*client_, program(), {}, labelled)->record->digest(), plain);
  EXPECT_NE(cache.key(*client_, program(), {}, salted)->record->digest(), plain);
  EXPECT_EQ(compiles(), 0u);
}

TEST_F(CacheTest, InputsAreCheckedBeforeARun) {
  const Cache cache = open();
  ask(cache);
  const CompileOrLoad hit = ask(cache);
  ASSERT_TRUE(hit.executable.signature());
  const std::size_t transfers = calls("PJRT_Client_BufferFromHostBuffer");
  const auto shape = hit.executable.run({floats({1, 2})});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(shape.error().message(), HasSubstr("f32[4]"));
  EXPECT_FALSE(hit.executable.run({}));
  HostTensor integers = floats({1, 2, 3, 4});
  integers.type.element = ElementType::s32;
  EXPECT_FALSE(hit.executable.run({integers}));
  EXPECT_EQ(calls("PJRT_Client_BufferFromHostBuffer"), transfers);
}

// The second law, swept: every function of the plugin that is no part of a plain compile and run
// may fail, once or always, and the compile still succeeds and answers rightly.
TEST_F(CacheTest, NoFaultBesidesTheCompileFailsIt) {
  const char* const kFunctions[] = {
      "PJRT_Client_TopologyDescription",
      "PJRT_TopologyDescription_Serialize",
      "PJRT_TopologyDescription_Fingerprint",
      "PJRT_TopologyDescription_Attributes",
      "PJRT_Executable_Serialize",
      "PJRT_Executable_OptimizedProgram",
      "PJRT_Executable_GetCompiledMemoryStats",
      "PJRT_Executable_GetCostAnalysis",
      "PJRT_Executable_OutputMemoryKinds",
      "PJRT_Executable_DeserializeAndLoad",
      "PJRT_Executable_Fingerprint",
  };
  for (const char* function : kFunctions) {
    for (const char* suffix : {"", ":1", ":2", ":3"}) {
      const EnvGuard fault("PRECAST_FAKE_FAULT",
                           std::string(function) + ":INTERNAL:injected" + suffix);
      SCOPED_TRACE(std::string(function) + suffix);
      const TempDir fresh;
      CacheConfig config;
      config.directory = fresh.file("cache");
      const Cache cache = open(config);
      ask(cache);
      ask(cache);
    }
  }
}

TEST_F(CacheTest, AnArtifactLoadsAlone) {
  const std::string path = ask(open()).report.artifact_path;
  const auto artifact = VerifiedArtifact::from_file(path);
  ASSERT_TRUE(artifact) << artifact.error().to_string();
  for (const std::int64_t device : {0, 3}) {
    const auto loaded = load(*client_, *artifact, {.device_ids = {device}});
    ASSERT_TRUE(loaded) << loaded.error().to_string();
    EXPECT_EQ(loaded->device_ids(), std::vector<std::int64_t>{device});
    expect_right(*loaded);
  }
  EXPECT_FALSE(load(*client_, *artifact, {.device_ids = {0, 1}}));
  EXPECT_FALSE(load(*client_, *artifact, {.device_ids = {77}}));
}

// An artifact whose record asks for more than this CPU has. The plugin would load it with a line in
// its log.
TEST_F(CacheTest, AnArtifactForABetterCpuNeverReachesThePlugin) {
  const std::string path = ask(open()).report.artifact_path;
  const auto artifact = VerifiedArtifact::from_file(path);
  ASSERT_TRUE(artifact);
  const KeyRecord record = KeyRecord::decode(artifact->key_record()).value();
  std::vector<KeyField> fields = record.fields();
  for (KeyField& field : fields) {
    if (field.name == "cpu") field.items.push_back({"feature.avx99", "+"});
  }
  ArtifactContents contents;
  contents.key_record = KeyRecord(fields).encode();
  contents.executable = Bytes(artifact->executable());
  contents.compile_options = Bytes(artifact->compile_options());
  const auto better = VerifiedArtifact::decode(encode_artifact(contents).value());
  ASSERT_TRUE(better);
  const std::size_t before = loads();
  const auto loaded = load(*client_, *better, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::incompatible);
  EXPECT_THAT(loaded.error().message(), HasSubstr("avx99"));
  EXPECT_EQ(loads(), before);
}

TEST_F(CacheTest, AnArtifactOfAnotherPluginNeverReachesThePlugin) {
  const std::string path = ask(open()).report.artifact_path;
  const auto artifact = VerifiedArtifact::from_file(path);
  ASSERT_TRUE(artifact);
  std::vector<KeyField> fields = KeyRecord::decode(artifact->key_record())->fields();
  for (KeyField& field : fields) {
    for (KeyItem& item : field.items) {
      if (field.name == "plugin" && item.name == "sha256") item.value = std::string(64, '0');
    }
  }
  ArtifactContents contents;
  contents.key_record = KeyRecord(fields).encode();
  contents.executable = Bytes(artifact->executable());
  contents.compile_options = Bytes(artifact->compile_options());
  const auto other = VerifiedArtifact::decode(encode_artifact(contents).value());
  ASSERT_TRUE(other);
  const std::size_t before = loads();
  const auto loaded = load(*client_, *other, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::incompatible);
  EXPECT_THAT(loaded.error().message(), HasSubstr("another plugin"));
  EXPECT_EQ(loads(), before);
}

// How a host's own call is divided among partitions may be a rule that the host registered.
TEST_F(CacheTest, UnknownCallsOnSeveralPartitionsBypass) {
  const Cache cache = open();
  CompileOptions two;
  two.set_partitions(2);
  const auto reason = [&](std::string_view target, const CompileOptions& options) {
    const std::string text = fmt::format(
        "// fake: params=f32[4] results=f32[4]\n"
        "module @calls {{ func.func @main() {{ stablehlo.custom_call @{}() }} }}\n",
        target);
    const auto done = cache.compile_or_load(*client_, program(text), options);
    EXPECT_TRUE(done) << done.error().to_string();
    return done->report.reason;
  };
  EXPECT_EQ(reason("my_op", two), Reason::unknown_partitioning);
  EXPECT_EQ(reason("my_op", {}), Reason::not_found);
  EXPECT_EQ(reason("Sharding", two), Reason::not_found);
}

}  // namespace
}  // namespace precast
