// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/text_table.h"

#include <gtest/gtest.h>

namespace uscope::cli {
namespace {

TEST(TextTable, AlignsAndDropsEmptyColumns) {
  TextTable table({{"n", Align::kRight}, {"empty"}, {"name"}});
  table.add_row({"1", "", "a"});
  table.add_row({"1000", "", "µs"});
  EXPECT_EQ(table.render(80), "     n  name\n     1  a\n  1000  µs\n");
}

TEST(TextTable, ShrinksOnlyWhatMay) {
  TextTable table({{"left"}, {"middle", Align::kLeft, Shrink::kMiddle}, {"end", Align::kLeft, Shrink::kEnd}});
  table.add_row({"stays-as-it-is-whatever", "std::vector<int>::push_back", "a command with arguments"});
  EXPECT_EQ(table.render(60),
            "  left                     middle           end\n"
            "  stays-as-it-is-whatever  std::ve…sh_back  a command with …\n");
}

TEST(TextTable, LeavesOutWhatIsDispensableIfItMust) {
  TextTable table({{"call"},
                   {"mean", Align::kRight, Shrink::kNever, 0, 1},
                   {"half", Align::kRight, Shrink::kNever, 0, 2},
                   {"file", Align::kLeft, Shrink::kEnd, 4}});
  table.add_row({"read", "1", "2", "/etc/passwd"});
  EXPECT_EQ(table.render(31), "  call  mean  half  file\n  read     1     2  /etc/passwd\n");
  EXPECT_EQ(table.render(24), "  call  mean  half  file\n  read     1     2  /et…\n");
  EXPECT_EQ(table.render(23), "  call  mean  file\n  read     1  /etc/pas…\n");
  EXPECT_EQ(table.render(17), "  call  file\n  read  /etc/pas…\n");
}

TEST(TextTable, CutsAndLeavesOutNothingIfItsWidthSaysSo) {
  TextTable table({{"call"},
                   {"name", Align::kLeft, Shrink::kMiddle, 4},
                   {"n", Align::kRight, Shrink::kNever, 0, 1},
                   {"path", Align::kLeft, Shrink::kMiddle, 4}});
  table.add_row({"read", "a-long-name", "1", "/etc/passwd"});
  table.add_row({"read", "name", "2", "/"});
  EXPECT_EQ(table.render({25, false}),
            "  call  name    n  path\n  read  a-long-name  1  /etc/passwd\n  read  name    2  /\n");
  EXPECT_EQ(table.render({25, true}), table.render(25));
}

TEST(TextTable, MakesCellsSafe) {
  TextTable table({{"name"}});
  table.add_row({"a\x1b[1m\nb\xff"});
  EXPECT_EQ(table.render(80), "  name\n  a\\x1b[1m\\x0ab\\xff\n");
}

TEST(TextTable, ColoursCellsWithoutMovingThem) {
  TextTable table({{"n", Align::kRight}, {"name", Align::kLeft, Shrink::kEnd, 4}, {"error"}});
  table.set_ink("n", [](std::string_view cell) { return cell == "1000" ? Ink::kDoubt : Ink::kPlain; });
  table.set_ink("error", Ink::kBad);
  table.set_ink("no such column", Ink::kBad);
  table.add_row({"1", "a-long-name", "ENOENT"});
  table.add_row({"1000", "b", "\x1b[0m"});
  EXPECT_EQ(table.render({24, true, Paint(true)}),
            "     n  name    error\n"
            "     1  a-long…  \x1b[1;31mENOENT\x1b[0m\n"
            "  \x1b[35m1000\x1b[0m  b        \x1b[1;31m\\x1b[0m\x1b[0m\n");
  EXPECT_EQ(table.render(24).find('\x1b'), std::string::npos);
}

TEST(Shorten, CountsCodePoints) {
  EXPECT_EQ(display_width("µs…"), 3U);
  EXPECT_EQ(shorten("µµµµµµ", 4, Shrink::kEnd), "µµµ…");
  EXPECT_EQ(shorten("abcdefgh", 5, Shrink::kMiddle), "ab…gh");
  EXPECT_EQ(shorten("/usr/lib/file", 6, Shrink::kMiddle), "…/file");
  EXPECT_EQ(shorten("abc", 3, Shrink::kEnd), "abc");
  EXPECT_EQ(shorten("abc", 0, Shrink::kEnd), "");
  EXPECT_EQ(shorten("abc", 2, Shrink::kNever), "abc");
}

}  // namespace
}  // namespace uscope::cli
