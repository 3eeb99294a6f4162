// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/text_width.h"

#include <gtest/gtest.h>

namespace uscope::cli {
namespace {

TEST(Wrapped, LinesEndAtSpacesAndAreIndentedBehindTheFirst) {
  EXPECT_EQ(wrapped("one two three four", 9, 0), "one two\nthree\nfour");
  EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("one two", 7, 0), "one two");
  EXPECT_EQ(wrapped("", 7, 0), "");
}

TEST(Wrapped, AWordThatIsTooLongHasALineForItself) {
  EXPECT_EQ(wrapped("a wonderful b", 4, 0), "a\nwonderful\nb");
}

TEST(Wrapped, WidthIsThatOfCharacters) {
  EXPECT_EQ(wrapped("äöü äöü", 7, 0), "äöü äöü");
}

TEST(Wrapped, SequencesThatColourTakeNoColumns) {
  const Paint paint(true);
  const std::string red = paint(Ink::kBad, "red");
  EXPECT_EQ(wrapped(red + " " + red, 7, 0), red + " " + red);
  EXPECT_EQ(wrapped(red + " " + red, 6, 0), red + "\n" + red);
}

TEST(Shorten, CutsTheTextAndKeepsTheColours) {
  const Paint paint(true);
  const std::string text = "a" + paint(Ink::kDoubt, "bcd") + "e";
  EXPECT_EQ(display_width(text), 5U);
  EXPECT_EQ(shorten(text, 5, Shrink::kEnd), text);
  EXPECT_EQ(shorten(text, 3, Shrink::kEnd), "a\x1b[35mb\x1b[0m…");
  EXPECT_EQ(shorten(text, 3, Shrink::kMiddle), "a\x1b[35m…\x1b[0me");
  EXPECT_EQ(shorten(text, 1, Shrink::kEnd), "\x1b[35m\x1b[0m…");
}

TEST(DisplayWidth, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(display_width("µs … → ├─ é"), 11U);
  EXPECT_EQ(display_width("日本語"), 6U);
  EXPECT_EQ(display_width("한글 ファイル.txt"), 17U);
  EXPECT_EQ(display_width("ﾌｧｲﾙ"), 4U);  // of half width
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width(Paint(true)(Ink::kBad, "日本")), 4U);
  EXPECT_EQ(wrapped("日本 日本", 9, 0), "日本 日本");
  EXPECT_EQ(wrapped("日本 日本", 8, 0), "日本\n日本");
}

TEST(Shorten, NeverCutsAWideCharacterInTwo) {
  const std::string text = "日本語版";
  EXPECT_EQ(shorten(text, 8, Shrink::kEnd), text);
  EXPECT_EQ(shorten(text, 7, Shrink::kEnd), "日本語…");
  EXPECT_EQ(shorten(text, 6, Shrink::kEnd), "日本…");
  EXPECT_EQ(shorten(text, 6, Shrink::kMiddle), "日…版");
  EXPECT_EQ(shorten("/日本語", 6, Shrink::kMiddle), "…本語");
  EXPECT_EQ(shorten("/日本語", 5, Shrink::kMiddle), "…本語");
  EXPECT_EQ(shorten("/日本語", 4, Shrink::kMiddle), "…語");
  for (std::size_t width = 0; width < 9; width++)
    for (const Shrink shrink : {Shrink::kMiddle, Shrink::kEnd})
      EXPECT_LE(display_width(shorten(text, width, shrink)), width);
}

TEST(Paint, OnlyItsOwnSequencesTakeNoColumns) {
  EXPECT_EQ(Paint()(Ink::kBad, "text"), "text");
  EXPECT_EQ(Paint(true)(Ink::kPlain, "text"), "text");
  EXPECT_EQ(Paint(true)(Ink::kBad, ""), "");
  EXPECT_EQ(paint_length("\x1b[1;31mred"), 7U);
  for (const char* other : {"", "\x1b", "\x1b[", "\x1b[31", "\x1b[31K", "\x1b]0;title\x07", "[31m", " \x1b[31m"})
    EXPECT_EQ(paint_length(other), 0U) << other;
  EXPECT_EQ(display_width("\x1b[31K"), 5U);
}

}  // namespace
}  // namespace uscope::cli
