// Every row of the tables: each of its fields changes the digest, and no two things of any kind
// share one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/entry_layouts.h"
#include "program/bytecode/op_layouts.h"
#include "program/bytecode/test_writer.h"

namespace precast::program::bytecode {
namespace {

// Every file starts with the same tables, so that what a variant refers to exists.
struct World {
  TestFile file;
  std::uint64_t one = file.string_attribute("one");
  std::uint64_t two = file.string_attribute("two");
  std::uint64_t i32 = file.type("builtin", number(0) + number(32 << 2));
  std::uint64_t f32 = file.type("builtin", number(5));
  std::uint64_t first_resource = file.resource("builtin", "first", "1111");
  std::uint64_t second_resource = file.resource("builtin", "second", "2222");
};

// The encodings that one field can take; the first is the usual one.
std::vector<Bytes> variants_of(World& world, char field) {
  switch (field) {
    case 'a': return {number(world.one), number(world.two)};
    case 'A': return {number(world.one << 1 | 1), number(0), number(world.two << 1 | 1)};
    case 't': return {number(world.i32), number(world.f32)};
    case 's': return {number(world.file.string("one")), number(world.file.string("two"))};
    case 'v': return {number(6), number(7), number(~std::uint64_t{0})};
    case 'y': return {byte(0), byte(1)};
    case 'Y': return {byte(0), byte(1) + number(world.one), byte(1) + number(world.two)};
    case 'W': return {number(0), number(1) + number(world.one), number(1) + number(world.two)};
    case 'b': return {blob("ab"), blob(""), blob("abc"), blob("ac")};
    case 'r': return {number(world.first_resource), number(world.second_resource)};
    case '*': return {"xy", "xz", "xyz", ""};
    case '$':
      return {number(world.file.string("one")), "",
              number(world.file.string("one")) + number(world.file.string("two"))};
    default: ADD_FAILURE() << "no variants of field '" << field << "'"; return {""};
  }
}

std::vector<Bytes> variants_of_list(World& world, std::string_view item) {
  Bytes usual;
  Bytes other;
  for (const char field : item) {
    if (field == 'k') {
      usual += number(world.file.string_attribute("key"));
      other += number(world.file.string_attribute("kez"));
      continue;
    }
    const std::vector<Bytes> variants = variants_of(world, field);
    usual += variants[0];
    other += variants[1];
  }
  return {list({usual}), list({}), list({other}), list({usual, other})};
}

// The fields of a layout, each with its variants.
std::vector<std::vector<Bytes>> fields_of(World& world, std::string_view layout) {
  std::vector<std::vector<Bytes>> fields;
  for (std::size_t at = 0; at < layout.size(); ++at) {
    if (layout[at] != '[') {
      fields.push_back(variants_of(world, layout[at]));
      continue;
    }
    const std::size_t close = layout.find(']', at);
    fields.push_back(variants_of_list(world, layout.substr(at + 1, close - at - 1)));
    at = close;
  }
  return fields;
}

class Rules : public testing::Test {
 protected:
  // Digests the file, and expects a digest that nothing has had before.
  void expect_new(const TestFile& file, const std::string& what) {
    const Result<StructuralDigest> digest = digest_bytecode(file.finish());
    ASSERT_TRUE(digest) << what << ": " << digest.error().to_string();
    const auto [at, added] = seen_.emplace(digest->sha256.hex(), what);
    EXPECT_TRUE(added) << what << " has the digest of " << at->second;
  }

  void expect_new_entry(const std::string& dialect, bool is_type, std::uint64_t code,
                        std::size_t changed, std::size_t variant, std::string_view layout) {
    World world;
    Bytes encoded = number(code);
    const auto fields = fields_of(world, layout);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      encoded += fields[i][i == changed ? variant : 0];
    }
    TestOp op{.name = world.file.op("stablehlo", "create_token")};
    if (is_type) {
      op.results = {world.file.type(dialect, encoded)};
    } else {
      op.dictionary = world.file.dictionary({{"x", world.file.attribute(dialect, encoded)}});
    }
    world.file.body({op});
    expect_new(world.file, dialect + (is_type ? " type " : " attribute ") + std::to_string(code) +
                               " field " + std::to_string(changed) + " variant " +
                               std::to_string(variant));
  }

  std::map<std::string, std::string> seen_;
};

TEST_F(Rules, EveryFieldOfEveryEntryCounts) {
  int entries = 0;
  for (const DialectLayouts* dialect :
       {&kBuiltinLayouts, &kVhloLayouts, &kStablehloLayouts, &kChloLayouts, &kSdyLayouts}) {
    for (const bool is_type : {false, true}) {
      const auto layouts = is_type ? dialect->types : dialect->attributes;
      for (std::uint64_t code = 0; code < layouts.size(); ++code) {
        if (layouts[code].name.empty()) continue;
        ++entries;
        World world;
        const auto fields = fields_of(world, layouts[code].fields);
        const std::string name(dialect->dialect);
        expect_new_entry(name, is_type, code, 0, 0, layouts[code].fields);
        for (std::size_t i = 0; i < fields.size(); ++i) {
          for (std::size_t v = 1; v < fields[i].size(); ++v) {
            expect_new_entry(name, is_type, code, i, v, layouts[code].fields);
          }
        }
      }
    }
  }
  EXPECT_GT(entries, 160);
}

struct ParsedSlot {
  std::string name;
  bool optional = false;
};

std::vector<ParsedSlot> slots_of(std::string_view text) {
  std::vector<ParsedSlot> slots;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    std::string name(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
    if (name == "#") continue;
    const bool optional = name.ends_with('?');
    if (optional) name.pop_back();
    slots.push_back({.name = name, .optional = optional});
  }
  return slots;
}

// An operation whose properties are the slots; `absent` and `other` choose one that differs.
struct OpSample {
  const OpLayout& row;
  std::size_t absent = SIZE_MAX;
  std::size_t other = SIZE_MAX;

  TestFile file(bool as_dictionary) const {
    World world;
    TestFile& f = world.file;
    const std::size_t dot = row.op.find('.');
    TestOp op{.name =
                  f.op(std::string(row.op.substr(0, dot)), std::string(row.op.substr(dot + 1)))};
    Bytes encoded;
    std::vector<std::pair<std::string, std::uint64_t>> attributes;
    const auto slots = slots_of(row.slots);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      // A type in every slot: strings would be taken for names of functions. The target of a custom
      // call must be one.
      const bool is_target = slots[i].name == "call_target_name";
      const auto unit =
          is_target
              ? (i == other ? world.two : world.one)
              : f.attribute("builtin", number(6) + number(i == other ? world.f32 : world.i32));
      if (i == absent) {
        encoded += number(0);
      } else {
        encoded += number(slots[i].optional ? unit << 1 | 1 : unit);
        attributes.emplace_back(slots[i].name, unit);
      }
    }
    const bool packed = row.slots.ends_with('#');
    if (as_dictionary) {
      op.dictionary = f.dictionary(attributes);
    } else {
      op.properties = f.property_set(packed ? encoded + number(2 << 1) + number(1) : encoded);
    }
    f.body({op});
    return f;
  }
};

TEST_F(Rules, EverySlotOfEveryOperationCounts) {
  int rows = 0;
  for (const auto table : {kVhloOpLayouts, kRawOpLayouts}) {
    for (const OpLayout& row : table) {
      // What version 6 writes otherwise than version 5; see below.
      if (row.op == "chlo.scan") continue;
      ++rows;
      const std::string what(row.op);
      const auto slots = slots_of(row.slots);
      // A variant of an operation gives the digest of another when the slots that it lacks are
      // absent there: they are one program.
      const bool first_row = find_op_layouts(row.op).data() == &row;
      if (!first_row) continue;
      expect_new(OpSample{.row = row}.file(false), what);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        expect_new(OpSample{.row = row, .other = i}.file(false), what + " other " + slots[i].name);
        if (!slots[i].optional) continue;
        expect_new(OpSample{.row = row, .absent = i}.file(false), what + " no " + slots[i].name);
      }
    }
  }
  EXPECT_GT(rows, 200);
}

TEST(RulesOfOperations, PropertiesAndDictionariesAreOneThing) {
  for (const auto table : {kVhloOpLayouts, kRawOpLayouts}) {
    for (const OpLayout& row : table) {
      if (row.op == "chlo.scan") continue;
      const auto properties = digest_bytecode(OpSample{.row = row}.file(false).finish());
      const auto dictionary = digest_bytecode(OpSample{.row = row}.file(true).finish());
      ASSERT_TRUE(properties && dictionary) << row.op;
      EXPECT_EQ(properties->sha256, dictionary->sha256) << row.op;
    }
  }
}

TEST(RulesOfOperations, RowsOfOneOperationDifferInTheirNumberOfSlots) {
  for (const auto table : {kVhloOpLayouts, kRawOpLayouts}) {
    for (const OpLayout& row : table) {
      int same = 0;
      for (const OpLayout& other : find_op_layouts(row.op)) {
        if (slots_of(other.slots).size() == slots_of(row.slots).size()) ++same;
      }
      EXPECT_EQ(same, 1) << row.op;
      EXPECT_LE(slots_of(row.slots).size(), kMaxSlots) << row.op;
      const auto slots = slots_of(row.slots);
      for (std::size_t i = 1; i < slots.size(); ++i) {
        EXPECT_LT(slots[i - 1].name, slots[i].name) << row.op;
      }
    }
  }
}

TEST(RulesOfOperations, PackedSegmentSizesCount) {
  const auto with = [](const Bytes& segments) {
    World world;
    const auto unit = world.file.attribute("builtin", number(7));
    world.file.body({{.name = world.file.op("chlo", "scan"),
                      .properties = world.file.property_set(number(unit) + number(0) + number(0) +
                                                            number(0) + segments)}});
    const auto digest = digest_bytecode(world.file.finish());
    return digest ? digest->sha256.hex() : digest.error().to_string();
  };
  EXPECT_NE(with(number(2 << 1) + number(1) + number(1)),
            with(number(2 << 1) + number(1) + number(2)));
  EXPECT_THAT(with(""), testing::HasSubstr("segment sizes are missing"));
}

}  // namespace
}  // namespace precast::program::bytecode
