// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What changes over time is stored as of its time.
#include <gtest/gtest.h>

#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class AsOfItsTimeTest : public LoaderTest {
 protected:
  void SetUp() override { usual(); }
  void call_at(std::uint64_t at, std::uint32_t task = 1, std::uint32_t image = 1) {
    trace_->event({.task = task, .entry = kStart + at, .end = kStart + at + 1, .nr = 39, .image = image});
  }
  // Of the thread at the time of each event.
  std::string names() { return rows("SELECT thread FROM v_event WHERE kind = 'getpid' ORDER BY ts_ns"); }
};

TEST_F(AsOfItsTimeTest, EventHasTheNameOfItsBeginning) {
  call_at(100);
  trace_->name(1, "first", kStart + 200);
  call_at(200);
  call_at(300);
  trace_->name(1, "second", kStart + 400);
  trace_->name(1, "first", kStart + 500);
  call_at(450);
  call_at(550);
  load();
  const std::string before = rows("SELECT name FROM thread_name WHERE ts_ns = 0");
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(names(), before + "\nfirst\nfirst\nsecond\nfirst");
  EXPECT_EQ(rows("SELECT name FROM thread WHERE id = 1"), "first");
}

// Records of several processors come in any order.
TEST_F(AsOfItsTimeTest, LaterNameMayComeFirst) {
  trace_->name(1, "second", kStart + 400);
  trace_->name(1, "first", kStart + 200);
  call_at(300);
  call_at(500);
  load();
  EXPECT_EQ(names(), "first\nsecond");
}

TEST_F(AsOfItsTimeTest, ThreadOfOneNameNeedsNoRow) {
  call_at(100);
  load();
  EXPECT_EQ(rows("SELECT count(*) FROM thread_name"), "0");
  EXPECT_EQ(names(), rows("SELECT name FROM thread WHERE id = 1"));
}

TEST_F(AsOfItsTimeTest, EventHasTheUserOfItsBeginning) {
  trace_->user(1, 33, kStart + 400);
  trace_->user(1, 0, kStart + 200);
  for (const std::uint64_t at : {100, 200, 300, 400, 500}) call_at(at);
  load();
  EXPECT_EQ(rows("SELECT uid, count(*) FROM v_event WHERE kind = 'getpid' GROUP BY uid ORDER BY uid"), "0|3\n33|2");
  EXPECT_EQ(rows("SELECT count(*) FROM v_event WHERE thread IS NULL AND uid IS NOT NULL"), "0");
}

TEST_F(AsOfItsTimeTest, UserOfATaskThatDoesNotTellIsNotKnown) {
  call_at(100);
  load();
  EXPECT_EQ(rows("SELECT DISTINCT uid IS NULL FROM v_event"), "1");
  EXPECT_EQ(rows("SELECT count(*) FROM thread_user"), "0");
}

TEST_F(AsOfItsTimeTest, EventsCountForTheProgramThatMadeThem) {
  trace_->exec(1, 1, 101, 0, "/bin/other", "", kStart + 250);
  call_at(100);
  call_at(200);
  call_at(300, 1, 101);
  load();
  EXPECT_EQ(rows("SELECT image_id, sum(events) FROM program_total WHERE thread_id = 1 GROUP BY image_id"),
            rows("SELECT image_id, count(*) FROM event WHERE thread_id = 1 GROUP BY image_id"));
  EXPECT_EQ(rows("SELECT sum(events) FROM program_total"), rows("SELECT sum(events) FROM thread_total"));
  EXPECT_EQ(rows("SELECT events FROM program_total WHERE image_id = 101"), "1");
}

// Only followed, so that others have names: their paths are nobody's.
TEST_F(AsOfItsTimeTest, StringsOfFollowedCallsAreDropped) {
  trace_->event(
      {.task = 1, .entry = kStart + 100, .end = kStart + 101, .result = 5, .nr = 2, .flags = USC_EVENT_FOLLOWED});
  trace_->string(1, kStart + 100, 0, "/only/followed");
  trace_->event({.task = 1, .entry = kStart + 200, .end = kStart + 201, .result = 6, .nr = 2});
  trace_->string(1, kStart + 200, 0, "/an/event");
  load();
  EXPECT_EQ(rows("SELECT count(*) FROM string WHERE value = '/only/followed'"), "0");
  EXPECT_EQ(rows("SELECT count(*) FROM string WHERE value = '/an/event'"), "1");
}

}  // namespace
}  // namespace uscope::store
