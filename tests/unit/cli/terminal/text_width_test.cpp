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

}  // namespace
}  // namespace uscope::cli
