// Sensitivity: everything that is in the inputs changes the key, on its own, except what is left
// out by name.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "base/hash.h"
#include "key/build_record.h"
#include "key/test_inputs.h"

namespace precast::key {
namespace {

Digest key_of(const KeyInputs& inputs) { return build_record(inputs).digest(); }

struct Change {
  std::string field;  // the one field that must differ
  std::string what;
  std::function<void(KeyInputs&)> apply;
};

std::vector<Change> changes() {
  using In = KeyInputs&;
  std::vector<Change> all = {
      {"program", "format", [](In i) { i.program.format = ProgramFormat::hlo_proto; }},
      {"program", "sha256", [](In i) { i.program.sha256.bytes[31] ^= 1; }},
      {"program", "bytes", [](In i) { ++i.program.bytes; }},
      {"program", "text", [](In i) { i.program.mode = program::DigestMode::text; }},
      {"program", "mode", [](In i) { i.program.mode = program::DigestMode::structural; }},
      {"program", "rules", [](In i) { ++i.program.rules; }},
      {"program", "raw because", [](In i) { i.program.raw_reason += "2"; }},
      {"options", "value", [](In i) { i.options[0].value += "1"; }},
      {"options", "name", [](In i) { i.options[0].name += "1"; }},
      {"options", "added", [](In i) { i.options.push_back({"override.new", "1"}); }},
      {"options", "removed", [](In i) { i.options.pop_back(); }},
      {"options", "repeated", [](In i) { i.options.push_back(i.options.back()); }},
      {"options", "order within a list", [](In i) { std::swap(i.options[2], i.options[3]); }},
      {"flags", "value", [](In i) { i.flags.xla[0].value = "true"; }},
      {"flags", "name", [](In i) { i.flags.xla[0].name += "_"; }},
      {"flags", "removed", [](In i) { i.flags.xla.pop_back(); }},
      {"flags", "order within a list", [](In i) { std::swap(i.flags.xla[1], i.flags.xla[2]); }},
      {"flags", "none", [](In i) { i.flags.xla.clear(); }},
      {"flags", "LIBTPU_INIT_ARGS", [](In i) { i.flags.libtpu_init_args = "--x"; }},
      {"client_options", "value", [](In i) { i.client_options[1].value = std::int64_t{1}; }},
      {"client_options", "name", [](In i) { i.client_options[1].name = "process"; }},
      {"client_options", "added", [](In i) { i.client_options.push_back({"new", true}); }},
      {"client_options", "removed", [](In i) { i.client_options.clear(); }},
      {"environment", "value", [](In i) { i.environment[0].second = ""; }},
      {"environment", "unset", [](In i) { i.environment.clear(); }},
      {"plugin", "platform_version", [](In i) { i.plugin.platform_version += "2"; }},
      {"plugin", "sha256", [](In i) { i.plugin.sha256.bytes[0] ^= 1; }},
      {"plugin", "api major", [](In i) { ++i.plugin.api_version.major; }},
      {"plugin", "api minor", [](In i) { ++i.plugin.api_version.minor; }},
      {"plugin", "attribute value",
       [](In i) { i.plugin.attributes[0].value = std::vector<std::int64_t>{1, 13, 1}; }},
      {"plugin", "part", [](In i) { i.plugin.parts[0].second = "9.2"; }},
      {"plugin", "part name", [](In i) { i.plugin.parts[0].first = "cublas"; }},
      {"plugin", "part removed", [](In i) { i.plugin.parts.pop_back(); }},
      {"plugin", "attribute name", [](In i) { i.plugin.attributes[0].name += "2"; }},
      {"plugin", "attribute removed", [](In i) { i.plugin.attributes.pop_back(); }},
      {"placement", "replicas", [](In i) { i.placement.replicas = 2; }},
      {"placement", "partitions", [](In i) { i.placement.partitions = 1; }},
      {"placement", "kind", [](In i) { i.placement.positions[1].kind = "other"; }},
      {"placement", "process", [](In i) { i.placement.positions[1].process = 1; }},
      {"placement", "id", [](In i) { i.placement.positions[1].id = 0; }},
      {"placement", "id removed", [](In i) { i.placement.positions[0].id.reset(); }},
      {"placement", "coordinate",
       [](In i) { i.placement.positions[0].coordinates[0].second = ""; }},
      {"placement", "coordinate name",
       [](In i) { i.placement.positions[0].coordinates[0].first = "at"; }},
      {"placement", "coordinate removed",
       [](In i) { i.placement.positions[0].coordinates.pop_back(); }},
      {"placement", "positions", [](In i) { i.placement.positions.pop_back(); }},
      {"placement", "order",
       [](In i) { std::swap(i.placement.positions[0], i.placement.positions[1]); }},
      {"cpu", "triple", [](In i) { i.cpu->target.triple += "2"; }},
      {"cpu", "name", [](In i) { i.cpu->target.name = "znver4"; }},
      {"cpu", "feature added", [](In i) { i.cpu->target.features += ",+avx512f"; }},
      {"cpu", "feature off", [](In i) { i.cpu->target.features = "-avx,+avx2,-sse4a"; }},
      {"cpu", "feature removed", [](In i) { i.cpu->target.features = "+avx,+avx2"; }},
      {"cpu", "count", [](In i) { ++i.cpu->count; }},
      {"cpu", "none", [](In i) { i.cpu.reset(); }},
      {"cpu", "baseline v2", [](In i) { i.cpu->baseline = "x86-64-v2"; }},
      {"cpu", "baseline v3", [](In i) { i.cpu->baseline = "x86-64-v3"; }},
      {"extra", "salt", [](In i) { i.salt = "s"; }},
      {"extra", "annotations", [](In i) { i.annotations = "a"; }},
      {"extra", "other annotations", [](In i) { i.annotations = "b"; }},
      {"extra", "extra", [](In i) { i.extras[0].second = "other"; }},
      {"extra", "extra name", [](In i) { i.extras[0].first = "modal"; }},
      {"extra", "extra removed", [](In i) { i.extras.pop_back(); }},
      {"extra", "extra added", [](In i) { i.extras.emplace_back("", ""); }},
  };
  return all;
}

TEST(Sensitivity, EveryChangeChangesTheKeyAndItsFieldAlone) {
  const KeyRecord base = build_record(sample_inputs());
  std::map<Digest, std::string> keys = {{base.digest(), "no change"}};
  for (const Change& change : changes()) {
    KeyInputs inputs = sample_inputs();
    change.apply(inputs);
    const KeyRecord record = build_record(inputs);
    const std::string what = change.field + ": " + change.what;
    const auto [other, is_new] = keys.emplace(record.digest(), what);
    EXPECT_TRUE(is_new) << what << " has the key of " << other->second;
    for (const KeyField& field : base.fields()) {
      const Digest now = record.find(field.name)->digest();
      EXPECT_EQ(now != field.digest(), field.name == change.field) << what << " in " << field.name;
    }
    for (const KeyDifference& difference : diff(base, record)) {
      EXPECT_EQ(difference.field, change.field) << what;
    }
  }
}

TEST(Sensitivity, PairsOfChangesAreAllDifferent) {
  const std::vector<Change> all = changes();
  std::set<Digest> keys;
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (all[a].field == all[b].field) continue;  // they may undo each other
      KeyInputs inputs = sample_inputs();
      all[a].apply(inputs);
      all[b].apply(inputs);
      EXPECT_TRUE(keys.insert(key_of(inputs)).second) << all[a].what << " and " << all[b].what;
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 500u);
}

// The platform chooses the rule lists, so it may change other fields too.
TEST(Sensitivity, Platform) {
  std::set<Digest> keys;
  for (const char* platform : {"cpu", "cuda", "tpu", "", "metal"}) {
    KeyInputs inputs = sample_inputs();
    inputs.plugin.platform = platform;
    EXPECT_TRUE(keys.insert(key_of(inputs)).second) << platform;
  }
}

// Exchanging the values of any two items of the record is another record with another key: no value
// counts without its name.
TEST(Sensitivity, SwappedValuesDiffer) {
  const std::vector<KeyField> fields = build_record(sample_inputs()).fields();
  std::set<Digest> keys = {KeyRecord(fields).digest()};
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t i = 0; i < fields[f].items.size(); ++i) places.emplace_back(f, i);
  }
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = a + 1; b < places.size(); ++b) {
      std::vector<KeyField> swapped = fields;
      Bytes& left = swapped[places[a].first].items[places[a].second].value;
      Bytes& right = swapped[places[b].first].items[places[b].second].value;
      if (left == right) continue;
      std::swap(left, right);
      EXPECT_TRUE(keys.insert(KeyRecord(swapped).digest()).second)
          << fields[places[a].first].name << " and " << fields[places[b].first].name;
    }
  }
  EXPECT_GT(keys.size(), 500u);
}

TEST(Sensitivity, TypesOfValuesCount) {
  const std::vector<NamedValue::Value> values = {
      std::string("1"),
      std::int64_t{1},
      1.0f,
      true,
      std::vector<std::int64_t>{1},
      std::vector<std::int64_t>{},
      std::string(),
      std::string("int64:1"),
      std::string("true"),
      std::vector<std::int64_t>{1, 1},
      std::vector<std::int64_t>{11},
      0.0f,
      -0.0f,
      std::nextafter(1.0f, 2.0f),
      std::numeric_limits<float>::infinity(),
      std::numeric_limits<float>::quiet_NaN(),
      -std::numeric_limits<float>::quiet_NaN(),
      std::string(1, '\0'),
      std::string(2, '\0'),
      std::numeric_limits<std::int64_t>::min(),
  };
  std::set<Digest> keys;
  for (const NamedValue::Value& value : values) {
    KeyInputs as_option = sample_inputs();
    as_option.client_options = {{"o", value}};
    EXPECT_TRUE(keys.insert(key_of(as_option)).second);
    KeyInputs as_attribute = sample_inputs();
    as_attribute.plugin.attributes = {{"o", value}};
    EXPECT_TRUE(keys.insert(key_of(as_attribute)).second);
  }
}

// Texts that look like the record's own words and separators stay what they are.
TEST(Sensitivity, LookAlikesDoNotCollide) {
  std::vector<std::function<void(KeyInputs&)>> edits = {
      [](KeyInputs& i) { i.placement.positions[0].coordinates = {{"kind", "x"}}; },
      [](KeyInputs& i) { i.placement.positions[0].coordinates = {{"id", "3"}}; },
      [](KeyInputs& i) { i.placement.positions[0].coordinates = {{"process", "0"}}; },
      [](KeyInputs& i) { i.placement.positions[0].coordinates = {{"coords", "0,0"}, {"a", ""}}; },
      [](KeyInputs& i) { i.placement.positions[0].kind = Bytes("cpu\0", 4); },
      [](KeyInputs& i) { i.placement.positions[0].kind = "cpu, 0.process: 1"; },
      [](KeyInputs& i) { i.options = {{"a", "b=c"}}; },
      [](KeyInputs& i) { i.options = {{"a=b", "c"}}; },
      [](KeyInputs& i) { i.options = {{"a", "b"}, {"c", ""}}; },
      [](KeyInputs& i) { i.options = {{"a", Bytes("b\0c\0", 4)}}; },
      [](KeyInputs& i) { i.options = {{"", "a"}}; },
      [](KeyInputs& i) { i.options = {{"a", ""}}; },
      [](KeyInputs& i) { i.flags = {{{"--a", "--b"}}, ""}; },
      [](KeyInputs& i) { i.flags = {{{"--a--b", ""}}, ""}; },
      [](KeyInputs& i) { i.flags = {{{"--a", ""}, {"--b", ""}}, ""}; },
      [](KeyInputs& i) { i.flags = {{}, "--a--b"}; },
      [](KeyInputs& i) { i.flags = {{{"--LIBTPU_INIT_ARGS", "--a--b"}}, ""}; },
      [](KeyInputs& i) { i.plugin.parts = {{"platform", "cpu"}}; },
      [](KeyInputs& i) { i.plugin.parts = {{"attribute.platform", "cpu"}}; },
      [](KeyInputs& i) { i.extras = {{"salt", ""}}; },
      [](KeyInputs& i) { i.extras = {{"annotations", ""}}; },
      [](KeyInputs& i) { i.extras = {{"extra.salt", ""}}; },
      [](KeyInputs& i) { i.annotations = "annotations"; },
      [](KeyInputs& i) { i.cpu->target.features = "+baseline"; },
      [](KeyInputs& i) { i.cpu->baseline = "none"; },
      [](KeyInputs& i) { i.cpu.reset(); },
      [](KeyInputs& i) { i.client_options = {{"a", std::string("b")}}; },
      [](KeyInputs& i) { i.client_options = {{"a", std::string("b")}, {"a", std::string("b")}}; },
      [](KeyInputs& i) { i.plugin.attributes = {{"platform", std::string("cpu")}}; },
      [](KeyInputs& i) { i.plugin.attributes = {{"", std::string("cpu")}}; },
      [](KeyInputs& i) { i.cpu->target.features = "+none"; },
      [](KeyInputs& i) { i.cpu->target.features = ""; },
      [](KeyInputs& i) { i.cpu->target = {"none", "", ""}; },
      [](KeyInputs& i) { i.salt = Bytes(1, '\0'); },
      [](KeyInputs& i) { i.salt = Bytes(2, '\0'); },
  };
  std::set<Digest> keys;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    KeyInputs inputs = sample_inputs();
    edits[i](inputs);
    EXPECT_TRUE(keys.insert(key_of(inputs)).second) << i;
  }
}

TEST(Insensitivity, WhatIsLeftOutByName) {
  const Digest base = key_of(sample_inputs());
  const auto same = [&](const std::string& what, const std::function<void(KeyInputs&)>& edit) {
    KeyInputs inputs = sample_inputs();
    edit(inputs);
    EXPECT_EQ(key_of(inputs), base) << what;
  };
  same("device count", [](KeyInputs& i) { i.client_options[0].value = std::int64_t{8}; });
  same("no device count", [](KeyInputs& i) { i.client_options.erase(i.client_options.begin()); });
  same("asynchronous", [](KeyInputs& i) { i.client_options.push_back({"asynchronous", false}); });
  same("order of client options",
       [](KeyInputs& i) { std::swap(i.client_options[0], i.client_options[1]); });
  same("order of attributes",
       [](KeyInputs& i) { std::swap(i.plugin.attributes[0], i.plugin.attributes[1]); });
  for (const char* name : {"HOME", "NPROC", "PJRT_NPROC", "TF_CPP_MIN_LOG_LEVEL", "XLA_FLAGS",
                           "NVIDIA_TF32_OVERRIDE", "llvm_override_producer"}) {
    same(name, [&](KeyInputs& i) { i.environment.insert(i.environment.begin(), {name, "1"}); });
  }
  same("tuning hint", [](KeyInputs& i) { i.cpu->target.features += ",+prefer-no-gather"; });
  same("order of extras", [](KeyInputs& i) { std::swap(i.extras[0], i.extras[1]); });
  same("order of parts", [](KeyInputs& i) { std::swap(i.plugin.parts[0], i.plugin.parts[1]); });
  same("order of features", [](KeyInputs& i) { i.cpu->target.features = "-sse4a,+avx2,+avx"; });
}

// A program whose structure was read may be larger or smaller by its debug info.
TEST(Insensitivity, SizeOfAProgramThatWasUnderstood) {
  for (const auto mode : {program::DigestMode::structural, program::DigestMode::text}) {
    KeyInputs inputs = sample_inputs();
    inputs.program.mode = mode;
    const Digest before = key_of(inputs);
    ++inputs.program.bytes;
    inputs.program.raw_reason.clear();
    EXPECT_EQ(key_of(inputs), before);
    ++inputs.program.rules;
    EXPECT_NE(key_of(inputs), before);
  }
}

TEST(Insensitivity, NeutralOnOnePlatformOnly) {
  KeyInputs inputs = sample_inputs();
  inputs.plugin.platform = "cuda";
  const Digest before = key_of(inputs);
  inputs.client_options[0].value = std::int64_t{8};
  EXPECT_NE(key_of(inputs), before);
}

}  // namespace
}  // namespace precast::key
