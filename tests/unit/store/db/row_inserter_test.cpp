// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/row_inserter.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::store {
namespace {

// With a thread, and without one.
class RowInserterTest : public testing::TestWithParam<bool> {
 protected:
  RowInserterTest() : writer_(DatabaseWriter::create(folder_ / "db")) {}

  void SetUp() override { ASSERT_TRUE(writer_) << writer_.error().what; }

  std::unique_ptr<TableRows> rows(std::string_view table, std::size_t columns,
                                  OnConflict on_conflict = OnConflict::kFail) {
    auto rows = writer_->rows(table, columns, on_conflict);
    EXPECT_TRUE(rows) << rows.error().what;
    if (GetParam()) writer_->inserter().start_thread();
    return std::move(*rows);
  }

  std::string answer(const std::string& sql) {
    auto query = writer_->prepare(sql);
    if (!query) return query.error().what;
    auto row = query->step();
    return row && *row ? std::string(query->text(0)) : "nothing";
  }

  test::TemporaryFolder folder_;
  Result<DatabaseWriter> writer_;
};

INSTANTIATE_TEST_SUITE_P(Threads, RowInserterTest, testing::Bool());

// Whole batches, whole statements, and single rows.
TEST_P(RowInserterTest, AllRowsOfAllTablesComeInTheirOrder) {
  const auto strings = rows("string", 2);
  const auto losses = rows("loss", 5);
  constexpr int kRows = 12'345;
  for (int i = 1; i <= kRows; i++) {
    ASSERT_TRUE(strings->add(i, "text " + std::to_string(i)));
    ASSERT_TRUE(losses->add(i, i, LastingText{"cause"}, std::nullopt, 3));
  }
  ASSERT_TRUE(writer_->inserter().settle());
  EXPECT_EQ(answer("SELECT count(*) FROM string WHERE value = 'text ' || id"), std::to_string(kRows));
  EXPECT_EQ(answer("SELECT count(*) FROM loss WHERE ts_ns = rowid AND process_id IS NULL"), std::to_string(kRows));
}

TEST_P(RowInserterTest, ValuesOfEveryKind) {
  const auto waits = rows("futex_wait", 15);
  const std::string nul("a\0b", 3);
  ASSERT_TRUE(waits->add(1, std::numeric_limits<std::uint64_t>::max(), std::uint8_t{7}, std::optional<int>(),
                         std::optional(-5), Blob{nul}, Blob{""}, LastingText{""}, std::nullopt, std::nullopt, true,
                         trace::ProcessId(9U), 1, std::optional(StringRowId(4)), false));
  ASSERT_TRUE(waits->add(2, 0, 0, 0, 0, std::nullopt, std::nullopt, std::string_view(), 0, 0, 0, 0, 0, 0, 0));
  ASSERT_TRUE(writer_->inserter().settle());
  EXPECT_EQ(answer("SELECT json_array(address, op, expected, timeout_ns, hex(words), typeof(words_at_stop), "
                   "length(words_at_stop), typeof(key), asleep, strangers, handlers, open_to_others) FROM futex_wait "
                   "WHERE event_id = 1"),
            R"([-1,7,null,-5,"610062","blob",0,"text",1,9,4,0])");
  EXPECT_EQ(answer("SELECT json_array(words, key) FROM futex_wait WHERE event_id = 2"), R"([null,""])");
}

TEST_P(RowInserterTest, OfTwoRowsWithOneKeyTheFirstCounts) {
  const auto wakes = rows("futex_wake", 4, OnConflict::kIgnore);
  for (int i = 0; i < 1000; i++) ASSERT_TRUE(wakes->add(i / 2, i % 2, 0, std::nullopt));
  ASSERT_TRUE(writer_->inserter().settle());
  EXPECT_EQ(answer("SELECT json_array(count(*), sum(address)) FROM futex_wake"), "[500,0]");
}

TEST_P(RowInserterTest, TheFirstErrorEndsAllInsertion) {
  const auto strings = rows("string", 2);
  const auto wakes = rows("futex_wake", 4);
  for (int i = 0; i < 100'000; i++)
    if (!strings->add(i / 2, "text")) break;  // more than may wait
  for (int i = 0; i < 100'000; i++)
    if (!wakes->add(i, 0, 0, std::nullopt)) break;
  const auto done = writer_->inserter().settle();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().what.find("UNIQUE constraint failed: string.id"), std::string::npos) << done.error().what;
  EXPECT_FALSE(writer_->inserter().settle());
}

TEST_P(RowInserterTest, RowsThatNobodyAsksForAreGivenUp) {
  for (int i = 0; i < 10; i++) {
    const auto strings = rows("string", 2);
    for (int row = 0; row < 3000; row++) ASSERT_TRUE(strings->add(i * 3000 + row, "text"));
  }
  EXPECT_TRUE(writer_->inserter().settle());
}

}  // namespace
}  // namespace uscope::store
