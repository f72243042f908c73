// Keys that a released Precast gave: the record still hashes to the same key and encodes to the
// same bytes. For the current rules, the same inputs still give the same record; when a rule
// changes, its version changes (src/key/key_inputs.h), the record of the new rules becomes a new
// golden, and the old one is held to its own bytes only.
//
// A new golden: run this test once with PRECAST_UPDATE_GOLDENS=1, which writes the file if it does
// not exist.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "key/build_record.h"
#include "key/test_inputs.h"
#include "precast/key.h"

namespace precast::golden {
namespace {

using nlohmann::ordered_json;

const std::filesystem::path kFolder = PRECAST_TESTDATA "/key";
constexpr const char* kCurrent = "v3/sample.json";

ordered_json to_json(const KeyRecord& record) {
  ordered_json fields = ordered_json::array();
  for (const KeyField& field : record.fields()) {
    ordered_json items = ordered_json::array();
    for (const KeyItem& item : field.items) {
      items.push_back({{"name", item.name}, {"value_hex", base::to_hex(item.value)}});
    }
    fields.push_back({{"name", field.name}, {"digest", field.digest().hex()}, {"items", items}});
  }
  return {{"key", record.digest().hex()},
          {"encoded_hex", base::to_hex(record.encode())},
          {"fields", fields}};
}

Bytes unhex(const ordered_json& text) {
  return base::from_hex(text.get<std::string>()).value_or(Bytes("not hexadecimal"));
}

KeyRecord from_json(const ordered_json& json) {
  std::vector<KeyField> fields;
  for (const auto& field : json.at("fields")) {
    fields.push_back({field.at("name"), {}});
    for (const auto& item : field.at("items")) {
      fields.back().items.push_back({item.at("name"), unhex(item.at("value_hex"))});
    }
  }
  return KeyRecord(std::move(fields));
}

ordered_json read(const std::filesystem::path& path) {
  const auto text = base::read_file(path.string(), std::uint64_t{1} << 20);
  EXPECT_TRUE(text);
  return ordered_json::parse(text ? *text : "{}");
}

TEST(KeyGolden, EveryReleasedKeyIsStillTheSame) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().string());
    ++files;
    const ordered_json golden = read(entry.path());
    const KeyRecord record = from_json(golden);
    EXPECT_EQ(record.digest().hex(), golden.at("key").get<std::string>());
    const Bytes encoded = unhex(golden.at("encoded_hex"));
    EXPECT_EQ(record.encode(), encoded);
    const auto decoded = KeyRecord::decode(encoded);
    ASSERT_TRUE(decoded) << decoded.error().to_string();
    EXPECT_EQ(*decoded, record);
    std::size_t index = 0;
    for (const auto& field : golden.at("fields")) {
      EXPECT_EQ(record.fields()[index++].digest().hex(), field.at("digest").get<std::string>());
    }
  }
  EXPECT_GE(files, 1);
}

TEST(KeyGolden, TheCurrentRulesGiveTheCurrentGolden) {
  const KeyRecord record = key::build_record(key::sample_inputs());
  const std::filesystem::path path = kFolder / kCurrent;
  const char* update = std::getenv("PRECAST_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1" && !std::filesystem::exists(path)) {
    ASSERT_TRUE(base::write_file_atomic(path.string(), to_json(record).dump(2) + "\n"));
  }
  const ordered_json golden = read(path);
  EXPECT_EQ(to_json(record), golden) << "a rule changed: raise its version and add a golden";
  // Pinned here too, so that the file cannot follow a change unnoticed.
  EXPECT_EQ(record.digest().hex(),
            "ef696c019344edf3f49356f27eb2311e9b1032414978100ff647c2b860268898");
}

}  // namespace
}  // namespace precast::golden
