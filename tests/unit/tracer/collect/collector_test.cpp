// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/collector.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/frame_word.h"
#include "tests/unit/trace/memory_sink.h"
#include "tests/unit/tracer/own_process.h"
#include "trace/loss_class.h"
#include "tracer/collect/observer.h"

namespace uscope::tracer {
namespace {

class CollectorTest : public testing::Test {
 protected:
  void SetUp() override { config_.scope = {USC_MODE_ALL_ALL, 256}; }

  Collector& collector() {
    if (!collector_) collector_.emplace(backend_, files_, maker_, sink_, config_, nullptr);
    return *collector_;
  }

  void announce_mappings() {
    for (const usc_map& map : process_.maps()) backend_.queue(map);
    for (const auto& [serial, mapping] : process_.files()) backend_.records.push_back(file_record(serial, mapping));
  }
  void queue(OwnSample& sample, std::uint32_t stack) {
    sample.record().stack = stack;
    sample.record().head.cpu = 1;
    sample.record().head.seq = 40 + stack;
    backend_.records.push_back(sample.bytes);
  }

  // A walk of stack 3, of a task of this process.
  void queue_of_process(std::uint32_t process, std::uint32_t pid) {
    usc_task task{};
    task.head.task = 8;
    task.process = process;
    task.pid = pid;
    task.flags = USC_TASK_PROCESS;
    backend_.queue(task);
    OwnSample sample = take_sample();
    sample.record().head.task = 8;
    queue(sample, 3);
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> losses() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;
    for (const usc_loss& loss : sink_.all<usc_loss>()) sums[{loss.cause, loss.process}] += loss.count;
    return sums;
  }

  usc_config config_{};
  FakeBackend backend_;
  symbolizer::RowCache cache_{""};
  RowBuildQueue maker_{cache_, 0};
  FileTable files_{backend_, maker_, {}};
  OwnProcess process_;
  MemorySink sink_;
  std::optional<Collector> collector_;
};

TEST_F(CollectorTest, ADeferredWalkIsFinishedOneRoundLater) {
  OwnSample sample = take_sample();
  queue(sample, 3);  // before the records that it needs
  announce_mappings();
  ASSERT_TRUE(collector().round());
  EXPECT_TRUE(collector().has_pending());
  EXPECT_TRUE(sink_.all<usc_stack>().empty());
  ASSERT_TRUE(collector().round());
  EXPECT_FALSE(collector().has_pending());
  std::vector<std::string> tails;
  const auto stacks = sink_.all<usc_stack>(&tails);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].stack, 3U);
  EXPECT_EQ(stacks[0].deferred, 1);
  EXPECT_EQ(stacks[0].head.cpu, 1);  // in the sample's place
  EXPECT_EQ(stacks[0].head.seq, 43U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  std::vector<std::uint64_t> frames(stacks[0].depth);
  std::memcpy(frames.data(), tails[0].data(), frames.size() * 8);
  frames.erase(frames.begin());
  EXPECT_EQ(frames, process_.frames_of(sample.addresses));
  EXPECT_TRUE(sink_.all<usc_sample>().empty());
  EXPECT_EQ(collector().figures().deferred, 1U);
}

TEST_F(CollectorTest, AWalkWaitsForAMappingThatIsToldOfLate) {
  OwnSample sample = take_sample();
  queue(sample, 3);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  EXPECT_TRUE(collector().has_pending());
  announce_mappings();
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  ASSERT_TRUE(collector().write_losses());
  EXPECT_TRUE(losses().empty());
}

TEST_F(CollectorTest, AMappingThatNobodyTellsOfIsAskedForAtTheEnd) {
  queue_of_process(6, 4711);
  backend_.on_asked_for_mappings = [this](std::uint32_t pid) {
    EXPECT_EQ(pid, 4711U);
    announce_mappings();
  };
  ASSERT_TRUE(collector().round());
  collector().close();
  for (int i = 0; i < 100 && collector().has_pending(); i++) ASSERT_TRUE(collector().round());
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  ASSERT_TRUE(collector().write_losses());
  EXPECT_TRUE(losses().empty());
}

TEST_F(CollectorTest, AMappingThatNobodyTellsOfIsAskedForAfterSomeTime) {
  OwnSample sample = take_sample();
  queue(sample, 3);
  int asked = 0;
  backend_.on_asked_for_mappings = [&](std::uint32_t) { asked++; };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  ASSERT_TRUE(collector().round());
  while (collector().has_pending() && std::chrono::steady_clock::now() < until) ASSERT_TRUE(collector().round());
  EXPECT_EQ(asked, 1);
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_BROKEN + int{USC_BROKEN_NO_MAPPING});
}

// The process's mappings are locked each time that they are to be told.
TEST_F(CollectorTest, AMappingThatCouldNotBeToldIsAskedForAgain) {
  OwnSample sample = take_sample();
  queue(sample, 3);
  int asked = 0;
  backend_.mappings_are_locked = true;
  backend_.on_asked_for_mappings = [&](std::uint32_t) {
    if (++asked < 4) return;
    backend_.mappings_are_locked = false;
    announce_mappings();
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  ASSERT_TRUE(collector().round());
  while (collector().has_pending() && std::chrono::steady_clock::now() < until) ASSERT_TRUE(collector().round());
  EXPECT_EQ(asked, 4);
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  ASSERT_TRUE(collector().write_losses());
  EXPECT_TRUE(losses().empty());
}

TEST_F(CollectorTest, ACopyOfUnknownMappingsIsAskedForUntilItCouldBeGoneThrough) {
  usc_task child{};
  child.head.task = 9;
  child.process = 7;
  child.pid = 4712;
  child.flags = USC_TASK_PROCESS | USC_TASK_FORKED;
  backend_.queue(child);
  int asked = 0;
  backend_.on_asked_for_mappings = [&](std::uint32_t pid) {
    EXPECT_EQ(pid, 4712U);
    asked++;
  };
  ASSERT_TRUE(collector().round());
  EXPECT_EQ(asked, 0);
  child.flags |= USC_TASK_UNMAPPED;
  backend_.queue(child);
  backend_.mappings_are_locked = true;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (asked < 3 && std::chrono::steady_clock::now() < until) ASSERT_TRUE(collector().round());
  EXPECT_EQ(asked, 3);
  backend_.mappings_are_locked = false;
  while (asked < 4 && std::chrono::steady_clock::now() < until) ASSERT_TRUE(collector().round());
  const auto rest = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < rest) ASSERT_TRUE(collector().round());
  EXPECT_EQ(asked, 4);
}

TEST_F(CollectorTest, AWalkThatNothingCanFinishIsToldAsLoss) {
  queue_of_process(6, 1);
  ASSERT_TRUE(collector().round());
  collector().close();
  for (int i = 0; i < 3; i++) ASSERT_TRUE(collector().round());
  EXPECT_FALSE(collector().has_pending());
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_BROKEN + int{USC_BROKEN_NO_MAPPING});
  ASSERT_TRUE(collector().write_losses());
  EXPECT_EQ(losses()[(std::pair<std::uint32_t, std::uint32_t>{USC_LOSS_DEFERRED_GIVEN_UP, 6})], 1U);
}

TEST_F(CollectorTest, ASampleOfVerifyIsComparedWithTheStackOfItsId) {
  config_.verify_every = 1;
  announce_mappings();
  OwnSample walked = take_sample();
  OwnSample compared = walked;
  queue(walked, 3);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  compared.record().verify = 1;
  queue(compared, 3);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  auto outcomes = sink_.all<usc_verify>();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].first_difference, -1);
  EXPECT_EQ(outcomes[0].oracle_depth, walked.addresses.size() + 1);

  // A stack that is not true is found out, by its position.
  usc_stack wrong{};
  wrong.stack = 4;
  wrong.depth = 2;
  wrong.ended = USC_ENDED_ROOT;
  const std::array<std::uint64_t, 2> frames = {process_.frame_of(compared.record().pc + 1) - 1 + USC_FRAME_EXACT,
                                               test::frame_word(2, 0x40, 0)};
  backend_.queue(wrong, {reinterpret_cast<const char*>(frames.data()), sizeof(frames)});
  queue(compared, 4);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  outcomes = sink_.all<usc_verify>();
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[1].first_difference, 1);
  EXPECT_EQ(collector().figures().verified, 2U);
  EXPECT_EQ(collector().figures().differing, 1U);
}

TEST_F(CollectorTest, ASampleThatCannotBeComparedIsTold) {
  config_.verify_every = 1;
  OwnSample sample = take_sample();
  sample.record().verify = 1;
  queue(sample, 99);  // no such stack
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  EXPECT_EQ(losses()[(std::pair<std::uint32_t, std::uint32_t>{USC_LOSS_VERIFY_SKIPPED, 0})], 1U);
}

TEST_F(CollectorTest, LossesAreWrittenOnceAndByProcessWhereKnown) {
  backend_.counters[0].loss[USC_LOSS_RING_FULL_EVENT] = 5;
  backend_.counters[1].loss[USC_LOSS_RING_FULL_EVENT] = 4;
  backend_.losses_by_process = {{{.process = 3, .cause = USC_LOSS_RING_FULL_EVENT}, 6}};
  ASSERT_TRUE(collector().write_losses());
  ASSERT_TRUE(collector().write_losses());
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(losses(),
            (std::map<Key, std::uint64_t>{{{USC_LOSS_RING_FULL_EVENT, 3}, 6}, {{USC_LOSS_RING_FULL_EVENT, 0}, 3}}));
  EXPECT_EQ(collector().figures().lost, 9U);
  backend_.counters[1].loss[USC_LOSS_RING_FULL_EVENT] = 6;
  ASSERT_TRUE(collector().write_losses());
  EXPECT_EQ(losses()[(Key{USC_LOSS_RING_FULL_EVENT, 0})], 5U);
}

// The same number as the loader's (loader_test.cpp): the causes whose class counts events, and no other.
TEST_F(CollectorTest, OnlyMissingEventsAreShownAsLost) {
  std::uint64_t events = 0;
  for (std::uint32_t cause = 0; cause < USC_LOSS_COUNT; cause++) {
    backend_.counters[0].loss[cause] = std::uint64_t{1} << cause;
    if (trace::counts_events(trace::loss_class(cause))) events += std::uint64_t{1} << cause;
  }
  ASSERT_TRUE(collector().write_losses());
  EXPECT_EQ(collector().figures().lost, events);
}

TEST_F(CollectorTest, AProcessThatDoesNotAnswerMayHaveARing) {
  auto scouts = Scouts::start();
  ASSERT_TRUE(scouts) << scouts.error().what;
  const auto pid = static_cast<__u32>(getpid());
  usc_task task{};
  task.head.task = 8;
  task.process = 2;
  task.pid = task.tid = pid;
  usc_exec ran_before{};
  ran_before.head.task = 8;
  ran_before.process = 2;
  collector_.emplace(backend_, files_, maker_, sink_, config_, nullptr, nullptr, scouts->get());
  backend_.queue(task);
  backend_.queue(ran_before);
  ASSERT_TRUE(collector().round());
  EXPECT_TRUE(sink_.all<usc_io_uring>().empty());
  (*scouts)->add_unresponsive(pid, 1);
  backend_.queue(ran_before);
  ASSERT_TRUE(collector().round());
  const auto rings = sink_.all<usc_io_uring>();
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(rings[0].process, 2U);
  EXPECT_EQ(rings[0].not_known, 1U);
  collector_.reset();
}

TEST_F(CollectorTest, FilesAreDescribedWithTheirRowsOrTheTrouble) {
  announce_mappings();
  OwnMapping gone = process_.files().back().second;  // a library: the executable is found by /proc/PID/exe
  gone.path = "/nowhere/at/all";
  gone.start = gone.end = 0;
  backend_.records.push_back(file_record(500, gone));
  ASSERT_TRUE(collector().round());
  std::vector<std::string> tails;
  const auto infos = sink_.all<usc_file_info>(&tails);
  ASSERT_EQ(infos.size(), process_.files().size() + 1);
  EXPECT_EQ(infos[0].state, USC_FILE_READY);
  EXPECT_GT(infos[0].rows, 1U);
  EXPECT_EQ(infos[0].trouble_bytes, 0);
  EXPECT_EQ(infos.back().state, USC_FILE_UNREACHABLE);
  EXPECT_EQ(infos.back().error, ENOENT);
  EXPECT_EQ(tails.back().substr(0, infos.back().path_bytes + infos.back().trouble_bytes),
            "/nowhere/at/allNo such file or directory");
}

TEST_F(CollectorTest, RowsWithoutRoomAreToldAndWalksGoOn) {
  backend_.has_room = false;
  announce_mappings();
  OwnSample sample = take_sample();
  queue(sample, 3);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  EXPECT_EQ(losses()[(std::pair<std::uint32_t, std::uint32_t>{USC_LOSS_ROWS_MEMORY, 0})], process_.files().size());
  for (const usc_file_info& info : sink_.all<usc_file_info>()) EXPECT_EQ(info.state, USC_FILE_USER_ONLY);
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
}

// Rows that a thread makes: the walk waits for them, however many rounds that takes, and so does its comparison.
TEST_F(CollectorTest, AWalkWaitsForRowsThatAreBeingMade) {
  config_.verify_every = 1;
  RowBuildQueue maker(cache_, 1);
  FileTable files(backend_, maker, {});
  Collector collector(backend_, files, maker, sink_, config_, nullptr);
  OwnSample sample = take_sample();
  OwnSample compared = sample;
  compared.record().verify = 1;
  queue(sample, 3);
  queue(compared, 3);
  announce_mappings();
  ASSERT_TRUE(collector.round());
  collector.close();
  while (collector.has_pending()) ASSERT_TRUE(collector.round());
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  EXPECT_GT(stacks[0].depth, 8);
  EXPECT_EQ(collector.figures().verified, 1U);
  EXPECT_EQ(collector.figures().differing, 0U);
  ASSERT_TRUE(collector.write_losses());
  EXPECT_TRUE(losses().empty());
}

// Written only when tracing has ended, it waits for the round that looks its handler up.
TEST_F(CollectorTest, ASignalIsWrittenWithTheFileOfItsHandler) {
  usc_signal signal{};
  signal.number = 15;
  signal.flags = USC_SIGNAL_DELIVERED;
  const usc_map map = process_.maps().front();
  signal.mm = map.mm;
  signal.handler = map.start + 16;
  signal.head.time = map.head.time + 1;
  backend_.queue(signal);
  backend_.queue(map);
  collector().close();
  ASSERT_TRUE(collector().round());
  EXPECT_TRUE(collector().has_pending());
  ASSERT_TRUE(collector().round());
  EXPECT_FALSE(collector().has_pending());
  const auto written = sink_.all<usc_signal>();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(usc_frame_file(written[0].handler_frame), map.file);
  EXPECT_EQ(collector().figures().events, 1U);
}

class SumsObserver final : public RecordObserver {
 public:
  void on_event(const usc_event&, const TaskInfo&) override {}
  void on_sums(const usc_query_row& row, const usc_query_steps*) override { events.push_back(row.events); }
  std::vector<std::uint64_t> events;
};

// A row that gave way after the turn belongs to the next time, however early it is met.
TEST_F(CollectorTest, EachPartialRowIsToldInItsTime) {
  SumsObserver observer;
  Collector asking(backend_, files_, maker_, sink_, config_, &observer);
  const auto partial = [](std::uint32_t turn, std::uint64_t events) {
    usc_partial record{};
    record.turn = turn;
    record.row.events = events;
    return record;
  };
  const auto row = [](std::uint64_t events) {
    usc_query_row sums{};
    sums.events = events;
    return sums;
  };
  backend_.queue(partial(0, 1));
  ASSERT_TRUE(asking.round());
  EXPECT_EQ(observer.events, (std::vector<std::uint64_t>{1}));
  backend_.sums = {row(2)};
  backend_.queue(partial(0, 3));
  backend_.queue(partial(1, 4));
  ASSERT_TRUE(asking.take_sums());
  EXPECT_EQ(observer.events, (std::vector<std::uint64_t>{1, 2, 3}));
  asking.go_on_with_sums();
  EXPECT_EQ(observer.events, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  backend_.queue(partial(1, 5));
  backend_.queue(partial(0, 6));
  backend_.sums = {row(7)};
  ASSERT_TRUE(asking.take_sums());
  EXPECT_EQ(observer.events, (std::vector<std::uint64_t>{1, 2, 3, 4, 7, 5}));
  EXPECT_EQ(sink_.all<usc_partial>().size(), 5U);  // their numbers are those of the sequence
}

TEST_F(CollectorTest, RecordsThatAreTooShortAreDropped) {
  usc_record head{};
  head.type = USC_RECORD_EVENT;
  head.size = sizeof(head);
  std::vector<char> bytes(sizeof(head));
  std::memcpy(bytes.data(), &head, sizeof(head));
  backend_.records.push_back(bytes);
  OwnSample sample = take_sample();
  sample.record().bytes = 0xffffffff;  // more than the record holds
  queue(sample, 3);
  ASSERT_TRUE(collector().round());
  ASSERT_TRUE(collector().round());
  EXPECT_EQ(collector().figures().events, 0U);
  EXPECT_TRUE(sink_.all<usc_stack>().empty());
}

}  // namespace
}  // namespace uscope::tracer
