// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For which questions it is enough to count hits, and what these make of a probe's.
#include "tracer/probes/counted_probes.h"

#include <gtest/gtest.h>

#include "tests/support/question_maker.h"

namespace uscope::tracer {
namespace {

using test::compute;
using test::field;
using test::give;
using test::number;
using test::question_of;

usc_probe probe_of(usc_source source, __u32 kind) {
  usc_probe probe{};
  probe.source = static_cast<__u8>(source);
  probe.kind = kind;
  return probe;
}

const std::vector<usc_probe> kProbes = {probe_of(USC_SOURCE_TRACEPOINT, 4), probe_of(USC_SOURCE_UFUNCTION, 9)};

usc_query by(usc_query_field read) {
  return question_of(1, 0, {field(0, read), give(USC_QUERY_KEY, 0)});
}

TEST(CountedProbes, EachHasTheKeyOfItsHits) {
  const auto counted = counted_probes(test::by_kind_and_how(), kProbes);
  ASSERT_TRUE(counted);
  ASSERT_EQ(counted->size(), 2U);
  ASSERT_TRUE((*counted)[0] && (*counted)[1]);
  EXPECT_EQ((*counted)[0]->word[0], 4);
  EXPECT_EQ((*counted)[1]->word[0], 9);
  EXPECT_EQ((*counted)[1]->word[1], USC_HOW_HIT);
  EXPECT_EQ((*counted)[1]->nulls, 0U);
}

TEST(CountedProbes, OneThatTheQuestionIsNotOfHasNone) {
  const auto counted = counted_probes(question_of(0, 0,
                                                  {field(0, USC_QUERY_SOURCE), number(1, USC_SOURCE_UFUNCTION),
                                                   compute(USC_QUERY_EQUAL, 2, 0, 1), give(USC_QUERY_UNLESS, 2)}),
                                      kProbes);
  ASSERT_TRUE(counted);
  EXPECT_FALSE((*counted)[0]);
  EXPECT_TRUE((*counted)[1]);
}

TEST(CountedProbes, WhatDiffersFromHitToHitIsLookedAtOneByOne) {
  EXPECT_FALSE(counted_probes(usc_query{}, kProbes));  // all is recorded
  for (const usc_query_field differs :
       {USC_QUERY_TASK, USC_QUERY_IMAGE, USC_QUERY_STACK, USC_QUERY_TIME, USC_QUERY_TOOK, USC_QUERY_RESULT,
        USC_QUERY_ERROR, USC_QUERY_ARG0, USC_QUERY_ARG5})
    EXPECT_FALSE(counted_probes(by(differs), kProbes)) << differs;
  EXPECT_TRUE(counted_probes(by(USC_QUERY_KIND), kProbes));
  // A sum, and a number beyond 64 bits.
  EXPECT_FALSE(counted_probes(question_of(0, 1, {field(0, USC_QUERY_KIND), give(USC_QUERY_MEASURE, 0)}), kProbes));
  EXPECT_FALSE(counted_probes(question_of(1, 0,
                                          {field(0, USC_QUERY_KIND), number(1, INT64_MAX),
                                           compute(USC_QUERY_ADD, 2, 0, 1), give(USC_QUERY_KEY, 2)}),
                              kProbes));
  std::vector<usc_probe> lasting = kProbes;
  lasting[1].role = USC_PROBE_WITH_RETURN;
  EXPECT_FALSE(counted_probes(by(USC_QUERY_KIND), lasting));
}

}  // namespace
}  // namespace uscope::tracer
