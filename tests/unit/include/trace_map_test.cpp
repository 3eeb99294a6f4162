// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every transition of the trace map, as a table: what docs/architecture.md calls the trace map.
#include "uscope/trace_map.h"

#include <gtest/gtest.h>

namespace uscope::include {
namespace {

TEST(TraceMap, TheFirstEventDecides) {
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 1, 0), USC_TRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 1, 1), USC_TRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 0, 1), USC_TRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 0, 0), USC_UNTRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_IMAGE, 1, 0), USC_TRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_IMAGE, 1, 1), USC_TRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_IMAGE, 0, 1), USC_UNTRACED);
  EXPECT_EQ(usc_map_first_event(USC_FOLLOW_IMAGE, 0, 0), USC_UNTRACED);
}

constexpr __u32 kAllTargets[] = {USC_TARGET_LAUNCH, USC_TARGET_APP, USC_TARGET_PID, USC_TARGET_CGROUP};

// The states after an exec whose image matches, and whose does not.
void expect_exec(__u32 kinds, __u32 follow, __u32 state, __u32 if_matching, __u32 if_not) {
  EXPECT_EQ(usc_map_exec(kinds, follow, state, 1), if_matching) << kinds << ' ' << follow << ' ' << state;
  EXPECT_EQ(usc_map_exec(kinds, follow, state, 0), if_not) << kinds << ' ' << follow << ' ' << state;
  EXPECT_EQ(usc_map_exec_asks(kinds, follow, state), int{if_matching != if_not})
      << kinds << ' ' << follow << ' ' << state;
}

TEST(TraceMap, ExecWhenFollowingTheTreeKeepsATracedProcess) {
  for (const __u32 kinds : kAllTargets) expect_exec(kinds, USC_FOLLOW_TREE, USC_TRACED, USC_TRACED, USC_TRACED);
}

TEST(TraceMap, ExecWhenFollowingTheImageDecidesATracedProcessAnew) {
  for (const __u32 kinds : kAllTargets) expect_exec(kinds, USC_FOLLOW_IMAGE, USC_TRACED, USC_TRACED, USC_UNTRACED);
}

TEST(TraceMap, ExecOfAnApplicationsImageBeginsItsTrace) {
  for (const __u32 follow : {__u32{USC_FOLLOW_TREE}, __u32{USC_FOLLOW_IMAGE}}) {
    expect_exec(USC_TARGET_APP, follow, USC_UNTRACED, USC_TRACED, USC_UNTRACED);
    expect_exec(USC_TARGET_APP, follow, USC_UNKNOWN, USC_TRACED, USC_UNKNOWN);
  }
}

// Only a descendant of the launched command, which is in the map, comes back; and only where it could leave.
TEST(TraceMap, ExecUnderALaunchedCommand) {
  expect_exec(USC_TARGET_LAUNCH, USC_FOLLOW_TREE, USC_UNTRACED, USC_UNTRACED, USC_UNTRACED);
  expect_exec(USC_TARGET_LAUNCH, USC_FOLLOW_TREE, USC_UNKNOWN, USC_UNKNOWN, USC_UNKNOWN);
  expect_exec(USC_TARGET_LAUNCH, USC_FOLLOW_IMAGE, USC_UNTRACED, USC_TRACED, USC_UNTRACED);
  expect_exec(USC_TARGET_LAUNCH, USC_FOLLOW_IMAGE, USC_UNKNOWN, USC_UNKNOWN, USC_UNKNOWN);
}

// Who is meant by number, or by membership, is not meant by an image.
TEST(TraceMap, ExecBringsNobodyIntoATraceByNumberOrControlGroup) {
  for (const __u32 kinds : {USC_TARGET_PID, USC_TARGET_CGROUP})
    for (const __u32 follow : {__u32{USC_FOLLOW_TREE}, __u32{USC_FOLLOW_IMAGE}})
      for (const __u32 state : {__u32{USC_UNKNOWN}, __u32{USC_UNTRACED}})
        expect_exec(kinds, follow, state, state, state);
}

// A process that ran before the tracer attached gives its children the same answer, whether they were born before the
// first event decided it or after: a child born before is unknown, as its parent was, and is decided by its ancestor.
TEST(TraceMap, AttachingGivesTheSameAnswerToChildrenBornBeforeAndAfter) {
  for (const int matches : {0, 1}) {
    const __u32 parent = usc_map_first_event(USC_FOLLOW_TREE, matches, 0);
    EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 0, matches), parent);
  }
}

}  // namespace
}  // namespace uscope::include
