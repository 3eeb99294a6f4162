// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

namespace uscope {
namespace {

TEST(Glob, WholeTextsOfAnyBytes) {
  EXPECT_TRUE(glob_matches("/home/*", "/home/a/.b"));
  EXPECT_FALSE(glob_matches("home/*", "/home/a"));
  EXPECT_TRUE(glob_matches("*pass?word*", std::string_view("a\0pass\0word\n\xff", 13)));
  EXPECT_TRUE(glob_matches("id_[!d]sa", "id_rsa"));
  EXPECT_FALSE(glob_matches("id_[!d]sa", "id_dsa"));
  EXPECT_TRUE(glob_matches("[[:digit:]a-c]x", "7x"));
  EXPECT_TRUE(glob_matches("[[:digit:]a-c]x", "bx"));
  EXPECT_FALSE(glob_matches("[[:digit:]a-c]x", "dx"));
  EXPECT_TRUE(glob_matches("a[", "a["));
  EXPECT_TRUE(glob_matches("\\*", "\\anything"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("?", ""));
}

// Without NULs, and without what only other locales have, it is fnmatch().
TEST(Glob, IsFnmatch) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts each time
  const auto text_of = [&](std::string_view letters, std::size_t most) {
    std::string out(random() % (most + 1), ' ');
    for (char& letter : out) letter = letters[random() % letters.size()];
    return out;
  };
  int matches = 0;
  for (int i = 0; i < 300'000; i++) {
    std::string pattern = text_of("aab*?[]!-^\\", 9);
    // Where a set without an end ends in a range without one, glibc matches nothing.
    if (pattern.ends_with('-')) pattern += ']';
    const std::string text = text_of("aab-]![", 6);
    const bool expected = fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
    matches += expected;
    ASSERT_EQ(glob_matches(pattern, text), expected) << pattern << " and " << text;
  }
  EXPECT_GT(matches, 5'000);
}

// With each star tried anew at each place, this would take for ever.
TEST(Glob, NoTextMakesItSlow) {
  const std::string text(4096, 'a');
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*b", text));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

}  // namespace
}  // namespace uscope
