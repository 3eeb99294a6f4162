// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/no_calls.h"

#include <gtest/gtest.h>

namespace uscope::test {
namespace {

TEST(NoCalls, RelatedCallsAreNamed) {
  const std::string text = cli::no_calls_text("open");
  EXPECT_TRUE(text.starts_with("none of the calls of -e open was made; related calls: -e ")) << text;
  EXPECT_NE(text.find("openat"), std::string::npos) << text;
  EXPECT_EQ(cli::no_calls_text("%network"), "none of the calls of -e %network was made");
  EXPECT_EQ(cli::no_calls_text("a\nb"), "none of the calls of -e a\\x0ab was made");
}

TEST(NoCalls, NothingIsSaidIfAllWereAskedFor) {
  EXPECT_EQ(cli::no_calls_text("all"), "");
  EXPECT_EQ(cli::no_calls_text(""), "");
}

}  // namespace
}  // namespace uscope::test
