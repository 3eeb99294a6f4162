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

TEST(TraceMap, AChildHasItsParentsState) {
  EXPECT_EQ(usc_map_fork(USC_UNKNOWN), USC_UNKNOWN);
  EXPECT_EQ(usc_map_fork(USC_TRACED), USC_TRACED);
  EXPECT_EQ(usc_map_fork(USC_UNTRACED), USC_UNTRACED);
}

TEST(TraceMap, ExecWhenFollowingTheTree) {
  EXPECT_EQ(usc_map_exec(USC_TRACED, USC_FOLLOW_TREE, 0), USC_TRACED);
  EXPECT_EQ(usc_map_exec(USC_TRACED, USC_FOLLOW_TREE, 1), USC_TRACED);
  EXPECT_EQ(usc_map_exec(USC_UNTRACED, USC_FOLLOW_TREE, 0), USC_UNTRACED);
  EXPECT_EQ(usc_map_exec(USC_UNTRACED, USC_FOLLOW_TREE, 1), USC_TRACED);
  EXPECT_EQ(usc_map_exec(USC_UNKNOWN, USC_FOLLOW_TREE, 0), USC_UNKNOWN);
  EXPECT_EQ(usc_map_exec(USC_UNKNOWN, USC_FOLLOW_TREE, 1), USC_TRACED);
}

TEST(TraceMap, ExecWhenFollowingTheImage) {
  EXPECT_EQ(usc_map_exec(USC_TRACED, USC_FOLLOW_IMAGE, 0), USC_UNTRACED);
  EXPECT_EQ(usc_map_exec(USC_TRACED, USC_FOLLOW_IMAGE, 1), USC_TRACED);
  EXPECT_EQ(usc_map_exec(USC_UNTRACED, USC_FOLLOW_IMAGE, 0), USC_UNTRACED);
  EXPECT_EQ(usc_map_exec(USC_UNTRACED, USC_FOLLOW_IMAGE, 1), USC_TRACED);
  EXPECT_EQ(usc_map_exec(USC_UNKNOWN, USC_FOLLOW_IMAGE, 0), USC_UNKNOWN);
  EXPECT_EQ(usc_map_exec(USC_UNKNOWN, USC_FOLLOW_IMAGE, 1), USC_TRACED);
}

// A process that ran before the tracer attached gives its children the same answer, whether they were born before the
// first event decided it or after.
TEST(TraceMap, AttachingGivesTheSameAnswerToChildrenBornBeforeAndAfter) {
  for (const int matches : {0, 1}) {
    const __u32 born_before = usc_map_fork(USC_UNKNOWN);
    const __u32 parent = usc_map_first_event(USC_FOLLOW_TREE, matches, 0);
    const __u32 born_after = usc_map_fork(parent);
    ASSERT_EQ(born_before, USC_UNKNOWN);
    EXPECT_EQ(usc_map_first_event(USC_FOLLOW_TREE, 0, matches), born_after);
  }
}

}  // namespace
}  // namespace uscope::include
