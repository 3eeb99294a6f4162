// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads have the names and users of their time in a closed interval, whoever counts.
#include "tests/unit/live/query/interval_store_fixture.h"

namespace uscope::query {
namespace {

class IntervalGuises : public IntervalStoreTest {};

TEST_F(IntervalGuises, ANameThatComesBeforeItsTaskIsTheTasks) {
  begin(kSecond, false);
  // Set on another CPU than the one that forked the task, whose ring is read later.
  put(name(2, "worker", kBegin + 1));
  put(task(2));
  put(call(kBegin + 2, kBegin + 3, USC_HOW_RETURNED, 0, 2));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT thread FROM v_event"), "worker\n");
}

// Event by event, by the time at which the call began; also of calls that began in an interval before.
TEST_F(IntervalGuises, CallsHaveTheNameThatTheirThreadHadWhenTheyBegan) {
  begin(kSecond, false);
  for (std::uint64_t i = 0; i < 3; i++) {
    put(call(kBegin + 10 * i + 5, kBegin + 10 * i + 6));
    put(name(1, "job-" + std::to_string(i), kBegin + 10 * i + 7));
  }
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT thread FROM v_event ORDER BY ts_ns"), "begun\njob-0\njob-1\n");
  put(call(kBegin + kSecond + 1, kBegin + kSecond + 2));
  put(name(1, "job-3", kBegin + kSecond + 3));
  put(call(kBegin + kSecond + 4, kBegin + kSecond + 5));
  put(call(kBegin + 25, kBegin + kSecond + 6));
  rounds(kBegin + 2 * kSecond);
  EXPECT_EQ(ask(closed_[1], "SELECT thread FROM v_event ORDER BY ts_ns"), "job-1\njob-2\njob-3\n");
}

// The kernel side sums by guises: the first name is that of the beginning or of the exec, and a child keeps its
// parent's.
TEST_F(IntervalGuises, RowsHaveTheNamesOfTheirGuises) {
  ask_by_guise();
  begin(kSecond, false);
  const auto summed = [this](std::uint64_t at, std::uint32_t serial, std::uint32_t image) {
    auto one = call(at, at + 1, USC_HOW_RETURNED, 0, serial);
    reinterpret_cast<usc_event&>(one.head()).image = image;
    put(std::move(one));
  };
  put(guise(1, 50, "job-0", kBegin + 10));
  put(guise(1, 51, "job-1", kBegin + 20));
  auto child = task(2);
  auto& begun = reinterpret_cast<usc_task&>(child.head());
  begun.image = 51;
  std::string_view("job-1").copy(begun.name, sizeof(begun.name));
  put(std::move(child));
  put(guise(1, 52, "job-0", kBegin + 30));
  for (const std::uint32_t image : {1, 50, 51, 52, 52}) summed(kBegin + image, 1, image);
  summed(kBegin + 60, 2, 51);
  const char* const question =
      "SELECT tid, thread, process, sum(n) FROM partial GROUP BY tid, thread, process ORDER BY tid, thread";
  plan_.outer = question;
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], question), "100|begun|app|1\n100|job-0|app|3\n100|job-1|app|1\n101|job-1|app|1\n");
  put(exit(1, kBegin + kSecond + 1));
  for (std::uint64_t second = 1; second < 4; second++) {  // the child is known by the guise of a thread that has ended
    summed(kBegin + second * kSecond + 7, 2, 51);
    rounds(kBegin + (second + 1) * kSecond);
    EXPECT_EQ(ask(closed_[second], question), "101|job-1|app|1\n") << second;
  }
}

// A thread that has had very many names: of those that it had several times each is kept once, of others those of rows.
TEST_F(IntervalGuises, GuisesAreBoundedByWhatTheAnswerShows) {
  ask_by_guise();
  begin(0, false);
  constexpr std::uint32_t kRenames = 200'000;
  constexpr std::uint32_t kUnasked = 100'000;  // names behind that belong to no event
  constexpr std::uint32_t kFirst = 50;
  std::vector<usc_query_row> in_kernel;  // of rows some come late, even before their guise's record
  const auto row_of = [](std::uint32_t serial, std::uint32_t guise) {
    usc_query_row row{};
    row.events = 1;
    row.key.word[0] = serial;
    row.key.word[1] = guise;
    return row;
  };
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < kRenames; i++) {
    const std::uint64_t now = kBegin + 10 * std::uint64_t{i} + 10;
    if (i % 5 == 0) store_->add(row_of(1, kFirst + i));
    put(guise(1, kFirst + i, i < kUnasked ? "job-" + std::to_string(i % 3) : "idle-" + std::to_string(i), now));
    if (i == 1) {  // begins under a name that its maker loses at once
      auto child = task(2);
      auto& begun = reinterpret_cast<usc_task&>(child.head());
      begun.image = kFirst + i;
      std::string_view("job-1").copy(begun.name, sizeof(begun.name));
      put(std::move(child));
    }
    if (i % 5 != 0 && i < kUnasked) in_kernel.push_back(row_of(1, kFirst + i));
    if (i % 1000 != 999) continue;
    in_kernel.push_back(row_of(2, kFirst + 1));
    store_->on_round(now - 100);
    most = std::max(most, store_->kept_guises());
    if (!store_->wants_sums()) continue;
    for (const usc_query_row& row : std::exchange(in_kernel, {})) store_->add(row);
    store_->on_sums_sent();
  }
  EXPECT_LE(most, 3 * live::kMostGuises + 1000);
  for (const usc_query_row& row : in_kernel) store_->add(row);
  store_->on_sums_sent();
  const char* const question =
      "SELECT tid, thread, process, sum(n) FROM partial WHERE thread NOT LIKE 'idle%' GROUP BY tid, thread, process "
      "ORDER BY tid, thread";
  plan_.outer = question;
  ASSERT_TRUE(store_->finish());
  EXPECT_EQ(ask(closed_[0], question),
            "100|job-0|app|33334\n100|job-1|app|33333\n100|job-2|app|33333\n101|job-1|app|200\n");
}

// Of very many different ones, one thread's do not take the place of others'.
TEST_F(IntervalGuises, NamesBeyondTheBoundAreOneAndTold) {
  ask_by_guise();
  begin(0, false);
  put(task(2));
  constexpr std::uint32_t kRenames = 200'000;
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < kRenames; i++) {
    const std::uint64_t now = kBegin + 10 * std::uint64_t{i} + 10;
    put(guise(1, 50 + i, "job-" + std::to_string(i), now));
    if (i == kRenames - 10) put(guise(2, 50 + kRenames, "late", now + 1));
    usc_query_row row{};
    row.events = 1;
    row.key.word[0] = i < kRenames - 9 ? 1 : 2;
    row.key.word[1] = i < kRenames - 9 ? 50 + i : 50 + kRenames;
    store_->add(row);
    if (i % 1000 != 999) continue;
    store_->on_round(now);
    most = std::max(most, store_->kept_guises());
    if (i == kRenames - 1 || store_->wants_sums()) store_->on_sums_sent();
  }
  EXPECT_LE(most, 2 * live::kMostGuiseNames + 1000);
  const char* const question =
      "SELECT count(*) > 60000, sum(n), sum(iif(thread = '?', n, 0)) > 60000, sum(iif(thread = 'late', n, 0)) "
      "FROM (SELECT tid, thread, sum(n) AS n FROM partial GROUP BY tid, thread)";
  plan_.outer = question;
  ASSERT_TRUE(store_->finish());
  EXPECT_GT(closed_[0].facts.names_beyond, 60'000U);
  EXPECT_EQ(ask(closed_[0], question), "1|200000|1|9\n");
}

// Event by event: the name of those beyond is not another one's.
TEST_F(IntervalGuises, NamesOfEventsBeyondTheBoundAreNone) {
  begin(kSecond, false);
  constexpr std::uint64_t kRenames = 5000;
  for (std::uint64_t i = 0; i < kRenames; i++) put(name(1, "job-" + std::to_string(i), kBegin + 10 * i));
  for (const std::uint64_t i : {std::uint64_t{4094}, std::uint64_t{4100}, kRenames - 1})
    put(call(kBegin + 10 * i + 1, kBegin + 10 * i + 2));
  rounds(kBegin + kSecond);
  EXPECT_EQ(closed_[0].facts.names_beyond, 904U);
  EXPECT_EQ(ask(closed_[0], "SELECT thread FROM v_event ORDER BY ts_ns"), "job-4094\n?\njob-4999\n");
  rounds(kBegin + 2 * kSecond);
  EXPECT_EQ(closed_[1].facts.names_beyond, 0U);
}

// Where a task executes a program that sets its user, that one is told of at the same time as the program.
TEST_F(IntervalGuises, RowsHaveTheUsersOfTheirGuises) {
  ask_by_guise();
  begin(kSecond, false);
  const auto user = [this](std::uint32_t uid, std::uint64_t time) {
    usc_task_user record{};
    record.head.task = 3;
    record.head.time = time;
    record.uid = uid;
    put(trace::RecordBuilder<usc_task_user>(record));
  };
  auto begun = task(3);
  reinterpret_cast<usc_task&>(begun.head()).flags |= USC_TASK_USER;
  reinterpret_cast<usc_task&>(begun.head()).uid = 1000;
  put(std::move(begun));
  user(33, kBegin + 10);
  put(guise(3, 50, "begun", kBegin + 10, 33));
  user(0, kBegin + 20);
  auto program = exec(3);
  auto& executed = reinterpret_cast<usc_exec&>(program.head());
  executed.image = 60;
  executed.old_tid = executed.tid = 102;
  executed.head.time = kBegin + 20;
  put(std::move(program));
  for (const std::uint32_t image : {3, 50, 60, 60}) {
    auto one = call(kBegin + image, kBegin + image + 1, USC_HOW_RETURNED, 0, 3);
    reinterpret_cast<usc_event&>(one.head()).image = image;
    put(std::move(one));
  }
  const char* const question = "SELECT uid, thread, sum(n) FROM partial GROUP BY uid, thread ORDER BY uid, thread";
  plan_.outer = question;
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], question), "0|begun|2\n33|begun|1\n1000|begun|1\n");
}

TEST_F(IntervalGuises, RowsHaveTheNamesThatEventsHave) {
  plan_.way = Way::kSums;
  plan_.program = results_by_kind();
  plan_.keys = {{Key::kSource, ""}, {Key::kKind, ""}, {Key::kAbi, ""}};
  plan_.measures = {"result"};
  plan_.outer = "SELECT kind, sum(n), sum(s0), min(mn0), max(mx0) FROM partial GROUP BY kind ORDER BY kind";
  begin(kSecond, false);
  for (std::uint64_t i = 0; i < 10; i++) put(call(kBegin + i, kBegin + i));
  auto write = call(kBegin + 20, kBegin + 21);
  reinterpret_cast<usc_event&>(write.head()).kind = 1;
  put(std::move(write));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 11U);
  EXPECT_EQ(closed_[0].rows.size(), 2U);
  EXPECT_EQ(ask(closed_[0], plan_.outer), "read|10|80|8|8\nwrite|1|8|8|8\n");
}

}  // namespace
}  // namespace uscope::query
