#include "cli/text.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/table.h"

namespace precast::cli {
namespace {

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("ranker \u2013 gr\u00f6\u00dfe"), "ranker \u2013 gr\u00f6\u00dfe");
  EXPECT_EQ(printable("\033[2Jgone"), "\\x1b[2Jgone");
  EXPECT_EQ(printable("a\nb\t\x7f"), "a\\x0ab\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // a C1 control
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");           // not UTF-8
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable(std::string("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("gr\u00f6\u00dfer", 4), "gr\u00f6\u2026");
  EXPECT_EQ(printable_lines("one\n\ttwo\r"), "one\n\ttwo\\x0d");
}

TEST(IsPlainText, MeansPrintableAsItIs) {
  EXPECT_TRUE(is_plain_text(""));
  EXPECT_TRUE(is_plain_text("gr\u00f6\u00dfe\n\t"));
  EXPECT_FALSE(is_plain_text("\033["));
  EXPECT_FALSE(is_plain_text("\xc3"));
}

TEST(BytesText, HasThreeDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(39'140), "39.1 kB");
  EXPECT_EQ(bytes_text(391'400), "391 kB");
  EXPECT_EQ(bytes_text(999'600), "1.00 MB");
  EXPECT_EQ(bytes_text(18'446'744'073'709'551'615U), "18.4 EB");
}

TEST(MsText, HasThreeDigits) {
  EXPECT_EQ(ms_text(0.0123), "0.01");
  EXPECT_EQ(ms_text(9.996), "10.0");
  EXPECT_EQ(ms_text(99.96), "100");
  EXPECT_EQ(ms_text(1047.4), "1047");
}

TEST(Counted, TakesAnSButForOne) {
  EXPECT_EQ(counted(0, "device"), "0 devices");
  EXPECT_EQ(counted(1, "device"), "1 device");
}

TEST(NearestWord, FindsSlipsAndNothingElse) {
  const std::vector<std::string> verbs = {"compile", "run", "key", "verify"};
  EXPECT_EQ(nearest_word("complie", verbs), "compile");
  EXPECT_EQ(nearest_word("verfy", verbs), "verify");
  EXPECT_EQ(nearest_word("keys", verbs), "key");
  EXPECT_EQ(nearest_word("inspect", verbs), "");
  EXPECT_EQ(nearest_word("", verbs), "");
}

TEST(Table, AlignsByWhatIsShown) {
  Table table({{"name"}, {"ms", true}});
  table.add({"gr\u00f6\u00dfe", "1.0"});
  table.add({"b", "100"});
  EXPECT_EQ(table.text(0, 2),
            "  name    ms\n"
            "  gr\u00f6\u00dfe  1.0\n"
            "  b      100\n");
}

TEST(Table, WithoutHeadersHasNoHeaderLine) {
  Table table({{""}, {""}});
  table.add({"key"});
  EXPECT_EQ(table.text(), "key\n");
}

TEST(Table, ShortensFlexibleColumnsInTheMiddle) {
  Table table({{"name"}, {"path", false, true}});
  table.add({"cpu", "/a/very/long/path/gr\u00f6\u00dfe/plugin.so"});
  EXPECT_EQ(table.text(22),
            "name  path\n"
            "cpu   /a/very\u2026lugin.so\n");
  // Less than a dozen columns would tell nothing.
  EXPECT_EQ(table.text(5),
            "name  path\n"
            "cpu   /a/ve\u2026gin.so\n");
  EXPECT_EQ(table.text(1000), table.text());
}

}  // namespace
}  // namespace precast::cli
