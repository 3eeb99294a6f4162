// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contents of calls: from their records to event_content.
#include "store/db/content_table.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kRead = 0;
constexpr std::uint32_t kWrite = 1;
constexpr std::uint32_t kPoll = 7;
constexpr std::uint32_t kWritev = 20;

class ContentsTest : public LoaderTest {
 protected:
  void SetUp() override { usual(); }
  // "call|arg|holds|source|bytes|late|cut" of each row.
  std::string stored() {
    return rows(
        "SELECT kind.name, arg, holds, source, hex(value), late, cut FROM event_content JOIN event ON event.id = "
        "event_id JOIN kind ON kind.id = kind_id LEFT JOIN content ON content.id = content_id ORDER BY event_id, arg, "
        "holds, "
        "source");
  }
};

TEST_F(ContentsTest, StandAtTheirCall) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kWrite});
  trace_->event({.entry = kStart + 200, .end = kStart + 210, .nr = kRead});
  trace_->string(1, kStart + 100, 1, std::string("a\0\xff", 3), USC_STRING_DATA, USC_STRING_TRUNCATED);
  trace_->string(1, kStart + 200, 1, "", USC_STRING_DATA_OUT);
  load();
  EXPECT_EQ(stored(), "write|1|0|0|6100FF|0|1\nread|1|0|1||0|0");
  EXPECT_EQ(rows("SELECT typeof(value), length(value) FROM content ORDER BY id"), "blob|3\nblob|0");
  EXPECT_EQ(rows("SELECT count(*) FROM event_string"), "0");
}

TEST_F(ContentsTest, WhatWasAskedAndWhatWasFoundAreTwo) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .result = 1, .nr = kPoll});
  trace_->string(1, kStart + 100, 0, "asked in", USC_STRING_POLL);
  trace_->string(1, kStart + 100, 0, "found it", USC_STRING_POLL_OUT);
  load();
  EXPECT_EQ(stored(), "poll|0|1|0|61736B656420696E|0|0\npoll|0|1|1|666F756E64206974|0|0");
}

TEST_F(ContentsTest, OfAVectorAreLengthsAndData) {
  usc_vector vector{};
  vector.count = 1;
  vector.length[0] = 2;
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kWritev});
  trace_->string(1, kStart + 100, 1, std::string(reinterpret_cast<const char*>(&vector), sizeof(vector)) + "ab",
                 USC_STRING_VECTOR, USC_STRING_LATE);
  load();
  EXPECT_EQ(stored(),
            "writev|1|0|0|6162|1|0\nwritev|1|1|0|0100000000000000" + std::string(32, '0') + "0200000000000000|1|0");
}

TEST_F(ContentsTest, ThatWereRedactedAreNull) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kWrite});
  trace_->string(1, kStart + 100, 1, "", USC_STRING_DATA, USC_STRING_REDACTED);
  load();
  EXPECT_EQ(rows("SELECT arg, holds, content_id FROM event_content"), "1|0|-");
}

TEST_F(ContentsTest, TheSameTwiceCountsOnce) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kWrite});
  trace_->string(1, kStart + 100, 1, "a", USC_STRING_DATA);
  trace_->string(1, kStart + 100, 1, "b", USC_STRING_DATA);
  load();
  EXPECT_EQ(stored(), "write|1|0|0|61|0|0");
}

TEST(ContentTableTest, NeighboursShareARow) {
  test::TemporaryFolder folder;
  auto writer = DatabaseWriter::create(folder / "db");
  ASSERT_TRUE(writer) << writer.error().what;
  ContentTable contents(*writer);
  ASSERT_TRUE(contents.prepare());
  const auto first = contents.intern("one");
  ASSERT_TRUE(first);
  EXPECT_EQ(*contents.intern("one"), *first);
  EXPECT_NE(*contents.intern(std::string_view("one\0", 4)), *first);
}

}  // namespace
}  // namespace uscope::store
