// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls of which a question asks neither arguments nor stacks, however they begin and end: the kernel side tells of
// them without their threads' entries, and counts many of them without rows.
#include <bpf/bpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bpf/shared.h"
#include "tests/support/guest.h"
#include "tests/support/question_maker.h"
#include "tests/system/query/call_ways.h"
#include "tests/system/query/kernel_sums_case.h"
#include "uscope/query_counts.h"

namespace uscope::tracer {
namespace {

using test::compute;
using test::field;
using test::give;
using test::number;
using test::question_of;

// Of calls by number: how they end, and how long they take.
usc_query by_end() {
  return question_of(
      3, 1,
      {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_HOW), give(USC_QUERY_KEY, 1, 1),
       field(2, USC_QUERY_ERROR), give(USC_QUERY_KEY, 2, 2), field(3, USC_QUERY_TOOK), give(USC_QUERY_MEASURE, 3, 0)});
}

constexpr int of(usc_query_field field) {
  return USC_QUERY_OF_FIELD + field;
}

// The same, but times by their steps.
usc_query by_end_and_steps() {
  return question_of(4, 0,
                     {give(USC_QUERY_KEY, of(USC_QUERY_KIND), 0), give(USC_QUERY_KEY, of(USC_QUERY_HOW), 1),
                      give(USC_QUERY_KEY, of(USC_QUERY_ERROR), 2), give(USC_QUERY_KEY_STEP, of(USC_QUERY_TOOK), 3)});
}

usc_query by_number() {
  return question_of(1, 0, {give(USC_QUERY_KEY, of(USC_QUERY_KIND), 0)});
}

// The contents of a map of the programs of this process, which is mapped: one look-up for each entry would take longer
// in a guest than a call lasts. `read` is told of its values.
template <typename Value>
void read_map(std::string_view name, const std::function<void(std::span<const Value>)>& read) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    bpf_map_info info{};
    __u32 bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &bytes) != 0 || info.name != name) continue;
    const std::size_t size = info.max_entries * sizeof(Value);
    void* const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    EXPECT_NE(mapped, MAP_FAILED) << std::strerror(errno);
    if (mapped == MAP_FAILED) continue;
    read({static_cast<const Value*>(mapped), info.max_entries});
    munmap(mapped, size);
  }
}

// Of calls whose number alone is asked, the kernel side counts numbers: with a condition on arguments, and without one.
TEST_F(KernelSums, CallsAreCountedByNumber) {
  const int kind = USC_QUERY_OF_FIELD + USC_QUERY_KIND;
  const int abi = USC_QUERY_OF_FIELD + USC_QUERY_ABI;
  const usc_query all = question_of(2, 0, {give(USC_QUERY_KEY, abi, 0), give(USC_QUERY_KEY, kind, 1)});
  const usc_query some =
      question_of(1, 0,
                  {number(1, 100'001), compute(USC_QUERY_EQUAL, 2, USC_QUERY_OF_FIELD + USC_QUERY_ARG0, 1),
                   number(3, 5), compute(USC_QUERY_LESS, 4, USC_QUERY_OF_FIELD + USC_QUERY_ARG0, 3),
                   compute(USC_QUERY_EITHER, 5, 2, 4), give(USC_QUERY_UNLESS, 5), give(USC_QUERY_KEY, kind, 0)});
  ASSERT_TRUE(usc_query_counts_calls(&all));
  ASSERT_TRUE(usc_query_counts_calls(&some));
  expect_equal(some);
  if (!kernel_only()) expect_equal(all);
}

// Also those that never return, have no entry, go on after a stop, or are of a thread that has just begun or been
// executed.
TEST_F(KernelSums, CallsAreCountedHoweverTheyBeginAndEnd) {
  const usc_query query = by_number();
  ASSERT_TRUE(usc_query_counts_calls(&query));
  std::set<std::uint64_t> execs;
  for (const bool in_kernel : {false, true}) {
    SCOPED_TRACE(in_kernel);
    Summing summing(query);
    record_calls(query, in_kernel, summing, {.work = "ways"});
    std::map<std::int64_t, std::uint64_t> counts;
    for (const auto& [key, sums] : summing.sums) counts[key[0]] = sums.events;
    for (const auto& [number, calls] : test::calls_in_all_ways())
      EXPECT_EQ(counts[number], static_cast<std::uint64_t>(calls)) << "system call " << number;
    execs.insert(counts[SYS_execve]);
  }
  EXPECT_EQ(execs.size(), 1U);
}

// Likewise those that are asked of when they return, by how they end and how long they take: as a sum, or by steps.
TEST_F(KernelSums, CallsAreAskedOfHoweverTheyBeginAndEnd) {
  for (const usc_query& query : {by_end(), by_end_and_steps()}) {
    if (kernel_only() && query.measures != 0) continue;
    ASSERT_FALSE(usc_query_is_of_beginnings(&query));
    ASSERT_TRUE(usc_query_is_of_brief_calls(&query));
    for (const bool in_kernel : {false, true}) {
      SCOPED_TRACE(testing::Message() << in_kernel << ", words of the key: " << query.keys);
      Summing summing(query);
      record_calls(query, in_kernel, summing, {.work = "ways"});
      std::map<std::array<std::int64_t, 3>, std::array<std::int64_t, 2>> counts;  // and of these, those with a duration
      std::map<std::int64_t, long> calls;
      for (const auto& [key, sums] : summing.sums) {
        const auto events = static_cast<std::int64_t>(sums.events);
        const bool in_steps = query.keys > 3;
        auto& [all, with_time] = counts[{key[0], key[1], key[2]}];
        all += events;
        with_time += !in_steps ? sums.of[0][0] : key.back() == 0 ? events : 0;
        calls[key[0]] += events;
        if (key[0] != SYS_nanosleep) continue;
        const std::int64_t slept = in_steps ? key[3] : sums.of[0][1];
        EXPECT_GE(slept, test::kLongSleepNs);
        EXPECT_LT(slept, 3 * test::kLongSleepNs);
      }
      for (const auto& [number, expected] : test::calls_in_all_ways())
        EXPECT_EQ(calls[number], expected) << "system call " << number;
      for (const test::CallEnds& ends : test::ends_in_all_ways()) {
        SCOPED_TRACE(testing::Message() << "system call " << ends.number << ", " << ends.how << ", " << ends.error);
        const auto& [all, with_time] = counts[{ends.number, ends.how, ends.error}];
        EXPECT_EQ(all, ends.calls);
        EXPECT_EQ(with_time, ends.how == USC_HOW_RETURNED ? ends.calls : 0);
      }
      // It was told of on its own, as a call under way is.
      EXPECT_EQ(summing.told_open[SYS_nanosleep], 1U);
    }
  }
}

// Of some calls, by what is the same each time: to the step.
TEST_F(KernelSums, CallsAreCountedByTheirResults) {
  const usc_query query =
      question_of(3, 0,
                  {give(USC_QUERY_KEY, of(USC_QUERY_KIND), 0), give(USC_QUERY_KEY_STEP, of(USC_QUERY_RESULT), 1),
                   give(USC_QUERY_KEY, of(USC_QUERY_ERROR), 2)});
  const usc_query without_steps =
      question_of(2, 0, {give(USC_QUERY_KEY, of(USC_QUERY_RESULT), 1), give(USC_QUERY_KEY, of(USC_QUERY_KIND), 0)});
  const usc_query by_all =
      question_of(8, 0,
                  {give(USC_QUERY_KEY, of(USC_QUERY_SOURCE), 7), give(USC_QUERY_KEY, of(USC_QUERY_KIND), 6),
                   give(USC_QUERY_KEY, of(USC_QUERY_ABI), 5), give(USC_QUERY_KEY, of(USC_QUERY_HOW), 4),
                   give(USC_QUERY_KEY, of(USC_QUERY_TASK), 3), give(USC_QUERY_KEY, of(USC_QUERY_IMAGE), 2),
                   give(USC_QUERY_KEY, of(USC_QUERY_ERROR), 1), give(USC_QUERY_KEY_STEP, of(USC_QUERY_RESULT), 0)});
  for (usc_query asked : {query, without_steps, by_all})
    for (const __u16 rows : {USC_QUERY_ROWS, USC_QUERY_ROWS_LEAST}) {
      if (kernel_only() && (rows != USC_QUERY_ROWS_LEAST || asked.keys != 3)) continue;
      asked.rows = rows;
      SCOPED_TRACE(testing::Message() << asked.keys << " words, " << rows << " rows");
      std::array<std::map<Key, Sums>, 2> sums;
      for (const bool in_kernel : {false, true}) {
        Summing summing(asked);
        record_calls(asked, in_kernel, summing, {.only = {SYS_close, SYS_getppid, SYS_getsid}});
        EXPECT_EQ(summing.rows > 0, in_kernel);
        sums.at(in_kernel) = std::move(summing.sums);
      }
      EXPECT_GE(sums[0].size(), 4U);
      EXPECT_TRUE(sums[0] == sums[1]) << sums[0].size() << " and " << sums[1].size() << " keys";
    }
}

// A thread that sleeps is seen in its slot.
TEST_F(KernelSums, CallsAreToldOfWithoutTheirThreadsEntries) {
  if (uses_module()) return;
  const usc_query by_argument = question_of(1, 0, {give(USC_QUERY_KEY, of(USC_QUERY_ARG0), 0)});
  for (const auto& [query, state] :
       {std::pair(by_end(), BRIEF_OPEN), std::pair(by_number(), BRIEF_COUNTED), std::pair(by_argument, BRIEF_NOT)}) {
    SCOPED_TRACE(state);
    std::set<std::pair<int, int>> seen;
    Summing summing(query);
    record_calls(query, true, summing, {.each_round = [&seen] {
                   read_map<brief_call>("brief_calls", [&seen](std::span<const brief_call> calls) {
                     for (const brief_call& call : calls)
                       if (call.thread != 0) seen.emplace(call.nr, call.state);
                   });
                 }});
    if (state == BRIEF_NOT)
      EXPECT_TRUE(seen.empty());
    else
      EXPECT_TRUE(seen.contains({SYS_clock_nanosleep, state}));
  }
}

// Calls that are only counted, by fields, are counted without rows.
TEST_F(KernelSums, CallsAreCountedByFieldsInTheirPlaces) {
  if (uses_module()) return;
  for (const bool by_fields : {true, false}) {
    SCOPED_TRACE(by_fields);
    const usc_query query = by_fields ? by_end_and_steps() : by_end();
    std::uint32_t used = 0;
    Summing summing(query);
    record_calls(query, true, summing, {.often = false, .each_round = [&used] {
                                          read_map<usc_query_counts>("query_counts",
                                                                     [&used](std::span<const usc_query_counts> tables) {
                                                                       for (const usc_query_counts& counts : tables)
                                                                         used = std::max(used, counts.used);
                                                                     });
                                        }});
    EXPECT_EQ(used > 0, by_fields);
    EXPECT_GE(summing.rows, std::max(used, 1U));
  }
}

// A process that waits in a call when tracing begins, and in another one when it ends. It is an orphan: uscope spares
// its own children.
class Waiting {
 public:
  static constexpr std::uint64_t kCalls = 100;
  Waiting() {
    EXPECT_EQ(pipe(start_.data()), 0);
    EXPECT_EQ(pipe(done_.data()), 0);
    const pid_t parent = fork();
    if (parent == 0) {
      child_ = fork();
      if (child_ == 0) run();
      _exit(write(done_[1], &child_, sizeof(child_)) == sizeof(child_) ? 0 : 1);
    }
    EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
    EXPECT_EQ(read(done_[0], &child_, sizeof(child_)), static_cast<ssize_t>(sizeof(child_)));
    wait_until_it_sleeps();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    kill(child_, SIGKILL);
    for (const int fd : {start_[0], start_[1], done_[0], done_[1]}) close(fd);
  }
  [[nodiscard]] pid_t pid() const { return child_; }
  // Its calls are made, up to the last one, in which it stays.
  void go_on() {
    char byte = 0;
    EXPECT_EQ(write(start_[1], "", 1), 1);
    EXPECT_EQ(read(done_[0], &byte, 1), 1);
    wait_until_it_sleeps();
  }

 private:
  [[noreturn]] void run() {
    char byte = 0;
    if (syscall(SYS_read, start_[0], &byte, 1) != 1) _exit(1);
    for (std::uint64_t call = 0; call < kCalls; call++) syscall(SYS_getppid);
    if (write(done_[1], "", 1) != 1) _exit(1);
    while (true) syscall(SYS_pause);
  }
  void wait_until_it_sleeps() const {
    while (!test::sleeps(child_)) sched_yield();
  }

  pid_t child_ = -1;
  std::array<int, 2> start_{}, done_{};
};

// Lets the program go on when it is traced, and ends the recording then.
class GoesOnOnce : public RecordingClient {
 public:
  GoesOnOnce(Waiting& waiting, Summing& summing) : waiting_(waiting), summing_(summing) {}

 private:
  RecordObserver* observer() override { return &summing_; }
  void on_attached(const FoundRunning& /*found*/) override {
    waiting_.go_on();
    is_done_ = true;
  }
  RoundRequests after_round() override { return {.send_sums = true, .end = is_done_}; }

  Waiting& waiting_;
  Summing& summing_;
  bool is_done_ = false;
};

TEST_F(KernelSums, CallsUnderWayWhenTracingBeginsAndEnds) {
  const usc_query query = by_end();
  for (const bool in_kernel : {false, true}) {
    SCOPED_TRACE(in_kernel);
    Waiting waiting;
    RecordOptions options = options_of(query, in_kernel, {});
    options.config.target.kinds = USC_TARGET_PID;
    options.target.pids = {static_cast<std::uint32_t>(waiting.pid())};
    Summing summing(query);
    GoesOnOnce client(waiting, summing);
    const auto outcome = record(options, client, nullptr);
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->figures.lost, 0U);
    // When it is found, and when it returns.
    EXPECT_EQ((summing.sums[{SYS_read, USC_HOW_ATTACHED, 0}].events), 2U);
    EXPECT_EQ((summing.sums[{SYS_getppid, USC_HOW_RETURNED, 0}].events), Waiting::kCalls);
    EXPECT_EQ((summing.sums[{SYS_write, USC_HOW_RETURNED, 0}].events), 1U);
    EXPECT_EQ(summing.sums.size(), 3U);
    EXPECT_EQ(summing.told_open[SYS_pause], 1U);
  }
}

}  // namespace
}  // namespace uscope::tracer
