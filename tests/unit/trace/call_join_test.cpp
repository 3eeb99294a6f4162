// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/call_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace uscope::trace {
namespace {

Event call_record(std::uint64_t entry, std::uint64_t time, std::uint8_t how, std::uint32_t stack,
                  std::uint8_t flags = 0) {
  Event event;
  event.entry_ns = entry;
  event.head.time = time;
  event.how = how;
  event.stack = stack;
  event.flags = flags;
  return event;
}

// The events of these records, as the loader asks for them.
std::vector<Event> joined(const std::vector<Event>& records) {
  CallJoin join;
  for (const Event& record : records) join.add(record);
  std::vector<Event> events;
  for (const Event& record : records) {
    if (!join.is_event(record)) continue;
    Event event = record;
    const bool changes = join.has_more_than(event);
    join.complete(event);
    if (!changes) {
      EXPECT_EQ(event.stack, record.stack);
      EXPECT_EQ(event.flags, record.flags);
    }
    events.push_back(event);
  }
  return events;
}

TEST(CallJoin, ASingleRecordIsItsEvent) {
  for (const std::uint8_t how : {USC_HOW_RETURNED, USC_HOW_OPEN, USC_HOW_NO_ENTRY}) {
    const auto events = joined({call_record(1, 2, how, 3)});
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].how, how);
    EXPECT_EQ(events[0].stack, 3U);
    EXPECT_EQ(events[0].flags, 0U);
  }
  EXPECT_EQ(joined({call_record(1, 2, USC_HOW_ATTACHED, 3)})[0].flags, USC_EVENT_ATTACHED);
}

TEST(CallJoin, TheEndCountsAndTakesWhatItLacks) {
  const auto events = joined({call_record(1, 5, USC_HOW_OPEN, 7), call_record(1, 3, USC_HOW_ATTACHED, 6),
                              call_record(1, 9, USC_HOW_RETURNED, 0)});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].how, USC_HOW_RETURNED);
  EXPECT_EQ(events[0].stack, 7U) << "of the latest record of the open call";
  EXPECT_EQ(events[0].flags, USC_EVENT_ATTACHED);
  EXPECT_EQ(usc_event_how(&events[0]), USC_HOW_ATTACHED);
  EXPECT_EQ(joined({call_record(1, 5, USC_HOW_OPEN, 7), call_record(1, 9, USC_HOW_RETURNED, 8)})[0].stack, 8U);
}

TEST(CallJoin, OfOpenRecordsTheLatestCounts) {
  const auto events = joined({call_record(1, 5, USC_HOW_OPEN, 7), call_record(1, 3, USC_HOW_ATTACHED, 6)});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].head.time, 5U);
  EXPECT_EQ(events[0].stack, 7U);
  EXPECT_EQ(usc_event_how(&events[0]), USC_HOW_ATTACHED);
  // Of two at one time, the one that came last.
  EXPECT_EQ(joined({call_record(1, 5, USC_HOW_OPEN, 7), call_record(1, 5, USC_HOW_OPEN, 8)})[0].stack, 8U);
}

TEST(CallJoin, EachEndOfADamagedTraceIsAnEvent) {
  EXPECT_EQ(joined({call_record(1, 5, USC_HOW_RETURNED, 7), call_record(1, 6, USC_HOW_RETURNED, 8),
                    call_record(1, 7, USC_HOW_OPEN, 9)})
                .size(),
            2U);
}

TEST(OpenCall, AReturnThatComesFirstEndsTheCall) {
  OpenCall call;
  EXPECT_EQ(call.end(call_record(10, 20, USC_HOW_RETURNED, 1)).stack, 1U);
  call.add(call_record(10, 15, USC_HOW_OPEN, 1));
  EXPECT_FALSE(call.event());
  call.add(call_record(11, 15, USC_HOW_OPEN, 2));
  ASSERT_TRUE(call.event());
  EXPECT_EQ(call.event()->entry_ns, 11U);
}

TEST(OpenCall, TheEndOfAnEarlierCallLeavesALaterOneOpen) {
  OpenCall call;
  call.add(call_record(30, 40, USC_HOW_ATTACHED, 3));
  const Event earlier = call.end(call_record(10, 20, USC_HOW_RETURNED, 0));
  EXPECT_EQ(earlier.stack, 0U);
  EXPECT_EQ(earlier.flags, 0U);
  ASSERT_TRUE(call.event());
  EXPECT_EQ(call.event()->entry_ns, 30U);
}

TEST(OpenCall, TheNextCallTakesThePlaceOfOneWhoseEndWasLost) {
  OpenCall call;
  call.add(call_record(10, 20, USC_HOW_ATTACHED, 3));
  const Event next = call.end(call_record(30, 40, USC_HOW_RETURNED, 0));
  EXPECT_EQ(next.stack, 0U);
  EXPECT_EQ(next.flags, 0U);
  EXPECT_FALSE(call.event());
  EXPECT_EQ(call.done_ns(), 30U);
  call.add(call_record(50, 60, USC_HOW_OPEN, 4));
  call.add(call_record(70, 80, USC_HOW_OPEN, 5));
  EXPECT_EQ(call.event()->entry_ns, 70U);
}

// Whatever records a call has: in the order in which they come, they give what they give together.
TEST(OpenCall, GivesWhatTheLoaderGives) {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; round++) {
    std::vector<Event> records;
    const std::size_t open = random() % 4;
    for (std::size_t i = 0; i < open; i++)
      records.push_back(call_record(10, 11 + random() % 4, random() % 3 == 0 ? USC_HOW_ATTACHED : USC_HOW_OPEN,
                                    random() % 3, random() % 5 == 0 ? USC_EVENT_ATTACHED : 0));
    const bool ends = open == 0 || random() % 2 == 0;
    if (ends)
      records.push_back(call_record(10, 20, random() % 2 == 0 ? USC_HOW_RETURNED : USC_HOW_KILLED, random() % 2,
                                    random() % 5 == 0 ? USC_EVENT_ATTACHED : 0));
    const std::vector<Event> together = joined(records);
    ASSERT_EQ(together.size(), 1U);
    OpenCall call;
    for (std::size_t i = 0; i < open; i++) call.add(records[i]);
    ASSERT_EQ(call.event().has_value(), open != 0);
    const Event one = ends ? call.end(records.back()) : *call.event();
    EXPECT_EQ(one.head.time, together[0].head.time);
    EXPECT_EQ(one.stack, together[0].stack);
    EXPECT_EQ(one.flags & USC_EVENT_ATTACHED, together[0].flags & USC_EVENT_ATTACHED);
    EXPECT_EQ(usc_event_how(&one), usc_event_how(&together[0]));
    EXPECT_EQ(call.event().has_value(), !ends);
  }
}

TEST(EventFacts, ResultTimeAndEnding) {
  Event event = call_record(10, 25, USC_HOW_RETURNED, 0);
  EXPECT_TRUE(usc_event_has_result(&event));
  EXPECT_EQ(usc_event_took(&event), 15U);
  event.flags = USC_EVENT_NO_RESULT;
  EXPECT_FALSE(usc_event_has_result(&event));
  event.head.time = 5;
  EXPECT_EQ(usc_event_took(&event), 0U) << "no time runs backwards";
  event = call_record(10, 25, USC_HOW_NO_ENTRY, 0, USC_EVENT_ATTACHED);
  EXPECT_TRUE(usc_event_has_result(&event));
  EXPECT_EQ(usc_event_took(&event), 0U);
  EXPECT_EQ(usc_event_how(&event), USC_HOW_NO_ENTRY);
  for (const std::uint8_t how : {USC_HOW_RETURNED, USC_HOW_OPEN, USC_HOW_ATTACHED}) {
    event.how = how;
    EXPECT_EQ(usc_event_how(&event), USC_HOW_ATTACHED);
    event.flags = 0;
    EXPECT_EQ(usc_event_how(&event), how);
    event.flags = USC_EVENT_ATTACHED;
  }
}

TEST(How, AStoredCallIsUnfinishedWhereItHasNoDuration) {
  EXPECT_TRUE(is_unfinished("open", false));
  EXPECT_TRUE(is_unfinished("attached", false));
  EXPECT_FALSE(is_unfinished("attached", true));
  EXPECT_FALSE(is_unfinished("returned", false));
  for (std::uint32_t how = 0; how < USC_HOW_COUNT; how++)
    EXPECT_EQ(is_unfinished(how), is_unfinished(how_name(how), false)) << how;
}

}  // namespace
}  // namespace uscope::trace
