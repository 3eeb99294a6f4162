// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Escaping and number texts: the values that people see.
#include "support/text.h"

#include <gtest/gtest.h>

#include <string>

#include "support/result.h"

namespace uscope {
namespace {

TEST(Text, TerminalEscapesControlCharacters) {
  EXPECT_EQ(escape_terminal("plain text"), "plain text");
  EXPECT_EQ(escape_terminal("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(escape_terminal(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escape_terminal("\t\r\n\x7f"), "\\x09\\x0d\\x0a\\x7f");
  EXPECT_EQ(escape_terminal("back\\slash"), "back\\\\slash");
}

TEST(Text, TerminalEscapesC1ControlsInUtf8) {
  EXPECT_EQ(escape_terminal("\xc2\x9b"), "\\xc2\\x9b");  // CSI as U+009B
  EXPECT_EQ(escape_terminal("\xc2\x80"), "\\xc2\\x80");
  EXPECT_EQ(escape_terminal("\xc2\xa0"), "\xc2\xa0");  // no-break space is no control
  EXPECT_EQ(escape_terminal("Gr\xc3\xbc\xc3\x9f"), "Gr\xc3\xbc\xc3\x9f");
}

TEST(Text, InvalidUtf8BecomesHex) {
  EXPECT_EQ(to_utf8("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(to_utf8("a\xc3"), "a\\xc3");                           // cut
  EXPECT_EQ(to_utf8("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(to_utf8("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(to_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(to_utf8("\xe2\x82\xac"), "\xe2\x82\xac");
  EXPECT_EQ(to_utf8("\xf0\x9f\x90\x9f"), "\xf0\x9f\x90\x9f");
  EXPECT_EQ(to_utf8("\xe2\x82"), "\\xe2\\x82");
}

TEST(Text, Utf8KeepsControlsAndBackslashes) {
  EXPECT_EQ(to_utf8("a\\b\n\x1b"), "a\\b\n\x1b");
  EXPECT_EQ(to_utf8(""), "");
}

TEST(Text, ATracesTextStandsForItsBytesAlone) {
  EXPECT_EQ(trace_text("a\\xffb"), R"(a\\xffb)");
  EXPECT_EQ(trace_text("a\xff\x62"), R"(a\xffb)");
  EXPECT_EQ(trace_text("\x1b\n"), "\x1b\n");
  EXPECT_EQ(printable(trace_text("\x1b\\\xc2\x85")), R"(\x1b\\\xc2\x85)");
  EXPECT_EQ(printable_in_quotes(R"(a"\\)"), R"("a\"\\")");
  std::string all;
  for (int first = 0; first < 256; first++)
    for (const char* second : {"", "\\", "x41", "\x80", "\xbf\xbf", "\""}) {
      const std::string bytes = std::string("\\") + static_cast<char>(first) + second;
      EXPECT_EQ(bytes_of(trace_text(bytes)), bytes);
      EXPECT_EQ(to_utf8(trace_text(bytes)), trace_text(bytes));
      EXPECT_EQ(escape_terminal(bytes), printable(trace_text(bytes)));
      const std::string quoted = in_quotes(bytes);
      EXPECT_EQ(bytes_of(std::string_view(quoted).substr(1, quoted.size() - 2)), bytes);
      EXPECT_EQ(bytes_of(escape_with(trace_text(bytes), "<>")), bytes);
      all += bytes;
    }
  EXPECT_EQ(bytes_of(escape_terminal(all)), all);
}

TEST(Text, WhatIsNoEscapeStandsForItself) {
  EXPECT_EQ(bytes_of(R"(\q \x4 \xg0 \)"), R"(\q \x4 \xg0 \)");
}

TEST(Text, DataHasTheLettersOfC) {
  EXPECT_EQ(data_in_quotes(std::string_view("a\0b\n\t\r\v\f\x1b\"\\", 11)), R"("a\0b\n\t\r\v\f\x1b\"\\")");
  EXPECT_EQ(data_in_quotes(std::string_view("\0\0"
                                            "7",
                                            3)),
            R"("\0\x007")");
  EXPECT_EQ(data_in_quotes("\xc3\xa4\xc3"), "\"\xc3\xa4\\xc3\"");  // the last one was cut in half
  EXPECT_EQ(data_in_quotes(""), "\"\"");
}

TEST(Text, EscapesMarksToo) {
  EXPECT_EQ(escape_with("a<b>\n", "<>"), R"(a\x3cb\x3e\x0a)");
}

TEST(Text, AWordForAShellIsQuotedIfItIsNotPlain) {
  EXPECT_EQ(shell_quoted("/tmp/a-b_c.db"), "/tmp/a-b_c.db");
  EXPECT_EQ(shell_quoted("my trace.db"), "'my trace.db'");
  EXPECT_EQ(shell_quoted("$(id)`id`"), "'$(id)`id`'");
  EXPECT_EQ(shell_quoted("it's"), R"('it'"'"'s')");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Text, DigitsAreGroupedByThree) {
  EXPECT_EQ(group_digits(0), "0");
  EXPECT_EQ(group_digits(999), "999");
  EXPECT_EQ(group_digits(1000), "1,000");
  EXPECT_EQ(group_digits(123456), "123,456");
  EXPECT_EQ(group_digits(18446744073709551615ull), "18,446,744,073,709,551,615");
}

TEST(Text, HexadecimalNumbersHaveTheirPrefix) {
  EXPECT_EQ(hex_number(0), "0x0");
  EXPECT_EQ(hex_number(31), "0x1f");
  EXPECT_EQ(hex_number(~std::uint64_t{0}), "0xffffffffffffffff");
}

TEST(Text, TheBaseNameFollowsTheLastSlash) {
  EXPECT_EQ(base_name("/usr/bin/make"), "make");
  EXPECT_EQ(base_name("make"), "make");
  EXPECT_EQ(base_name("a/b"), "b");
  EXPECT_EQ(base_name("/"), "/");
  EXPECT_EQ(base_name("/a/"), "/a/");
  EXPECT_EQ(base_name(""), "");
}

TEST(Text, NounsFollowTheirNumber) {
  EXPECT_EQ(plural(0, "call"), "0 calls");
  EXPECT_EQ(plural(1, "call"), "1 call");
  EXPECT_EQ(plural(1234, "call"), "1,234 calls");
  EXPECT_EQ(plural(1, "process"), "1 process");
  EXPECT_EQ(plural(2, "process"), "2 processes");
}

TEST(Text, DurationsChooseTheirUnit) {
  EXPECT_EQ(human_duration(0), "0 ns");
  EXPECT_EQ(human_duration(870), "870 ns");
  EXPECT_EQ(human_duration(12345), "12.3 \xc2\xb5s");
  EXPECT_EQ(human_duration(4.56e6), "4.56 ms");
  EXPECT_EQ(human_duration(7.891e9), "7.891 s");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  ASSERT_TRUE(value);
  EXPECT_EQ(*Result<int>(7), 7);
  const Result<int> error = errno_error("cannot open /x", 2, "look for it").in("module 3");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().what, "module 3: cannot open /x: No such file or directory");
  EXPECT_EQ(error.error().remedy, "look for it");
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(Error{"no", ""}));
}

TEST(JoinedPath, BeginsAtTheFolder) {
  EXPECT_EQ(joined_path("/srv", "a/b"), "/srv/a/b");
  EXPECT_EQ(joined_path("/", "a"), "/a");
  EXPECT_EQ(joined_path("/srv", "././a"), "/srv/a");
  EXPECT_EQ(joined_path("/srv", "."), "/srv");
  EXPECT_EQ(joined_path("/srv", ""), "/srv");
  EXPECT_EQ(joined_path("/srv", "../a"), "/srv/../a");
  EXPECT_EQ(joined_path("/srv", "/etc"), "/etc");
}

}  // namespace
}  // namespace uscope
