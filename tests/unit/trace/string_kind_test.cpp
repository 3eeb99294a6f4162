// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/string_kind.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::trace {
namespace {

template <typename Asked>
std::vector<std::uint32_t> kinds_that(Asked asked) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t kind = 0; kind <= USC_STRING_KIND_COUNT; kind++)
    if (asked(kind)) kinds.push_back(kind);
  return kinds;
}

using Kinds = std::vector<std::uint32_t>;

TEST(StringKind, WhatItsBytesAre) {
  const auto that_hold = [](StringHolds what) {
    return kinds_that([&](std::uint32_t kind) { return string_holds(kind) == what; });
  };
  EXPECT_EQ(that_hold(StringHolds::TEXT), (Kinds{USC_STRING_TEXT, USC_STRING_EXEC}));
  EXPECT_EQ(that_hold(StringHolds::TEXT_NUL), Kinds{USC_STRING_RESULT});
  EXPECT_EQ(that_hold(StringHolds::ADDRESS),
            (Kinds{USC_STRING_ADDRESS, USC_STRING_ADDRESS_OUT, USC_STRING_MESSAGE, USC_STRING_MESSAGE_OUT}));
  EXPECT_EQ(that_hold(StringHolds::NUMBERS), (Kinds{USC_STRING_WORDS, USC_STRING_PAIR}));
  EXPECT_EQ(that_hold(StringHolds::NOTHING), (Kinds{USC_STRING_NONE, USC_STRING_FUTEX, USC_STRING_KIND_COUNT}));
}

TEST(StringKind, WhoWroteIt) {
  EXPECT_EQ(kinds_that(is_from_kernel),
            (Kinds{USC_STRING_ADDRESS_OUT, USC_STRING_MESSAGE_OUT, USC_STRING_RESULT, USC_STRING_PAIR}));
}

TEST(StringKind, WhenTheKernelSideReadsIt) {
  EXPECT_EQ(kinds_that(usc_string_is_read_at_entry),
            (Kinds{USC_STRING_TEXT, USC_STRING_ADDRESS, USC_STRING_MESSAGE, USC_STRING_WORDS}));
}

}  // namespace
}  // namespace uscope::trace
