// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/nearest.h"

#include <gtest/gtest.h>

namespace uscope {
namespace {

using Names = std::vector<std::string>;

TEST(Nearest, TheNearestComesFirstAndAtMostThree) {
  EXPECT_EQ(nearest("openat", {"close", "openat2", "openat", "open"}), (Names{"openat", "openat2", "open"}));
  EXPECT_EQ(nearest("aaaa", {"aaab", "aaac", "aaad", "aaae", "aaab"}), (Names{"aaab", "aaac", "aaad"}));
}

TEST(Nearest, TwoNeighboursSwappedAreOneEdit) {
  EXPECT_EQ(nearest("reprot", {"report", "record"}), (Names{"report"}));
  EXPECT_EQ(nearest("sq", {"sql", "tree"}), (Names{"sql"}));
}

TEST(Nearest, WhatIsFarOrVeryLongIsNotOffered) {
  EXPECT_EQ(nearest("nginx", {"report", "events"}), Names());
  EXPECT_EQ(nearest(std::string(500, 'a'), {std::string(500, 'a')}), Names());
  EXPECT_EQ(nearest("ab", {std::string(500, 'a')}), Names());
}

TEST(Nearest, TheQuestionNamesThem) {
  EXPECT_EQ(did_you_mean("evnets", {"events", "export"}), "did you mean events?");
  EXPECT_EQ(did_you_mean("xyz", {"events", "export"}), "");
}

}  // namespace
}  // namespace uscope
