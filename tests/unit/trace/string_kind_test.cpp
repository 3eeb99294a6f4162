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
  EXPECT_EQ(that_hold(StringHolds::NUMBERS), Kinds{USC_STRING_WORDS});
  EXPECT_EQ(that_hold(StringHolds::DATA), (Kinds{USC_STRING_DATA, USC_STRING_DATA_OUT}));
  EXPECT_EQ(that_hold(StringHolds::VECTOR),
            (Kinds{USC_STRING_VECTOR, USC_STRING_VECTOR_OUT, USC_STRING_BUFFERS, USC_STRING_BUFFERS_OUT}));
  EXPECT_EQ(
      that_hold(StringHolds::STRUCTURE),
      (Kinds{USC_STRING_PAIR,      USC_STRING_POLL,     USC_STRING_POLL_OUT, USC_STRING_EPOLL,     USC_STRING_EPOLL_OUT,
             USC_STRING_TIME,      USC_STRING_TIME_OUT, USC_STRING_TIMES,    USC_STRING_STATUS,    USC_STRING_SIGINFO,
             USC_STRING_STAT,      USC_STRING_STATX,    USC_STRING_FIXED,    USC_STRING_FIXED_OUT, USC_STRING_SIZED,
             USC_STRING_SIZED_OUT, USC_STRING_LENGTH,   USC_STRING_SET,      USC_STRING_SET_OUT,   USC_STRING_ARRAY,
             USC_STRING_LIST,      USC_STRING_LIST_OUT, USC_STRING_NODES,    USC_STRING_NODES_OUT, USC_STRING_DEVICE,
             USC_STRING_DEVICE_OUT}));
  EXPECT_EQ(that_hold(StringHolds::DESCRIPTOR), (Kinds{USC_STRING_PASSED, USC_STRING_PASSED_OUT}));
  EXPECT_EQ(that_hold(StringHolds::OPENED), Kinds{USC_STRING_OPENED});
  EXPECT_EQ(that_hold(StringHolds::MESSAGES), (Kinds{USC_STRING_MESSAGES, USC_STRING_MESSAGES_OUT}));
  EXPECT_EQ(that_hold(StringHolds::ARGUMENTS), Kinds{USC_STRING_ARGUMENTS});
  EXPECT_EQ(that_hold(StringHolds::NOTHING), (Kinds{USC_STRING_NONE, USC_STRING_FUTEX, USC_STRING_KIND_COUNT}));
}

TEST(StringKind, WhatContentsAre) {
  for (std::uint32_t kind = 0; kind <= USC_STRING_KIND_COUNT; kind++) {
    const StringHolds holds = string_holds(kind);
    const bool wanted = holds == StringHolds::DATA || holds == StringHolds::VECTOR || holds == StringHolds::STRUCTURE ||
                        holds == StringHolds::MESSAGES;
    EXPECT_EQ(is_content(kind), wanted) << kind;
  }
}

TEST(StringKind, WhoWroteIt) {
  EXPECT_EQ(kinds_that(is_from_kernel),
            (Kinds{USC_STRING_ADDRESS_OUT, USC_STRING_MESSAGE_OUT, USC_STRING_RESULT,       USC_STRING_PAIR,
                   USC_STRING_DATA_OUT,    USC_STRING_VECTOR_OUT,  USC_STRING_BUFFERS_OUT,  USC_STRING_POLL_OUT,
                   USC_STRING_EPOLL_OUT,   USC_STRING_TIME_OUT,    USC_STRING_STATUS,       USC_STRING_SIGINFO,
                   USC_STRING_STAT,        USC_STRING_STATX,       USC_STRING_PASSED_OUT,   USC_STRING_OPENED,
                   USC_STRING_FIXED_OUT,   USC_STRING_SIZED_OUT,   USC_STRING_MESSAGES_OUT, USC_STRING_LENGTH,
                   USC_STRING_SET_OUT,     USC_STRING_LIST_OUT,    USC_STRING_NODES_OUT,    USC_STRING_DEVICE_OUT}));
}

TEST(StringKind, WhenTheKernelSideReadsIt) {
  EXPECT_EQ(kinds_that(usc_string_is_read_at_entry),
            (Kinds{USC_STRING_TEXT,     USC_STRING_EXEC,   USC_STRING_ADDRESS, USC_STRING_MESSAGE, USC_STRING_WORDS,
                   USC_STRING_DATA,     USC_STRING_VECTOR, USC_STRING_BUFFERS, USC_STRING_POLL,    USC_STRING_EPOLL,
                   USC_STRING_TIME,     USC_STRING_TIMES,  USC_STRING_PASSED,  USC_STRING_FIXED,   USC_STRING_SIZED,
                   USC_STRING_MESSAGES, USC_STRING_SET,    USC_STRING_ARRAY,   USC_STRING_LIST,    USC_STRING_NODES,
                   USC_STRING_DEVICE}));
}

}  // namespace
}  // namespace uscope::trace
