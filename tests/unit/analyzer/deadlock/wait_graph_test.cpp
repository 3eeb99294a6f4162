// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The graph alone, with numbers for threads.
#include "analyzer/deadlock/wait_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace uscope::analyzer {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Waiter behind_a_gone_owner(std::size_t i) {
  Waiter waiter;
  waiter.held = true;
  waiter.releaser = Releaser::kNobody;
  waiter.lenient = true;
  waiter.thing = i;
  return waiter;
}

// Whatever is free: of the same process or memory, seen last or not, and who waits itself.
TEST(WaitGraph, AFindingIsWeakExactlyWhereSomebodyElseIsFreeToEndIt) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const auto below = [&](std::uint32_t most) { return random() % most; };
  std::size_t weak = 0;
  std::size_t firm = 0;
  for (int round = 0; round < 400; round++) {
    std::vector<Waiter> threads(2 + below(10));
    for (std::size_t i = 0; i < threads.size(); i++) {
      if (below(3) != 0) threads[i] = behind_a_gone_owner(i);
      threads[i].process = below(5);
      threads[i].space = threads[i].process / 2;
      threads[i].shared = below(4) == 0;
      threads[i].outsiders = below(8) == 0;
      threads[i].until_ns = below(4) * kSecond;
    }
    const std::vector<bool> stuck = stuck_threads(threads);
    for (const GraphFinding& finding : find_stuck(threads, true)) {
      ASSERT_EQ(finding.type, FindingType::kOwnerGone);
      ASSERT_EQ(finding.threads.size(), 1U);
      const std::size_t waiter = finding.threads[0];
      bool expected = threads[waiter].outsiders;
      for (std::size_t i = 0; i < threads.size(); i++)
        expected = expected || (i != waiter && !stuck[i] && can_reach(threads[i], threads[waiter]));
      EXPECT_EQ(finding.weak, expected) << round << " " << waiter;
      (finding.weak ? weak : firm)++;
    }
  }
  EXPECT_GT(weak, 100U);
  EXPECT_GT(firm, 100U);
}

}  // namespace
}  // namespace uscope::analyzer
