// Sensitivity from the caller's values to the key: every XLA option of the table, by its kind and
// in each of the three places where it can be set, changes the key and one field of the record
// alone.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/wire.h"
#include "key/build_record.h"
#include "key/test_inputs.h"
#include "precast/limits.h"
#include "proto/canonical_options.h"
#include "proto/edit.h"
#include "proto/field_numbers.h"
#include "proto/flag_rules.h"
#include "proto/xla_options.h"

namespace precast::key {
namespace {

using proto::bytes_field;
using proto::FlagKind;
using proto::OptionType;
using proto::varint_field;
using proto::XlaOption;

// Three values of each kind, all of other effect, as fields of xla.DebugOptions.
std::vector<Bytes> debug_values(const XlaOption& option) {
  const auto entry = [&](const char* key, const char* value) {
    return bytes_field(option.number, bytes_field(1, key) + bytes_field(2, value));
  };
  const auto number = [&](std::uint64_t value) { return varint_field(option.number, value); };
  const auto text = [&](const char* value) { return bytes_field(option.number, value); };
  const auto real = [&](float value) {
    // The tag of a fixed32, then its four bytes.
    Bytes field = varint_field(option.number, 0);
    field.pop_back();
    field[0] = static_cast<char>((field[0] & ~7) | 5);
    const auto* bytes = reinterpret_cast<const char*>(&value);
    return field.append(bytes, sizeof value);
  };
  switch (option.type) {
    case OptionType::boolean: return {"", number(0), number(1)};
    case OptionType::int32:
    case OptionType::int64:
      return {"", number(0), number(7), number(static_cast<std::uint64_t>(-1))};
    case OptionType::enumeration: return {"", number(0), number(1), number(2)};
    case OptionType::float32: return {"", real(0), real(1), real(-0.0f)};
    case OptionType::enumeration_list: return {"", number(1), number(2), number(1) + number(2)};
    case OptionType::text_map: return {"", entry("k", "a"), entry("k", "b"), entry("l", "a")};
    default: return {"", text(""), text("a"), text("a,b")};
  }
}

// The same as env_option_overrides.
std::vector<Bytes> override_values(const XlaOption& option) {
  const auto over = [&](const Bytes& value) {
    return bytes_field(proto::compile_options::kEnvOptionOverrides,
                       bytes_field(1, option.name) + bytes_field(2, value));
  };
  const auto text = [&](const char* value) { return over(bytes_field(1, value)); };
  const auto number = [&](std::uint64_t value) { return over(varint_field(3, value)); };
  switch (option.type) {
    case OptionType::boolean: return {"", over(varint_field(2, 0)), over(varint_field(2, 1))};
    case OptionType::int32:
    case OptionType::int64:
      return {"", number(0), number(7), number(static_cast<std::uint64_t>(-1))};
    case OptionType::enumeration:
    case OptionType::enumeration_list: return {"", number(0), number(1), text("2")};
    case OptionType::float32: return {"", text("0"), text("1"), text("-0")};
    default: return {"", text(""), text("a"), text("a,b")};
  }
}

std::vector<std::string> flag_values(const XlaOption& option) {
  switch (proto::find_flag_rule(option.name)->kind) {
    case FlagKind::boolean: return {"=0", "=1"};
    case FlagKind::int32:
    case FlagKind::int64:
    case FlagKind::float32: return {"=0", "=7", "=-1"};
    case FlagKind::text_map: return {"=k=a", "=k=b", "=l=a"};
    // Words: no word is no value.
    case FlagKind::word_list: return {"=a", "=b", "=a,b"};
    case FlagKind::modified_list: return {"=", "=a", "=+a", "=-a"};
    default: return {"=", "=a", "=a,b"};
  }
}

KeyRecord with_options(const Bytes& debug_options, const Bytes& outer) {
  const Bytes build = varint_field(proto::build_options::kNumReplicas, 1) +
                      varint_field(proto::build_options::kNumPartitions, 1) +
                      bytes_field(proto::build_options::kDebugOptions, debug_options);
  const auto options = CompileOptions::from_serialized(
      bytes_field(proto::compile_options::kExecutableBuildOptions, build) + outer);
  EXPECT_TRUE(options);
  KeyInputs inputs = sample_inputs();
  inputs.options = proto::canonicalize(*options, "cuda").value().items;
  return build_record(inputs);
}

KeyRecord with_flags(const std::string& text) {
  KeyInputs inputs = sample_inputs();
  inputs.flags.xla = proto::canonical_flags(proto::parse_flags_text(text), text, "cuda");
  return build_record(inputs);
}

// Counts the records of options that count; those of one option are all others, in one field alone.
class Seen {
 public:
  void add(const XlaOption& option, const std::string& field, const KeyRecord& plain,
           const std::vector<KeyRecord>& records) {
    const bool neutral = proto::is_neutral_option(option.name);
    std::set<Digest> own;
    for (const KeyRecord& record : records) {
      own.insert(record.digest());
      if (record == plain) continue;
      EXPECT_TRUE(all_.insert(record.digest()).second) << option.name;
      for (const KeyDifference& difference : diff(plain, record)) {
        EXPECT_EQ(difference.field, field) << option.name;
      }
    }
    EXPECT_EQ(own.size(), neutral ? 1 : records.size()) << option.name;
    if (!neutral) ++counted_;
  }
  std::size_t counted() const { return counted_; }

 private:
  std::set<Digest> all_;
  std::size_t counted_ = 0;
};

constexpr std::size_t kOptions = 326;
constexpr std::size_t kNeutral = 38;

TEST(OptionSensitivity, InTheDebugOptions) {
  Seen seen;
  const KeyRecord plain = with_options("", "");
  for (const XlaOption& option : proto::all_options()) {
    std::vector<KeyRecord> records;
    for (const Bytes& value : debug_values(option)) records.push_back(with_options(value, ""));
    seen.add(option, "options", plain, records);
  }
  EXPECT_EQ(seen.counted(), proto::all_options().size() - kNeutral);
}

TEST(OptionSensitivity, AsOverrides) {
  Seen seen;
  const KeyRecord plain = with_options("", "");
  for (const XlaOption& option : proto::all_options()) {
    std::vector<KeyRecord> records;
    for (const Bytes& value : override_values(option)) records.push_back(with_options("", value));
    seen.add(option, "options", plain, records);
  }
  EXPECT_EQ(seen.counted(), proto::all_options().size() - kNeutral);
}

TEST(OptionSensitivity, AsFlags) {
  Seen seen;
  const KeyRecord plain = with_flags("");
  for (const XlaOption& option : proto::all_options()) {
    std::vector<KeyRecord> records = {plain};
    for (const std::string& value : flag_values(option)) {
      records.push_back(with_flags("--" + std::string(option.name) + value));
    }
    seen.add(option, "flags", plain, records);
  }
  EXPECT_EQ(seen.counted(), proto::all_options().size() - kNeutral);
}

TEST(OptionSensitivity, TheTableIsWhole) {
  EXPECT_EQ(proto::all_options().size(), kOptions);
  std::set<OptionType> kinds;
  for (const XlaOption& option : proto::all_options()) kinds.insert(option.type);
  EXPECT_EQ(kinds.size(), 10u);
}

// Two options at once, of every two kinds, in every two places: no two of them share a key.
TEST(OptionSensitivity, PairsOfKinds) {
  std::map<OptionType, const XlaOption*> one_of;
  for (const XlaOption& option : proto::all_options()) {
    if (!proto::is_neutral_option(option.name)) one_of.emplace(option.type, &option);
  }
  std::set<Digest> keys;
  std::size_t made = 0;
  for (const auto& [first_kind, first] : one_of) {
    for (const auto& [second_kind, second] : one_of) {
      for (const Bytes& debug : debug_values(*first)) {
        for (const Bytes& over : override_values(*second)) {
          // Nothing set is the same for all.
          if (debug.empty() || over.empty()) continue;
          EXPECT_TRUE(keys.insert(with_options(debug, over).digest()).second)
              << first->name << " " << second->name;
          ++made;
        }
      }
    }
  }
  EXPECT_GT(made, 500u);
}

}  // namespace
}  // namespace precast::key
