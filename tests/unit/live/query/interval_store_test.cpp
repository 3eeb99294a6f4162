// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/interval_store.h"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "live/query/partial_view.h"
#include "store/reused_store.h"
#include "support/private_file.h"
#include "tests/support/question_maker.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/live/query/programs.h"
#include "trace/record_builder.h"

namespace uscope::query {
namespace {

constexpr std::uint64_t kBegin = 5'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

class IntervalStoreTest : public testing::Test {
 protected:
  // A file without a name.
  void SetUp() override {
    auto opened = open_temporary_folder();
    ASSERT_TRUE(opened);
    folder_ = std::move(*opened);
  }

  void begin(std::uint64_t interval_ns, bool stacks = true, std::uint64_t length_ns = 0,
             std::size_t most_stacks = IntervalStore::kMostStacks) {
    plan_.needs.stack = stacks;
    store_.emplace(
        plan_, interval_ns, length_ns, folder_.get(),
        [this](ClosedInterval&& closed) {
          closed_.push_back(std::move(closed));
          return Result<void>();
        },
        most_stacks);
    put(task(1));
    put(exec(1));
    store_->on_start(kBegin);
  }

  template <typename Record>
  void put(trace::RecordBuilder<Record> record) {
    ASSERT_TRUE(store_->append(record.head()));
  }

  static trace::RecordBuilder<usc_task> task(std::uint32_t serial, std::uint32_t process = 1) {
    usc_task task{};
    task.head.task = serial;
    task.head.time = kBegin - 5;
    task.process = process;
    task.pid = task.tid = 99 + serial;
    task.flags = USC_TASK_PROCESS;
    task.image = process;
    std::string_view("begun").copy(task.name, sizeof(task.name));
    return trace::RecordBuilder<usc_task>(task);
  }
  static trace::RecordBuilder<usc_task_name> name(std::uint32_t serial, std::string_view text, std::uint64_t time) {
    usc_task_name name{};
    name.head.task = serial;
    name.head.time = time;
    text.copy(name.name, sizeof(name.name));
    return trace::RecordBuilder<usc_task_name>(name);
  }
  static trace::RecordBuilder<usc_guise> guise(std::uint32_t serial, std::uint32_t number, std::string_view text,
                                               std::uint64_t time, std::uint32_t uid = 0) {
    usc_guise guise{};
    guise.head.task = serial;
    guise.head.time = time;
    guise.guise = number;
    guise.image = 1;
    guise.uid = uid;
    text.copy(guise.name, sizeof(guise.name));
    return trace::RecordBuilder<usc_guise>(guise);
  }
  static trace::RecordBuilder<usc_exec> exec(std::uint32_t process) {
    usc_exec exec{};
    exec.head.task = exec.process = exec.image = process;
    exec.head.time = kBegin - 4;
    exec.path_bytes = 4;
    std::string_view("begun").copy(exec.name, sizeof(exec.name));
    return std::move(trace::RecordBuilder<usc_exec>(exec).add(std::string_view("/app")));
  }
  static trace::RecordBuilder<usc_task_exit> exit(std::uint32_t serial, std::uint64_t time) {
    usc_task_exit exit{};
    exit.head.task = serial;
    exit.process = serial;
    exit.head.time = time;
    exit.flags = USC_EXIT_GROUP_DEAD;
    return trace::RecordBuilder<usc_task_exit>(exit);
  }
  static trace::RecordBuilder<usc_event> call(std::uint64_t entry, std::uint64_t end,
                                              std::uint8_t how = USC_HOW_RETURNED, std::uint32_t stack = 0,
                                              std::uint32_t serial = 1) {
    usc_event event{};
    event.head.task = serial;
    event.head.time = end;
    event.entry_ns = entry;
    event.how = how;
    event.stack = stack;
    event.abi = USC_ABI_X86_64;
    event.result = 8;
    return trace::RecordBuilder<usc_event>(event);
  }
  static trace::RecordBuilder<usc_hit> hit(usc_source source, std::uint64_t entry, std::uint64_t end,
                                           std::uint8_t how = USC_HOW_HIT, std::uint32_t stack = 0) {
    usc_hit hit{};
    hit.head.task = 1;
    hit.head.time = end;
    hit.entry_ns = entry;
    hit.source = source;
    hit.kind = 1;
    hit.how = how;
    hit.stack = stack;
    hit.args[1] = 77;
    hit.flags = USC_EVENT_NO_RESULT;
    hit.frames = 1;
    const std::uint32_t place = 1;
    return std::move(trace::RecordBuilder<usc_hit>(hit).add_values(std::span(&place, 1)));
  }
  static trace::RecordBuilder<usc_kind> kind(usc_source source, std::string_view texts, std::uint8_t args) {
    usc_kind kind{};
    kind.source = source;
    kind.kind = 1;
    kind.args = args;
    kind.text_bytes = static_cast<__u16>(texts.size());
    return std::move(trace::RecordBuilder<usc_kind>(kind).add(texts));
  }
  static trace::RecordBuilder<usc_kernel_place> place(std::string_view text) {
    usc_kernel_place place{};
    place.place = 1;
    place.text_bytes = static_cast<__u16>(text.size());
    return std::move(trace::RecordBuilder<usc_kernel_place>(place).add(text));
  }
  static trace::RecordBuilder<usc_stack> stack(std::uint32_t id) {
    usc_stack stack{};
    stack.stack = id;
    stack.depth = 1;
    stack.mm = 1;
    const std::uint64_t frame = 0x4000;
    return std::move(trace::RecordBuilder<usc_stack>(stack).add_values(std::span(&frame, 1)));
  }

  // What SQL says of the trace of a closed interval.
  std::string ask(ClosedInterval& closed, const std::string& sql) {
    auto raw = trace::RawReader::open(std::move(closed.trace), "interval");
    if (!raw) return raw.error().what;
    auto store = store::ReusedStore::create(folder_.get());
    if (!store) return store.error().what;
    Plan asked = plan_;
    asked.outer = sql;
    std::unique_ptr<PartialView> partial;
    if (plan_.way == Way::kSums) {
      auto made = PartialView::create(*store, asked);
      if (!made) return made.error().what;
      partial = std::move(*made);
    }
    const auto loaded = store->load(std::move(*raw), {});
    if (!loaded) return loaded.error().what;
    EXPECT_TRUE(loaded->complete);
    EXPECT_EQ(loaded->damaged_bytes, 0U);
    if (partial)
      if (auto done = partial->show(std::move(closed.rows)); !done) return done.error().what;
    if (auto done = store->protect(); !done) return done.error().what;
    auto rows = store::Statement::prepare(store->handle(), sql);
    if (!rows) return rows.error().what;
    std::string text;
    while (*rows->step()) {
      for (int i = 0; i < rows->columns(); i++) text += std::string(i == 0 ? "" : "|") + std::string(rows->text(i));
      text += "\n";
    }
    return text;
  }

  // What the tracer does once what was sent before this time has been seen.
  void rounds(std::uint64_t before) {
    store_->on_round(before);
    if (store_->wants_sums()) store_->sums_are_told();
    if (store_->wants_losses()) store_->on_round(before);
  }

  UniqueFd folder_;
  Plan plan_;
  std::optional<IntervalStore> store_;
  std::vector<ClosedInterval> closed_;
};

constexpr const char* kCounts = "SELECT count(*), min(how), min(process) FROM v_event";

TEST_F(IntervalStoreTest, AnEventBelongsToTheIntervalInWhichItEnded) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 2));
  put(call(kBegin + 10, kBegin + kSecond + 5));  // the next interval's
  put(call(kBegin + kSecond + 7, kBegin + 3 * kSecond + 9));
  rounds(kBegin + kSecond - 1);
  EXPECT_TRUE(closed_.empty()) << "it is not over";
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.from_ns, kBegin);
  EXPECT_EQ(closed_[0].facts.until_ns, kBegin + kSecond);
  EXPECT_EQ(closed_[0].facts.events, 1U);
  EXPECT_EQ(ask(closed_[0], kCounts), "1|returned|app\n");
  rounds(kBegin + 2 * kSecond);
  rounds(kBegin + 3 * kSecond);
  ASSERT_EQ(closed_.size(), 3U);
  EXPECT_EQ(ask(closed_[1], kCounts), "1|returned|app\n");
  EXPECT_EQ(closed_[2].facts.events, 0U);
  EXPECT_EQ(ask(closed_[2], kCounts), "0||\n");
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 4U);
  EXPECT_TRUE(closed_[3].facts.last);
  EXPECT_EQ(ask(closed_[3], kCounts), "1|returned|app\n");
}

TEST_F(IntervalStoreTest, TheLastIntervalLastsUntilTheTracerHasEnded) {
  begin(kSecond, false, 2 * kSecond);
  for (const std::uint64_t after : {kSecond / 2, 3 * kSecond / 2, 2 * kSecond + 5})
    put(call(kBegin + after - 1, kBegin + after));
  rounds(kBegin + 3 * kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.events, 2U);
  EXPECT_EQ(closed_[1].facts.until_ns, kBegin + 2 * kSecond + 5);
}

TEST_F(IntervalStoreTest, AnOpenCallCountsOnceAndNotBeforeTheEnd) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 500, USC_HOW_OPEN));
  put(call(kBegin + 2, kBegin + 600, USC_HOW_ATTACHED, 0, 2));
  put(call(kBegin + 2, kBegin + 700, USC_HOW_RETURNED, 0, 2));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(ask(closed_[0], "SELECT how FROM v_event"), "attached\n") << "it returned, and was under way before";
  put(call(kBegin + 1, kBegin + 1500, USC_HOW_OPEN));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(ask(closed_[1], "SELECT how FROM v_event"), "open\n");
}

TEST_F(IntervalStoreTest, ACallThatReturnsIsNotOpenAnyMore) {
  begin(0);
  put(call(kBegin + 1, kBegin + 500, USC_HOW_OPEN));
  put(call(kBegin + 1, kBegin + 1500));
  put(call(kBegin + 1, kBegin + 1200, USC_HOW_OPEN));  // seen before, told behind
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 1U);
  EXPECT_EQ(ask(closed_[0], "SELECT how FROM v_event"), "returned\n");
}

// The rows of a store: names of kinds and arguments, kernel frames above the user stack.
TEST_F(IntervalStoreTest, HitsAreEventsOfEachInterval) {
  begin(kSecond);
  put(kind(USC_SOURCE_SAMPLE, std::string_view("user\0cpu:int\0period_ns:u64\0", 27), 2));
  put(place("vmlinux+0x10 vfs_read+0x1"));
  put(stack(7));
  put(hit(USC_SOURCE_SAMPLE, kBegin + 5, kBegin + 5, USC_HOW_HIT, 7));
  rounds(kBegin + kSecond);
  put(hit(USC_SOURCE_SAMPLE, kBegin + kSecond + 5, kBegin + kSecond + 5, USC_HOW_HIT, 7));
  rounds(kBegin + 2 * kSecond);
  ASSERT_EQ(closed_.size(), 2U);
  for (ClosedInterval& closed : closed_) {
    EXPECT_EQ(closed.facts.events, 1U);
    EXPECT_EQ(closed.facts.without_stack, 0U);
    EXPECT_EQ(
        ask(closed,
            "SELECT class, v_event.kind, how, v_argument.name, value, depth, substr(folded, -12) FROM v_event JOIN "
            "v_argument ON event_id = v_event.id WHERE arg = 1"),
        "sample|user|hit|period_ns|77|1|vfs_read_[k]\n");
  }
}

TEST_F(IntervalStoreTest, AHitThatLastsBelongsToTheIntervalInWhichItEnds) {
  begin(kSecond, false);
  put(hit(USC_SOURCE_OFFCPU, kBegin + 5, kBegin + kSecond + 5, USC_HOW_RETURNED));
  put(hit(USC_SOURCE_OFFCPU, kBegin + 6, kBegin + 50, USC_HOW_OPEN));
  put(hit(USC_SOURCE_OFFCPU, kBegin + 7, kBegin + 50, USC_HOW_OPEN));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 0U);
  put(hit(USC_SOURCE_OFFCPU, kBegin + 6, kBegin + kSecond + 9, USC_HOW_RETURNED));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(ask(closed_[1], "SELECT kind, how, dur_ns FROM v_event ORDER BY ts_ns"),
            "offcpu_1|returned|1000000000\noffcpu_1|returned|1000000003\noffcpu_1|open|\n");
}

// Sums are not made of hits where they are asked for; where others bring them, they count as what they are.
TEST_F(IntervalStoreTest, HitsAmongSumsKeepTheirClass) {
  plan_ = *plan("SELECT class, kind, how, errno, count(*) FROM v_event GROUP BY 1, 2, 3, 4 ORDER BY 1");
  ASSERT_EQ(plan_.way, Way::kSums);
  begin(kSecond, false);
  put(hit(USC_SOURCE_SAMPLE, kBegin + 5, kBegin + 5));
  put(call(kBegin + 6, kBegin + 7));
  usc_hit function = hit(USC_SOURCE_UFUNCTION, kBegin + 8, kBegin + 9, USC_HOW_RETURNED).record();
  function.frames = 0;
  function.flags = 0;
  function.result = -2;  // no error's number
  put(trace::RecordBuilder<usc_hit>(function));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(ask(closed_[0], plan_.outer),
            "sample|sample_1|hit||1\nsyscall|read|returned||1\nufunction|ufunction_1|returned||1\n");
}

TEST_F(IntervalStoreTest, AnIntervalWaitsForItsStacksAndNotForEver) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 2, USC_HOW_RETURNED, 7));
  rounds(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty());
  put(stack(7));
  rounds(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.without_stack, 0U);
  EXPECT_EQ(ask(closed_[0], "SELECT depth FROM v_event"), "1\n");
  put(call(kBegin + kSecond + 1, kBegin + kSecond + 2, USC_HOW_RETURNED, 7));  // known from before
  put(call(kBegin + kSecond + 3, kBegin + kSecond + 4, USC_HOW_RETURNED, 8));
  rounds(kBegin + 2 * kSecond + IntervalStore::kStackPatienceNs);
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.without_stack, 1U);
  EXPECT_EQ(ask(closed_[1], "SELECT depth FROM v_event"), "1\n\n");
}

TEST_F(IntervalStoreTest, NobodyWaitsForStacksThatAreNotAskedFor) {
  begin(kSecond, false);
  put(call(kBegin + 1, kBegin + 2, USC_HOW_RETURNED, 7));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.without_stack, 0U);
}

TEST_F(IntervalStoreTest, WhatTheKernelSumsBehindTheTurnIsOfTheNextInterval) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(0, 0, {test::number(0, 0)});
  begin(kSecond, false);
  const auto row = [](std::uint64_t events) {
    usc_query_row sums{};
    sums.events = events;
    return sums;
  };
  store_->add(row(1));
  store_->on_round(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty()) << "sums are asked for first";
  EXPECT_TRUE(store_->wants_sums());
  EXPECT_FALSE(store_->wants_sums());
  store_->add(row(2));
  store_->sums_are_told();
  store_->add(row(4));
  EXPECT_TRUE(store_->wants_losses());
  store_->on_round(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 3U);
  store_->add(row(8));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.events, 12U);
}

TEST_F(IntervalStoreTest, LossesStandWithTheIntervalThatIsClosedThen) {
  begin(kSecond);
  store_->on_round(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty()) << "losses are asked for first";
  EXPECT_TRUE(store_->wants_losses());
  EXPECT_FALSE(store_->wants_losses());
  usc_loss loss{};
  loss.head.time = kBegin + kSecond + 100;
  loss.count = 12;
  loss.cause = USC_LOSS_RING_FULL_EVENT;
  put(trace::RecordBuilder<usc_loss>(loss));
  store_->on_round(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.lost, 12U);
  rounds(kBegin + 2 * kSecond);
  EXPECT_EQ(closed_[1].facts.lost, 0U);
}

TEST_F(IntervalStoreTest, TasksAreForgottenWhenTheyHaveEndedAndNotBefore) {
  begin(kSecond);
  put(task(2, 2));
  put(exec(2));
  put(exit(2, kBegin + 10));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT count(*) FROM process"), "2\n");
  rounds(kBegin + 2 * kSecond);  // a late event of its last call would be in this one
  EXPECT_EQ(ask(closed_[1], "SELECT count(*) FROM process"), "2\n");
  rounds(kBegin + 3 * kSecond);
  EXPECT_EQ(ask(closed_[2], "SELECT (SELECT count(*) FROM process), (SELECT group_concat(name) FROM image)"),
            "1|app\n");
}

TEST_F(IntervalStoreTest, ANameThatComesBeforeItsTaskIsTheTasks) {
  begin(kSecond, false);
  // Set on another CPU than the one that forked the task, whose ring is read later.
  put(name(2, "worker", kBegin + 1));
  put(task(2));
  put(call(kBegin + 2, kBegin + 3, USC_HOW_RETURNED, 0, 2));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT thread FROM v_event"), "worker\n");
}

// Event by event, by the time at which the call began; also of calls that began in an interval before.
TEST_F(IntervalStoreTest, CallsHaveTheNameThatTheirThreadHadWhenTheyBegan) {
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
TEST_F(IntervalStoreTest, RowsHaveTheNamesOfTheirGuises) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_GUISE), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kTask, ""}, {Key::kGuise, ""}};
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
TEST_F(IntervalStoreTest, GuisesAreBoundedByWhatTheAnswerShows) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_GUISE), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kTask, ""}, {Key::kGuise, ""}};
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
    store_->sums_are_told();
  }
  EXPECT_LE(most, 3 * kMostGuises + 1000);
  for (const usc_query_row& row : in_kernel) store_->add(row);
  store_->sums_are_told();
  const char* const question =
      "SELECT tid, thread, process, sum(n) FROM partial WHERE thread NOT LIKE 'idle%' GROUP BY tid, thread, process "
      "ORDER BY tid, thread";
  plan_.outer = question;
  ASSERT_TRUE(store_->finish());
  EXPECT_EQ(ask(closed_[0], question),
            "100|job-0|app|33334\n100|job-1|app|33333\n100|job-2|app|33333\n101|job-1|app|200\n");
}

// Of very many different ones, one thread's do not take the place of others'.
TEST_F(IntervalStoreTest, NamesBeyondTheBoundAreOneAndTold) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_GUISE), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kTask, ""}, {Key::kGuise, ""}};
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
    if (i == kRenames - 1 || store_->wants_sums()) store_->sums_are_told();
  }
  EXPECT_LE(most, 2 * kMostGuiseNames + 1000);
  const char* const question =
      "SELECT count(*) > 60000, sum(n), sum(iif(thread = '?', n, 0)) > 60000, sum(iif(thread = 'late', n, 0)) "
      "FROM (SELECT tid, thread, sum(n) AS n FROM partial GROUP BY tid, thread)";
  plan_.outer = question;
  ASSERT_TRUE(store_->finish());
  EXPECT_GT(closed_[0].facts.names_beyond, 60'000U);
  EXPECT_EQ(ask(closed_[0], question), "1|200000|1|9\n");
}

// Event by event: the name of those beyond is not another one's.
TEST_F(IntervalStoreTest, NamesOfEventsBeyondTheBoundAreNone) {
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
TEST_F(IntervalStoreTest, RowsHaveTheUsersOfTheirGuises) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_GUISE), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kTask, ""}, {Key::kGuise, ""}};
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

TEST_F(IntervalStoreTest, RowsHaveTheNamesThatEventsHave) {
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

TEST_F(IntervalStoreTest, AnEventBeyondSixtyFourBitsIsARowByItself) {
  plan_.way = Way::kSums;
  plan_.program = results_by_kind();
  usc_query& program = plan_.program;  // the measure is result + result
  program.insn[program.length - 1] = {USC_QUERY_ADD, 2, 2, 2, 0, 0};
  program.insn[program.length++] = {USC_QUERY_MEASURE, 0, 2, 0, 0, 0};
  plan_.keys = {{Key::kSource, ""}, {Key::kKind, ""}, {Key::kAbi, ""}};
  plan_.measures = {"result + result"};
  plan_.whole =
      "SELECT 1 AS n, (result + result) IS NOT NULL AS c0, result + result AS s0, result + result AS mn0, "
      "result + result AS mx0, kind, class FROM v_event";
  begin(kSecond, false);
  put(call(kBegin + 1, kBegin + 2));
  auto large = call(kBegin + 3, kBegin + 4);
  reinterpret_cast<usc_event&>(large.head()).result = std::numeric_limits<std::int64_t>::max();
  put(std::move(large));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT kind, sum(n), typeof(sum(s0)), min(mn0) FROM partial GROUP BY kind"),
            "read|2|real|16\n");
}

// A question that names no time has none read: then events have small numbers for times, as those of rows.
TEST_F(IntervalStoreTest, WholeEventsWithoutTimesComeBehindThoseOfRows) {
  plan_.way = Way::kSums;
  plan_.program = results_by_kind();
  usc_query& program = plan_.program;  // the measure is result + result
  program.insn[program.length - 1] = {USC_QUERY_ADD, 2, 2, 2, 0, 0};
  program.insn[program.length++] = {USC_QUERY_MEASURE, 0, 2, 0, 0, 0};
  program.reads = usc_query_reads(&program);
  plan_.keys = {{Key::kSource, ""}, {Key::kKind, ""}, {Key::kAbi, ""}};
  plan_.measures = {"result + result"};
  plan_.whole =
      "SELECT 1 AS n, (result + result) IS NOT NULL AS c0, result + result AS s0, result + result AS mn0, "
      "result + result AS mx0, kind, class FROM v_event";
  begin(kSecond, false);
  std::uint64_t number = 0;
  for (const std::uint32_t kind : {0, 1, 2, 3})
    for (const std::int64_t result : {std::int64_t{8}, std::numeric_limits<std::int64_t>::max()}) {
      number++;
      auto some = call(number, number);
      reinterpret_cast<usc_event&>(some.head()).kind = kind;
      reinterpret_cast<usc_event&>(some.head()).result = result;
      put(std::move(some));
    }
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT kind, sum(n), sum(typeof(s0) = 'real'), min(mn0) FROM partial GROUP BY kind"),
            "close|2|1|16\nopen|2|1|16\nread|2|1|16\nwrite|2|1|16\n");
}

// But not those of calls that are under way, nor those that the kernel side told of since it was asked.
TEST_F(IntervalStoreTest, StacksThatNoEventCanNameAreForgotten) {
  begin(kSecond, true, 0, 2);
  put(stack(1));
  put(stack(2));
  EXPECT_FALSE(store_->wants_stacks());
  put(stack(3));
  put(task(2));
  put(call(kBegin + 1, kBegin + 1, USC_HOW_OPEN, 2));
  rounds(kBegin + 10);
  EXPECT_TRUE(store_->wants_stacks());
  EXPECT_FALSE(store_->wants_stacks()) << "it has been asked";
  store_->stacks_from(trace::StackId(10));
  const auto unknown_in_second = [&](std::uint64_t second, std::uint32_t stack) {
    put(call(kBegin + second * kSecond + 1, kBegin + second * kSecond + 2, USC_HOW_RETURNED, stack, 2));
    rounds(kBegin + second * kSecond + kSecond + IntervalStore::kStackPatienceNs);
    return closed_.back().facts.without_stack;
  };
  EXPECT_EQ(unknown_in_second(0, 1), 0U) << "a call that was under way when the kernel side was asked";
  put(stack(10));
  EXPECT_EQ(unknown_in_second(1, 3), 0U);
  for (std::uint64_t second = 2; second < 7; second++) EXPECT_EQ(unknown_in_second(second, 10), 0U);
  EXPECT_EQ(unknown_in_second(7, 3), 1U);
  EXPECT_EQ(unknown_in_second(8, 10), 0U);
  put(call(kBegin + 1, kBegin + 9 * kSecond + 1, USC_HOW_RETURNED, 2));
  EXPECT_EQ(unknown_in_second(9, 10), 0U);
  put(stack(11));
  EXPECT_FALSE(store_->wants_stacks()) << "2, 10 and 11 are kept: fewer than twice as many as were in use";
  put(stack(12));
  put(stack(13));
  EXPECT_TRUE(store_->wants_stacks());
}

// Only what names stand for needs an event: 1000 rows of two tasks are of two.
TEST_F(IntervalStoreTest, RowsThatDifferInNumbersShareAnEvent) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_RESULT), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kExpression, "k0"}, {Key::kTask, ""}};
  begin(kSecond, false);
  put(task(2));
  for (std::uint64_t i = 0; i < 1000; i++) {
    auto some = call(kBegin + i, kBegin + i + 1, USC_HOW_RETURNED, 0, i % 2 == 0 ? 1 : 2);
    reinterpret_cast<usc_event&>(some.head()).result = static_cast<std::int64_t>(i);
    put(std::move(some));
  }
  rounds(kBegin + kSecond);
  EXPECT_EQ(closed_[0].rows.size(), 1000U);
  EXPECT_LT(closed_[0].bytes, 1000 * sizeof(usc_event));
  EXPECT_EQ(ask(closed_[0],
                "SELECT (SELECT count(*) FROM main.event), tid, count(*), sum(n), sum(k0) FROM partial GROUP BY tid"),
            "2|100|500|500|249500\n2|101|500|500|250000\n");
}

TEST_F(IntervalStoreTest, TheEventsOfRowsSayWhatTheKeySays) {
  usc_query_key key{};
  const std::vector<KeyWord> keys{{Key::kHow, ""}, {Key::kError, ""}, {Key::kTask, ""}, {Key::kStack, ""}};
  key.word[0] = USC_HOW_ATTACHED;
  key.word[1] = 2;
  key.word[2] = 9;
  key.word[3] = 5;
  const usc_event event = event_of(key, keys, 3);
  EXPECT_EQ(event.entry_ns, 4U);
  EXPECT_EQ(event.result, -2);
  EXPECT_EQ(event.how, USC_HOW_RETURNED);
  EXPECT_EQ(event.flags, USC_EVENT_ATTACHED);
  EXPECT_EQ(event.head.task, 9U);
  EXPECT_EQ(event.stack, 5U);
  EXPECT_EQ(stack_of(key, keys), 5U);
  key.word[1] = 0;
  EXPECT_EQ(event_of(key, keys, 0).flags, USC_EVENT_ATTACHED | USC_EVENT_NO_RESULT);
}

}  // namespace
}  // namespace uscope::query
