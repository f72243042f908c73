#include "cli/table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/display_width.h"

namespace precast::cli {
namespace {

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("ranker"), 6u);
  EXPECT_EQ(display_width("m\u00fcller"), 6u);
  EXPECT_EQ(display_width("e\u0301"), 1u);       // e with a combining acute
  EXPECT_EQ(display_width("\u6f22\u5b57"), 4u);  // two CJK characters
  EXPECT_EQ(display_width("\uff21"), 2u);        // full-width A
  EXPECT_EQ(display_width("\U0001f680"), 2u);    // a rocket
  EXPECT_EQ(display_width("\u2764\ufe0f"), 1u);  // a heart and its variation selector
  EXPECT_EQ(display_width("a\u200db"), 2u);      // a joiner
  EXPECT_EQ(display_width("\u2026"), 1u);
}

TEST(DisplayWidth, ShortensInTheMiddle) {
  EXPECT_EQ(shortened("ranker", 6), "ranker");
  EXPECT_EQ(shortened("abcdefghij", 5), "ab\u2026ij");
  EXPECT_EQ(shortened("abcdefghij", 4), "a\u2026ij");
  EXPECT_EQ(shortened("abcdefghij", 1), "\u2026");
  // Marks stay with their letters, and wide characters are never cut in half.
  const std::string text = "e\u0301\u6f22\u5b57o\u0301xyz\u5b57";
  for (std::size_t width = 1; width <= display_width(text); ++width) {
    const std::string cut = shortened(text, width);
    EXPECT_LE(display_width(cut), width) << width;
    EXPECT_GE(display_width(cut) + 2, width) << width;
    EXPECT_EQ(cut.find("\u2026\u0301"), std::string::npos) << width;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Table wide_table() {
  Table table({{"key"}, {"program", false, true}, {"size", true}});
  table.add({"0123456789ab", "/a/long/path/to/a/program/that/nobody/can/read.mlirbc", "1.20 MB"});
  table.add({"ba9876543210", "\u6f22\u5b57\u6f22\u5b57", "8 B"});
  return table;
}

TEST(Table, IsNeverCutWithoutATerminal) {
  const auto lines = lines_of(wide_table().text());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("/a/long/path/to/a/program/that/nobody/can/read.mlirbc"),
            std::string::npos);
  EXPECT_EQ(display_width(lines[1]), display_width(lines[2]));  // the right column aligns
}

TEST(Table, FitsTheTerminal) {
  for (std::size_t width = 40; width < 90; ++width) {
    const auto lines = lines_of(wide_table().text(width, 2));
    for (const std::string& line : lines) EXPECT_LE(display_width(line), width);
    EXPECT_EQ(display_width(lines[1]), display_width(lines[2]));
    EXPECT_NE(lines[1].find("0123456789ab"), std::string::npos);  // what is not flexible is whole
  }
}

}  // namespace
}  // namespace precast::cli
