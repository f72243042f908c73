// Enumerations of small values: no two different records have one digest, and no two different
// inputs give one record.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "key/build_record.h"
#include "key/test_inputs.h"

namespace precast::key {
namespace {

// Texts that meet the record's own separators: nothing, a NUL, a length, a name, lists of both.
const std::vector<Bytes> kTexts = {"", "a", "b", Bytes(1, '\0'), Bytes("a\0", 2), "aa", "a=b", ","};

TEST(Collisions, NoTwoRecordsHaveOneDigest) {
  const std::vector<Bytes> texts = {"", "a", "aa", Bytes(1, '\0')};
  std::vector<KeyItem> items;
  for (const Bytes& name : texts) {
    for (const Bytes& value : texts) items.push_back({name, value});
  }
  std::vector<std::vector<KeyItem>> lists = {{}};
  for (const KeyItem& item : items) lists.push_back({item});
  const std::size_t short_lists = lists.size();
  for (const KeyItem& first : items) {
    for (const KeyItem& second : items) lists.push_back({first, second});
  }
  std::vector<KeyRecord> records = {KeyRecord()};
  for (const Bytes& name : texts) {
    for (const auto& list : lists) records.push_back(KeyRecord({{name, list}}));
  }
  for (std::size_t a = 0; a < short_lists; ++a) {
    for (std::size_t b = 0; b < short_lists; ++b) {
      for (const char* name : {"", "a", "b"}) {
        records.push_back(KeyRecord({{name, lists[a]}, {"c", lists[b]}}));
      }
    }
  }
  std::set<Digest> digests;
  std::set<Bytes> encodings;
  for (const KeyRecord& record : records) {
    EXPECT_TRUE(digests.insert(record.digest()).second);
    EXPECT_TRUE(encodings.insert(record.encode()).second);
  }
  EXPECT_GT(records.size(), 1900u);
}

// Every place of the inputs that takes a text of a caller, a file, a plugin or the environment.
struct Place {
  const char* name;
  std::function<void(KeyInputs&, const Bytes&)> set;
};

const std::vector<Place>& places() {
  using In = KeyInputs&;
  using Text = const Bytes&;
  static const std::vector<Place> all = {
      {"option name", [](In i, Text t) { i.options.at(0).name = t; }},
      {"option value", [](In i, Text t) { i.options.at(0).value = t; }},
      {"second option name", [](In i, Text t) { i.options.at(1).name = t; }},
      {"second option value", [](In i, Text t) { i.options.at(1).value = t; }},
      {"flag name", [](In i, Text t) { i.flags.xla.at(0).name = "--" + t; }},
      {"flag value", [](In i, Text t) { i.flags.xla.at(0).value = t; }},
      {"libtpu", [](In i, Text t) { i.flags.libtpu_init_args = t; }},
      {"client option name", [](In i, Text t) { i.client_options.at(0).name = t; }},
      {"client option value", [](In i, Text t) { i.client_options.at(0).value = std::string(t); }},
      {"variable", [](In i, Text t) { i.environment.at(0).second = t; }},
      {"platform version", [](In i, Text t) { i.plugin.platform_version = t; }},
      {"attribute name", [](In i, Text t) { i.plugin.attributes.at(0).name = t; }},
      {"attribute value", [](In i, Text t) { i.plugin.attributes.at(0).value = std::string(t); }},
      {"part name", [](In i, Text t) { i.plugin.parts.at(0).first = t; }},
      {"part value", [](In i, Text t) { i.plugin.parts.at(0).second = t; }},
      {"kind", [](In i, Text t) { i.placement.positions.at(0).kind = t; }},
      {"coordinate name",
       [](In i, Text t) { i.placement.positions.at(0).coordinates.at(0).first = t; }},
      {"coordinate",
       [](In i, Text t) { i.placement.positions.at(0).coordinates.at(0).second = t; }},
      {"triple", [](In i, Text t) { i.cpu->target.triple = t; }},
      {"CPU name", [](In i, Text t) { i.cpu->target.name = t; }},
      {"salt", [](In i, Text t) { i.salt = t; }},
      {"annotations", [](In i, Text t) { i.annotations = t; }},
      {"extra name", [](In i, Text t) { i.extras.at(0).first = t; }},
      {"extra value", [](In i, Text t) { i.extras.at(0).second = t; }},
  };
  return all;
}

KeyInputs start() {
  KeyInputs inputs = sample_inputs();
  inputs.options = {{"", ""}, {"", ""}};
  inputs.flags = {{{"--", ""}}, ""};
  inputs.client_options = {{"", std::string()}};
  inputs.environment = {{"LLVM_OVERRIDE_PRODUCER", ""}};
  inputs.plugin.attributes = {{"", std::string()}};
  inputs.plugin.parts = {{"", ""}};
  inputs.placement.positions.at(0).coordinates = {{"", ""}};
  inputs.extras = {{"", ""}};
  inputs.salt.clear();
  inputs.annotations.clear();
  return inputs;
}

// All pairs of places with all pairs of texts. Two inputs that differ have two keys; an input that
// was made before, in another way, has its key again.
TEST(Collisions, NoTwoInputsGiveOneRecord) {
  const std::vector<Place>& all = places();
  std::map<Digest, std::vector<Bytes>> by_digest;
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      for (const Bytes& first : kTexts) {
        for (const Bytes& second : kTexts) {
          std::vector<Bytes> values(all.size());
          values[a] = first;
          values[b] = second;
          KeyInputs inputs = start();
          for (std::size_t i = 0; i < all.size(); ++i) {
            // A triple and a name that were set to nothing are set.
            all[i].set(inputs, values[i]);
          }
          const auto [found, is_new] = by_digest.emplace(build_record(inputs).digest(), values);
          EXPECT_EQ(found->second, values) << all[a].name << " and " << all[b].name;
        }
      }
    }
  }
  // One of nothing, one of each text in each place, and the pairs.
  const std::size_t texts = kTexts.size() - 1;
  const std::size_t n = all.size();
  EXPECT_EQ(by_digest.size(), 1 + n * texts + n * (n - 1) / 2 * texts * texts);
}

}  // namespace
}  // namespace precast::key
