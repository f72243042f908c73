// Sections, strings and resources that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "program/bytecode/bytecode_digest.h"
#include "program/bytecode/test_writer.h"

namespace precast::program::bytecode {
namespace {

using testing::HasSubstr;

std::string error_of(const Bytes& bytes) {
  const Result<StructuralDigest> digest = digest_bytecode(bytes);
  return digest ? "digested" : digest.error().to_string();
}

TestFile sound_file() {
  TestFile file;
  file.body({{.name = file.op("stablehlo", "create_token"),
              .dictionary = file.dictionary({{"x", file.string_attribute("value")}}),
              .results = {file.type("stablehlo", number(0))}}});
  return file;
}

TEST(BytecodeHostileTables, StringsEndInNul) {
  TestFile file = sound_file();
  file.replace_section(0, number(1) + number(3) + "abc");
  EXPECT_THAT(error_of(file.finish()), HasSubstr("no NUL at its end"));
  file.replace_section(0, number(1) + number(0));
  EXPECT_THAT(error_of(file.finish()), HasSubstr("no NUL at its end"));
  EXPECT_THAT(error_of("ML\xefR" + number(6) + "producer without an end"),
              HasSubstr("no NUL at its end"));
}

TEST(BytecodeHostileTables, SectionsAreKnownWholeAndOnce) {
  for (const int missing : {0, 1, 2, 3, 4, 8}) {
    TestFile file = sound_file();
    std::erase(file.section_order, missing);
    EXPECT_THAT(error_of(file.finish()), HasSubstr("lacks")) << missing;
    file.section_order.push_back(missing);
    file.section_order.push_back(missing);
    EXPECT_THAT(error_of(file.finish()), HasSubstr("occurs twice")) << missing;
  }
  for (const int wrong : {7, 9, 100}) {
    TestFile file = sound_file();
    file.section_order.push_back(wrong);
    EXPECT_THAT(error_of(file.finish()), HasSubstr("must not stand at the top")) << wrong;
  }
  TestFile file = sound_file();
  std::erase(file.section_order, 5);
  EXPECT_THAT(error_of(file.finish()), HasSubstr("only one of the two resource sections"));
  TestFile old(4);
  old.body({});
  old.replace_section(8, number(0));
  EXPECT_THAT(error_of(old.finish()), HasSubstr("version 4 must not have a properties section"));
}

TEST(BytecodeHostileTables, Resources) {
  const auto resource = [](const Bytes& sizes, const Bytes& content) {
    TestFile file = sound_file();
    file.string("key");
    file.replace_section(6, sizes);
    file.replace_section(5, content);
    return error_of(file.finish());
  };
  const auto described = [](std::size_t size, unsigned kind) {
    return number(0) + number(0) + number(1) + number(0) + number(size) + byte(kind);
  };
  EXPECT_EQ(resource(described(3, 0), number(1) + number(1) + "x"), "digested");
  EXPECT_EQ(resource(described(0, 0), ""), "digested");
  EXPECT_EQ(resource(described(1, 1), byte(1)), "digested");
  EXPECT_THAT(resource(described(1, 1), byte(2)), HasSubstr("a bool is neither"));
  EXPECT_THAT(resource(described(1, 3), byte(0)), HasSubstr("of no known kind"));
  EXPECT_THAT(resource(described(9, 0), byte(0)), HasSubstr("the bytes end too early"));
  EXPECT_THAT(resource(described(2, 0), number(3) + number(0)), HasSubstr("not a power of two"));
  EXPECT_THAT(resource(described(3, 0), number(1) + number(0) + "x"), HasSubstr("left over"));
  EXPECT_THAT(resource(described(1, 2), number(99)), HasSubstr("outside its table"));
  EXPECT_THAT(resource(described(3, 0), number(4096) + byte(0)), HasSubstr("in a resource"));
}

}  // namespace
}  // namespace precast::program::bytecode
