// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/partial_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "live/query/partial_events.h"
#include "support/private_file.h"
#include "tests/support/question_maker.h"
#include "trace/record_builder.h"

namespace uscope::query {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

class PartialViewTest : public testing::Test {
 protected:
  void begin(const std::string& outer, bool in_steps = false) {
    plan_.way = Way::kSums;
    plan_.program = test::question_of(4, 1, {test::give(in_steps ? USC_QUERY_KEY_STEP : USC_QUERY_KEY, 0, 0)});
    plan_.keys = {{Key::kExpression, "k0"}, {Key::kKind, ""}, {Key::kTask, ""}, {Key::kExpression, "k1"}};
    plan_.measures = {"result"};
    plan_.outer = outer;
    auto folder = open_temporary_folder();
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
    view_.reset();  // before the store that it shows rows in
    auto store = store::ReusedStore::create(folder_.get());
    ASSERT_TRUE(store) << store.error().what;
    store_.emplace(std::move(*store));
    ASSERT_TRUE(add_functions(store_->handle()));
    auto view = PartialView::create(*store_, plan_);
    ASSERT_TRUE(view) << view.error().what;
    view_ = std::move(*view);
  }

  // A row of `events` events whose numbers have this sum.
  static usc_query_row row(std::uint32_t kind, std::uint32_t task, std::int64_t k0, std::uint64_t events,
                           std::int64_t sum) {
    usc_query_row row{};
    row.key.word[0] = k0;
    row.key.word[1] = kind;
    row.key.word[2] = task;
    row.key.nulls = 1U << 3;
    row.events = events;
    if (sum != 0) row.sum[0] = {events, sum, 1, 9};
    return row;
  }

  // Loads an interval of these rows, by two tasks.
  Result<void> show(const std::vector<usc_query_row>& of_interval) {
    Sums sums(plan_.program);
    for (const usc_query_row& one : of_interval) sums.add(one);
    PartialRows rows = sums.take_rows();
    auto trace = live::WindowTrace::begin(folder_.get(), 1, 0);
    if (!trace) return trace.error();
    std::uint32_t events = 0;
    const std::vector<std::uint32_t> numbers = events_of(rows, plan_.keys);
    for (std::size_t i = 0; i < numbers.size(); i++)
      if (numbers[i] == events)
        if (auto done = append_event(*trace, trace::Event(event_of(rows.key(i), plan_.keys, events++))); !done)
          return done;
    for (const std::uint32_t serial : {1, 2}) {
      usc_task task{};
      task.head.task = task.process = serial;
      task.pid = task.tid = 10 * serial;
      task.flags = USC_TASK_PROCESS;
      if (auto done = trace->append(trace::RecordBuilder<usc_task>(task).head()); !done) return done;
    }
    auto file = trace->end();
    if (!file) return file.error();
    auto raw = trace::RawReader::open(std::move(*file), "interval");
    if (!raw) return raw.error();
    if (auto loaded = store_->load(std::move(*raw), {}); !loaded) return loaded.error();
    if (auto done = view_->show(std::move(rows)); !done) return done;
    return store_->protect();
  }

  // What plan.outer gives, a line for each row.
  std::string answer() {
    auto query = store::Statement::prepare(store_->handle(), plan_.outer);
    if (!query) return query.error().what;
    std::string text;
    for (;;) {
      auto row = query->step();
      if (!row) return row.error().what;
      if (!*row) break;
      for (int i = 0; i < query->columns(); i++)
        text += (i == 0 ? "" : "|") + (query->is_null(i) ? "-" : std::string(query->text(i)));
      text += "\n";
    }
    return text;
  }

  void end() {
    view_->hide();
    ASSERT_TRUE(store_->empty());
  }

  Plan plan_;
  UniqueFd folder_;
  std::optional<store::ReusedStore> store_;
  std::unique_ptr<PartialView> view_;
};

TEST_F(PartialViewTest, EachIntervalHasItsRows) {
  begin("SELECT kind, tid, k0, k1, n, c0, s0, mn0, mx0 FROM partial ORDER BY 1, 2, 3");
  ASSERT_TRUE(show({row(0, 1, 7, 3, 12), row(0, 1, 5, 2, 0), row(1, 2, 7, 1, -4)}));
  EXPECT_EQ(answer(), "read|10|5|-|2|0|-|-|-\nread|10|7|-|3|3|12|1|9\nwrite|20|7|-|1|1|-4|1|9\n");
  end();
  ASSERT_TRUE(show({row(2, 2, 7, 4, 1)}));
  EXPECT_EQ(answer(), "open|20|7|-|4|4|1|1|9\n");
  end();
  ASSERT_TRUE(show({}));
  EXPECT_EQ(answer(), "");
  end();
}

// The columns compare as those of v_event do: a text that looks like a number equals it.
TEST_F(PartialViewTest, ColumnsHaveTheirTypes) {
  begin(
      "SELECT sum(n) FILTER (WHERE tid = '10'), sum(n) FILTER (WHERE k0 = '7'), group_concat(DISTINCT typeof(kind)) "
      "FROM partial");
  ASSERT_TRUE(show({row(0, 1, 7, 3, 12), row(0, 2, 7, 2, 0)}));
  EXPECT_EQ(answer(), "3|-|text\n");
}

// Rows that differ in a number in steps alone are one row, whose steps a quantile counts.
TEST_F(PartialViewTest, StepsOfOneKeyAreOneRow) {
  begin(
      "SELECT kind, count(*), sum(n), sum(c0), sum(s0), min(mn0), max(mx0), quantile_of(k0, n, 0.5), hist_of(k0, n) "
      "FROM partial GROUP BY kind ORDER BY kind",
      true);
  usc_query_row unknown = row(0, 1, 0, 2, 10);
  unknown.key.nulls |= 1;
  ASSERT_TRUE(show({row(0, 1, 7, 3, 12), row(1, 2, 15, 1, -4), row(0, 1, 15, 5, 0), unknown, row(0, 2, 3, 1, 1)}));
  EXPECT_EQ(answer(), "read|2|11|6|23|1|9|15|[[3,1],[7,3],[15,5]]\nwrite|1|1|1|-4|1|9|15|[[15,1]]\n");
  end();
  ASSERT_TRUE(show({unknown}));
  EXPECT_EQ(answer(), "read|1|2|2|10|1|9|-|[]\n");
}

// A sum beyond 64 bits is an error for sum() alone, and only where it is chosen.
TEST_F(PartialViewTest, ASumBeyondSixtyFourBitsIsAnErrorOfSumAlone) {
  const std::vector<usc_query_row> wide{row(0, 1, 1, 1, kLargest), row(0, 1, 1, 1, 1)};
  begin("SELECT sum_wide(iif(c0, s0, NULL)) FROM partial");
  ASSERT_TRUE(show({row(0, 1, 1, 2, kLargest)}));
  EXPECT_EQ(answer(), "9223372036854775807\n");
  end();
  ASSERT_TRUE(show(wide));
  EXPECT_NE(answer().find("integer overflow: a sum() is beyond 64 bits"), std::string::npos);
  begin("SELECT sum(c0), max(mx0) FROM partial");
  ASSERT_TRUE(show(wide));
  EXPECT_EQ(answer(), "2|9\n");
  begin("SELECT total_wide(iif(c0, s0, NULL)), sum_wide(CASE WHEN kind = 'write' THEN s0 ELSE 5 END) FROM partial");
  ASSERT_TRUE(show(wide));
  EXPECT_EQ(answer(), "9.22337203685478e+18|5\n");
}

}  // namespace
}  // namespace uscope::query
