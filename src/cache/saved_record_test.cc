// Saved records, the ones that compiles leave, and what would be a hit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cache/misses.h"
#include "precast/explain.h"
#include "precast/limits.h"
#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::EnvGuard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

constexpr std::string_view kProgram =
    "// fake: params=f32[4] results=f32[4]\nmodule @double {\n  func.func @main() {\n  }\n}\n";

SavedRecord sample() {
  SavedRecord saved =
      SavedRecord::from_program(Program::from_bytes(Bytes(kProgram), "double.mlir").value());
  saved.provenance.label = "nightly";
  saved.outcome = Outcome::skip;
  saved.reason = Reason::not_serializable;
  saved.detail = "sort is not serializable";
  return saved;
}

TEST(SavedRecord, StoredFormReadsBack) {
  const SavedRecord saved = sample();
  const Result<SavedRecord> read = SavedRecord::decode(saved.encode());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->record, saved.record);
  EXPECT_EQ(read->outline, saved.outline);
  EXPECT_EQ(read->provenance, saved.provenance);
  EXPECT_EQ(read->outcome, Outcome::skip);
  EXPECT_EQ(read->reason, Reason::not_serializable);
  EXPECT_EQ(read->detail, saved.detail);
}

TEST(SavedRecord, AnyDamageIsFound) {
  const Bytes good = sample().encode();
  ASSERT_TRUE(looks_like_saved_record(good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= 0x20;
    EXPECT_EQ(SavedRecord::decode(bad).error().code(), ErrorCode::corrupt) << at;
    EXPECT_EQ(SavedRecord::decode(BytesView(good).substr(0, at)).error().code(), ErrorCode::corrupt)
        << at;
  }
  EXPECT_FALSE(SavedRecord::decode(good + "x"));
}

TEST(Compare, NamesTheItemAndThePlaceInTheProgram) {
  const SavedRecord left = sample();
  const SavedRecord right = SavedRecord::from_program(
      Program::from_bytes(Bytes("module @double {\n  func.func @main() {\n    return\n  }\n}\n"),
                          "other")
          .value());
  const RecordDifferences differences = compare(left, right);
  ASSERT_EQ(differences.items.size(), 1U);
  EXPECT_EQ(differences.items[0].item, "sha256");
  ASSERT_EQ(differences.program.size(), 1U);
  EXPECT_EQ(differences.program[0].function, "main");
  EXPECT_EQ(differences.program_note, "");
  const RecordDifferences none = compare(left, left);
  EXPECT_THAT(none.items, IsEmpty());
  EXPECT_THAT(none.program, IsEmpty());
}

TEST(Compare, SaysWhatOutlinesCannotShow) {
  const SavedRecord left = sample();
  SavedRecord right = left;
  right.record = KeyRecord({{"program", {{"sha256", "0"}}}});
  EXPECT_EQ(compare(left, right).program_note, "the outlines show no difference");
  right.outline = {};
  right.outline.none_because = "the artifact holds none";
  EXPECT_THAT(compare(left, right).program_note, HasSubstr("the artifact holds none"));
}

TEST(Misses, KeepTheNewest) {
  const TempDir dir;
  const std::string state = dir.file("state/precast");
  for (std::size_t i = 0; i < limits::kMaxMissRecords + 5; ++i) {
    const std::string key = std::to_string(1000 + i);
    ASSERT_TRUE(cache::keep_miss(state, key, "record"));
    // As old as it would be if each had come a minute after the one before.
    fs::last_write_time(state + "/misses/" + key + ".record",
                        fs::file_time_type::clock::now() - std::chrono::minutes(1000 - i));
  }
  const std::vector<std::string> kept = cache::kept_misses(state);
  EXPECT_EQ(kept.size(), limits::kMaxMissRecords);
  EXPECT_FALSE(fs::exists(state + "/misses/1004.record"));
  EXPECT_TRUE(fs::exists(state + "/misses/1005.record"));
  EXPECT_EQ(fs::status(state).permissions() & fs::perms::all, fs::perms::owner_all);
  EXPECT_THAT(cache::kept_misses(dir.file("nowhere")), IsEmpty());
}

TEST(Misses, WhatAKilledWriterLeftGoes) {
  const TempDir dir;
  const std::string folder = dir.file("state/misses/");
  ASSERT_TRUE(cache::keep_miss(dir.file("state"), "a", "record"));
  for (const char* name : {".precast-tmp-old", ".precast-tmp-young", "mine"}) {
    std::ofstream(folder + name) << "half";
    if (std::string(name) != ".precast-tmp-young") {
      fs::last_write_time(folder + name, fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
  }
  ASSERT_TRUE(cache::keep_miss(dir.file("state"), "b", "record"));
  EXPECT_FALSE(fs::exists(folder + ".precast-tmp-old"));
  EXPECT_TRUE(fs::exists(folder + ".precast-tmp-young"));
  EXPECT_TRUE(fs::exists(folder + "mine"));
}

class MissTest : public ::testing::Test {
 protected:
  MissTest() : disable_("PRECAST_DISABLE", std::nullopt), flags_("XLA_FLAGS", std::nullopt) {
    Result<Plugin> plugin = Plugin::open(PRECAST_FAKE_PLUGIN);
    EXPECT_TRUE(plugin) << plugin.error().to_string();
    Result<Client> client = plugin->create_client({});
    EXPECT_TRUE(client) << client.error().to_string();
    client_.emplace(std::move(client).value());
  }

  Cache open(bool keep_misses = true) {
    CacheConfig config;
    config.directory = dir_.file("cache");
    config.state_directory = dir_.file("state");
    config.keep_misses = keep_misses;
    return Cache::open(std::move(config));
  }
  std::vector<std::string> misses() { return cache::kept_misses(dir_.file("state")); }

  Lookup would_hit(const Cache& cache) {
    Result<Lookup> lookup = cache.would_hit(*client_, program_, {});
    EXPECT_TRUE(lookup) << lookup.error().to_string();
    return std::move(lookup).value();
  }
  Report ask(const Cache& cache) {
    Result<CompileOrLoad> done = cache.compile_or_load(*client_, program_, {});
    EXPECT_TRUE(done) << done.error().to_string();
    return std::move(done->report);
  }

  TempDir dir_;
  EnvGuard disable_;
  EnvGuard flags_;
  std::optional<Client> client_;
  Program program_ = Program::from_bytes(Bytes(kProgram), "double.mlir").value();
};

TEST_F(MissTest, AMissLeavesARecordAndAHitLeavesNone) {
  const Cache cache = open();
  const Report miss = ask(cache);
  ASSERT_EQ(miss.outcome, Outcome::miss);
  ASSERT_EQ(misses().size(), 1U);
  EXPECT_THAT(misses()[0], HasSubstr(miss.key->hex()));
  const Result<SavedRecord> saved = SavedRecord::from_file(misses()[0]);
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->record.digest(), *miss.key);
  EXPECT_EQ(saved->outcome, Outcome::miss);
  EXPECT_EQ(saved->reason, Reason::not_found);
  EXPECT_EQ(saved->outline, outline_of(program_));
  fs::remove_all(dir_.file("state"));
  EXPECT_EQ(ask(cache).outcome, Outcome::hit);
  EXPECT_THAT(misses(), IsEmpty());
}

TEST_F(MissTest, TheArtifactSaysTheSame) {
  const Report miss = ask(open());
  const Result<VerifiedArtifact> artifact = VerifiedArtifact::from_file(miss.artifact_path);
  ASSERT_TRUE(artifact);
  const Result<SavedRecord> stored = SavedRecord::from_artifact(*artifact);
  ASSERT_TRUE(stored);
  const Result<SavedRecord> left = SavedRecord::from_file(misses()[0]);
  EXPECT_EQ(stored->record, left->record);
  EXPECT_EQ(stored->outline, left->outline);
}

TEST_F(MissTest, NoneIsLeftWhereNoneIsWanted) {
  ask(open(/*keep_misses=*/false));
  EXPECT_THAT(misses(), IsEmpty());
}

TEST_F(MissTest, AStateFolderThatCannotBeMadeHarmsNothing) {
  std::ofstream(dir_.file("state")) << "a file is in the way";
  const Report report = ask(open());
  EXPECT_EQ(report.outcome, Outcome::miss);
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST_F(MissTest, WouldHitAnswersWithoutCompilingOrWriting) {
  const EnvGuard log("PRECAST_FAKE_LOG", dir_.file("calls"));
  const Cache cache = open();
  const Lookup before = would_hit(cache);
  EXPECT_FALSE(before.hit);
  EXPECT_EQ(before.outcome, Outcome::miss);
  EXPECT_EQ(before.reason, Reason::not_found);
  ASSERT_TRUE(before.record);
  EXPECT_THAT(misses(), IsEmpty());
  const Report report = ask(cache);
  EXPECT_EQ(before.record->digest(), *report.key);
  const Lookup after = would_hit(cache);
  EXPECT_TRUE(after.hit);
  EXPECT_EQ(after.artifact_path, report.artifact_path);
  std::ifstream calls(dir_.file("calls"));
  const std::string text{std::istreambuf_iterator<char>(calls), {}};
  EXPECT_EQ(text.find("compile"), text.rfind("compile")) << text;
}

TEST_F(MissTest, WouldHitSeesADamagedEntryAndABypass) {
  const Cache cache = open();
  const Report report = ask(cache);
  std::ofstream(report.artifact_path, std::ios::binary | std::ios::in).seekp(200) << "damage";
  const Lookup damaged = would_hit(cache);
  EXPECT_FALSE(damaged.hit);
  EXPECT_EQ(damaged.reason, Reason::entry_corrupt);
  EXPECT_THAT(damaged.detail, HasSubstr(report.artifact_path));
  CacheConfig off;
  off.disabled = true;
  const Lookup disabled = would_hit(Cache::open(off));
  EXPECT_EQ(disabled.outcome, Outcome::bypass);
  EXPECT_EQ(disabled.reason, Reason::disabled);
  EXPECT_FALSE(disabled.record);
}

}  // namespace
}  // namespace precast
