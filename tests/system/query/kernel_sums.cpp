// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the kernel side (BPF, or USCOPE_TEST_BACKEND=kmod) sums for a question is what the same question gives over the
// events of a whole recording: of the calls that this program makes when it is started with the argument `calls`. Each
// key has a place in a table, so the many keys of this program push each other out: in tables of 8 rows nearly all do.
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
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpf/shared.h"
#include "tests/support/guest.h"
#include "tests/support/question_maker.h"
#include "tests/system/query/call_ways.h"
#include "trace/signal_info.h"
#include "trace/sink.h"
#include "tracer/collect/observer.h"
#include "tracer/recorder/recorder.h"
#include "uscope/query_counts.h"
#include "uscope/query_rows.h"
#include "uscope/query_run.h"

namespace uscope::tracer {
namespace {

using test::compute;
using test::field;
using test::give;
using test::number;
using test::question_of;

constexpr long kClosed = 30'000;
constexpr std::int64_t kLargest = INT64_MAX;

// Calls whose arguments the kernel refuses or does not look at.
int make_calls() {
  for (long fd = 0; fd < kClosed; fd++) {
    syscall(SYS_close, 100'000 + fd % (kClosed / 2));
    if (fd % (kClosed / 5) == 0) usleep(30'000);  // time for whoever asks the kernel side meanwhile
  }
  for (long i = 0; i < 1000; i++) syscall(SYS_getppid, i % 7, kLargest - i, -i, i % 3 - 1);
  for (long i = 0; i < 10; i++) syscall(SYS_getsid, i % 2 != 0 ? -1 : 0);
  return 0;
}

constexpr long kSignals = 500;

// Each is sent by this program to itself, and delivered to a handler.
int send_signals() {
  std::signal(SIGUSR1, [](int) {});
  std::signal(SIGUSR2, [](int) {});
  for (long i = 0; i < kSignals; i++) kill(getpid(), i % 5 == 0 ? SIGUSR2 : SIGUSR1);
  return 0;
}

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

bool uses_module() {
  const char* backend = std::getenv("USCOPE_TEST_BACKEND");
  return backend && std::string_view(backend) == "kmod";
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

using Key = std::array<std::int64_t, USC_QUERY_KEYS + 1>;  // the last one: which words are NULL
using Measure = std::array<std::int64_t, 4>;               // count, sum, least, greatest
struct Sums {
  std::uint64_t events = 0;
  std::array<Measure, USC_QUERY_MEASURES> of{};
  bool operator==(const Sums&) const = default;
};

void add_measure(Measure& into, const Measure& more) {
  auto& [count, sum, least, greatest] = into;
  if (more[0] == 0) return;
  least = count == 0 ? more[2] : std::min(least, more[2]);
  greatest = count == 0 ? more[3] : std::max(greatest, more[3]);
  count += more[0];
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(more[1]));
}

// What is summed by the kernel side, or here over events that come one by one.
class Summing final : public RecordObserver {
 public:
  explicit Summing(const usc_query& query) : query_(query) {}

  void on_event(const usc_event& event, const TaskInfo&) override { ask(event); }
  void on_open_call(const usc_event& event) override { told_open[event.kind]++; }
  void on_signal(const usc_signal& signal) override {
    ask(trace::event_of_signal(signal));
    signals++;
  }
  void on_sums(const usc_query_row& row, const usc_query_steps* steps) override {
    rows++;
    steps == nullptr ? add(row) : add_steps(row, *steps);
  }

  std::map<Key, Sums> sums;
  std::uint64_t events = 0;   // that came one by one
  std::uint64_t whole = 0;    // of these, such as count beyond 64 bits
  std::uint64_t signals = 0;  // of these
  std::uint64_t rows = 0;
  std::map<std::uint32_t, std::uint64_t> told_open;  // calls under way, by kind

 private:
  void ask(const usc_event& event) {
    usc_query_input input;
    usc_query_state state;
    usc_query_fill(&input, &event, 0);
    const usc_query_end end = usc_query_run(&query_, &input, &state);
    events++;
    if (end == USC_QUERY_WHOLE) whole++;
    if (end != USC_QUERY_GIVEN) return;
    usc_query_row row{};
    usc_query_add(&row, &state, query_.measures);
    add(row);
  }
  // Each step by itself; the first has what was measured of all, as fold_measures() wants it.
  void add_steps(usc_query_row row, const usc_query_steps& steps) {
    const std::uint32_t word = usc_query_steps_word(&query_) - 1;
    const std::int64_t group = row.key.word[word];
    std::uint64_t left = row.events;
    for (std::uint32_t step = 0; step < USC_QUERY_STEPS; step++) {
      row.events = steps.events[step];
      if (row.events == 0) continue;
      left -= row.events;
      row.key.word[word] = (row.key.nulls >> word & 1) != 0 ? 0 : usc_query_end_of_step(group, step);
      add(row);
      for (usc_query_sum& sum : row.sum) sum = {};
    }
    EXPECT_EQ(left, 0U) << "the steps of a row have its events";
  }
  void add(const usc_query_row& row) {
    Key key{};
    std::copy(std::begin(row.key.word), std::end(row.key.word), key.begin());
    key.back() = row.key.nulls;
    Sums& into = sums[key];
    into.events += row.events;
    for (std::size_t i = 0; i < query_.measures; i++) {
      const usc_query_sum& more = row.sum[i];
      add_measure(into.of[i], {static_cast<std::int64_t>(more.count), more.sum, more.least, more.greatest});
    }
  }

  const usc_query query_;
};

// Rows that differ in a step alone may have what was measured of each other's events.
void fold_measures(std::map<Key, Sums>& sums, std::size_t word) {
  std::map<Key, Sums> folded;
  for (auto& [key, of] : sums) {
    Key without = key;
    without.at(word) = 0;
    for (std::size_t i = 0; i < USC_QUERY_MEASURES; i++) add_measure(folded[without].of.at(i), of.of.at(i));
    of.of = {};
  }
  for (auto& [key, of] : sums) {
    Key without = key;
    without.at(word) = 0;
    of.of = folded[without].of;
  }
}

// Which stacks are told of, and how often they are told anew.
class StackNumbers final : public trace::RecordSink {
 public:
  Result<void> append(const usc_record& record) override {
    bytes_ += record.size;
    if (record.type == USC_RECORD_STACK) told.insert(reinterpret_cast<const usc_stack&>(record).stack);
    return {};
  }
  Result<void> flush() override { return {}; }
  [[nodiscard]] bool failed() const override { return false; }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  void from(trace::StackId first) {
    EXPECT_GT(first.value(), first_);
    first_ = first.value();
    times++;
  }

  std::set<std::int64_t> told;
  std::size_t times = 0;

 private:
  std::uint64_t bytes_ = 0;
  std::uint32_t first_ = 0;
};

class KernelSums : public testing::Test {
 protected:
  struct Run {
    std::string work = "calls";
    bool often = true;                      // the sums are taken as often as they can be, and not just at the end
    StackNumbers* stacks = nullptr;         // is told of them, and wants them anew
    std::vector<long> only = {};            // these calls; none: all
    std::function<void()> each_round = {};  // RecordHooks
  };

  static RecordOptions options_of(const usc_query& query, bool in_kernel, const std::vector<long>& only) {
    RecordOptions options;
    options.config.scope = {USC_MODE_ALL_ALL, 64};
    for (__u64& word : options.config.calls_x86_64) word = only.empty() ? ~0ULL : 0;
    for (const long call : only) options.config.calls_x86_64[call / 64] |= 1ULL << call % 64;
    if (in_kernel) options.config.query = query;
    options.backend = uses_module() ? BackendChoice::kKmod : BackendChoice::kBpf;
    return options;
  }

  // Runs this program's calls, and has the question asked in the kernel, or only here.
  static void record_calls(const usc_query& query, bool in_kernel, Summing& summing, const Run& run) {
    RecordOptions options = options_of(query, in_kernel, run.only);
    options.config.signals = run.work == "signals";
    options.sink = run.stacks;
    options.config.target.kinds = USC_TARGET_LAUNCH;
    options.launch.command = {std::filesystem::read_symlink("/proc/self/exe"), run.work};
    RecordHooks hooks;
    hooks.observer = &summing;
    hooks.each_round = run.each_round;
    hooks.wants_sums = [often = run.often] { return often; };
    if (run.stacks != nullptr) {
      hooks.wants_stacks = [] { return true; };
      hooks.stacks_from = [stacks = run.stacks](trace::StackId first) { stacks->from(first); };
    }
    const auto outcome = record(options, hooks, nullptr);
    ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
    ASSERT_TRUE(outcome->command);
    EXPECT_EQ(outcome->command->signal, 0);
    EXPECT_EQ(outcome->command->code, 0);
    EXPECT_EQ(outcome->figures.lost, 0U);
  }

  // `whole`: events that came one by one although the kernel was asked.
  static void expect_equal(const usc_query& query, std::uint64_t whole = 0) {
    Summing here(query);
    record_calls(query, false, here, {});
    ASSERT_GT(here.events, static_cast<std::uint64_t>(kClosed));
    EXPECT_EQ(here.rows, 0U);
    const std::uint32_t word = usc_query_steps_word(&query);
    if (word != 0) fold_measures(here.sums, word - 1);
    // Each kernel meets the least table, which spills: under emulation, a recording takes three seconds.
    const std::vector<__u16> sizes = kernel_only() ? std::vector<__u16>{USC_QUERY_ROWS_LEAST}
                                                   : std::vector<__u16>{USC_QUERY_ROWS, USC_QUERY_ROWS_LEAST};
    for (const __u16 rows : sizes) {
      SCOPED_TRACE(rows);
      usc_query asked = query;
      asked.rows = rows;
      Summing there(query);
      record_calls(asked, true, there, {});
      EXPECT_GT(there.rows, 0U);
      EXPECT_EQ(there.whole, whole);
      EXPECT_EQ(there.whole, here.whole);
      if (word != 0) fold_measures(there.sums, word - 1);
      EXPECT_TRUE(here.sums == there.sums) << here.sums.size() << " and " << there.sums.size() << " keys";
    }
  }
};

TEST_F(KernelSums, CountByKind) {
  expect_equal(test::by_kind_and_how());
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

TEST_F(KernelSums, CallsUnderWayWhenTracingBeginsAndEnds) {
  const usc_query query = by_end();
  for (const bool in_kernel : {false, true}) {
    SCOPED_TRACE(in_kernel);
    Waiting waiting;
    RecordOptions options = options_of(query, in_kernel, {});
    options.config.target.kinds = USC_TARGET_PID;
    options.target.pids = {static_cast<std::uint32_t>(waiting.pid())};
    Summing summing(query);
    RecordHooks hooks;
    bool is_done = false;
    hooks.observer = &summing;
    hooks.wants_sums = [] { return true; };
    hooks.attached = [&](const FoundRunning&) {
      waiting.go_on();
      is_done = true;
    };
    hooks.wants_end = [&] { return is_done; };
    const auto outcome = record(options, hooks, nullptr);
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

TEST_F(KernelSums, ManyKeysInAFewPlaces) {
  expect_equal(question_of(
      3, 1,
      {field(0, USC_QUERY_KIND), number(1, SYS_close), compute(USC_QUERY_EQUAL, 2, 0, 1), give(USC_QUERY_UNLESS, 2),
       field(3, USC_QUERY_ARG0), give(USC_QUERY_KEY, 3, 0), field(4, USC_QUERY_ERROR), give(USC_QUERY_KEY, 4, 1),
       field(5, USC_QUERY_RESULT), give(USC_QUERY_KEY, 5, 2), give(USC_QUERY_MEASURE, 3, 0)}));
}

// 100 keys by turns: of 4096 places most have one for themselves, of 8 none.
TEST_F(KernelSums, TheNumberOfRowsIsThatOfTheQuestion) {
  if (kernel_only()) return;
  usc_query query = question_of(
      1, 0,
      {field(0, USC_QUERY_KIND), number(1, SYS_close), compute(USC_QUERY_EQUAL, 2, 0, 1), give(USC_QUERY_UNLESS, 2),
       field(3, USC_QUERY_ARG0), number(4, 100), compute(USC_QUERY_REM, 5, 3, 4), give(USC_QUERY_KEY, 5, 0)});
  const auto rows_of_tables = [&query](std::uint16_t rows) {
    query.rows = rows;
    Summing summing(query);
    record_calls(query, true, summing, {.often = false});
    return summing.rows;
  };
  EXPECT_LT(rows_of_tables(USC_QUERY_ROWS), kClosed / 2);
  EXPECT_GT(rows_of_tables(USC_QUERY_ROWS_LEAST), kClosed / 2);
}

// Remainders and quotients by zero are NULL, as keys and as measures; sums go beyond 64 bits and are cut there.
TEST_F(KernelSums, NullsAndLargeSums) {
  expect_equal(question_of(
      2, 3,
      {field(0, USC_QUERY_KIND), number(1, SYS_getppid), compute(USC_QUERY_EQUAL, 2, 0, 1), give(USC_QUERY_UNLESS, 2),
       field(3, USC_QUERY_ARG0), field(4, USC_QUERY_ARG3), compute(USC_QUERY_DIV, 5, 3, 4), give(USC_QUERY_KEY, 5, 0),
       compute(USC_QUERY_IS_NULL, 6, 5), give(USC_QUERY_KEY, 6, 1), field(7, USC_QUERY_ARG1),
       give(USC_QUERY_MEASURE, 7, 0), field(8, USC_QUERY_ARG2), compute(USC_QUERY_BUCKET, 9, 8),
       give(USC_QUERY_MEASURE, 9, 1), compute(USC_QUERY_REM, 10, 8, 4), give(USC_QUERY_MEASURE, 10, 2)}));
}

// Steps of numbers on both sides of 0, and of NULL; in 8 rows most groups find no place, and sums go beyond 64 bits.
TEST_F(KernelSums, StepsOfANumber) {
  expect_equal(question_of(2, 1,
                           {field(0, USC_QUERY_KIND), number(1, SYS_getppid), compute(USC_QUERY_EQUAL, 2, 0, 1),
                            give(USC_QUERY_UNLESS, 2), field(3, USC_QUERY_ARG0), give(USC_QUERY_KEY, 3, 0),
                            field(4, USC_QUERY_ARG2), field(5, USC_QUERY_ARG3), compute(USC_QUERY_DIV, 6, 4, 5),
                            give(USC_QUERY_KEY_STEP, 6, 1), field(7, USC_QUERY_ARG1), give(USC_QUERY_MEASURE, 7, 0)}));
  if (kernel_only()) return;
  expect_equal(question_of(1, 0,
                           {field(0, USC_QUERY_KIND), number(1, SYS_close), compute(USC_QUERY_EQUAL, 2, 0, 1),
                            give(USC_QUERY_UNLESS, 2), field(3, USC_QUERY_ARG0), give(USC_QUERY_KEY_STEP, 3, 0)}));
}

TEST_F(KernelSums, EventsBeyond64BitsComeOneByOne) {
  if (kernel_only()) return;
  // ARG1 is at most the largest number; 500 more goes beyond it for 500 of the calls.
  expect_equal(
      question_of(1, 1,
                  {field(0, USC_QUERY_KIND), number(1, SYS_getppid), compute(USC_QUERY_EQUAL, 2, 0, 1),
                   give(USC_QUERY_UNLESS, 2), field(3, USC_QUERY_ARG1), number(4, 500), compute(USC_QUERY_ADD, 5, 3, 4),
                   field(6, USC_QUERY_ARG0), give(USC_QUERY_KEY, 6, 0), give(USC_QUERY_MEASURE, 5, 0)}),
      500);
}

// As many instructions as there can be, of every kind.
TEST_F(KernelSums, TheLongestQuestion) {
  usc_query longest = question_of(2, 2,
                                  {field(0, USC_QUERY_KIND), number(1, SYS_close), compute(USC_QUERY_EQUAL, 2, 0, 1),
                                   give(USC_QUERY_UNLESS, 2), field(0, USC_QUERY_ARG0), number(2, 3)});
  for (int d = 3; d < USC_QUERY_REGISTERS; d++) longest.insn[longest.length++] = field(d, USC_QUERY_TOOK);
  longest.insn[longest.length - 1] = number(15, 7);
  constexpr int kLast = 4;
  for (int i = 0; longest.length < USC_QUERY_MOST - kLast; i++) {
    const auto op = static_cast<usc_query_op>(USC_QUERY_AND + i % (USC_QUERY_EITHER - USC_QUERY_AND + 1));
    const bool has_b = (usc_query_uses(op) & 4) != 0;
    longest.insn[longest.length++] = compute(op, 3 + i % 12, i % 3, has_b ? (i * 7) % 3 : 0);
  }
  longest.insn[longest.length++] = give(USC_QUERY_KEY, 1, 0);
  longest.insn[longest.length++] = give(USC_QUERY_KEY, 5, 1);
  longest.insn[longest.length++] = give(USC_QUERY_MEASURE, 6, 0);
  longest.insn[longest.length++] = give(USC_QUERY_MEASURE, 0, 1);
  longest.reads = usc_query_reads(&longest);
  expect_equal(longest);
}

// What this thread starts stays on one CPU: each CPU gives a stack a number of its own.
class OneCpu {
 public:
  OneCpu() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_{};
};

TEST_F(KernelSums, StacksAreTakenWhereTheyAreKeys) {
  const OneCpu one;
  const usc_query by_stack = question_of(
      2, 0,
      {field(0, USC_QUERY_STACK), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_KIND), give(USC_QUERY_KEY, 1, 1)});
  const auto counts = [&](bool in_kernel) {
    Summing summing(by_stack);
    record_calls(by_stack, in_kernel, summing, {});
    std::vector<std::pair<std::int64_t, std::uint64_t>> sorted;
    for (const auto& [key, sums] : summing.sums) {
      EXPECT_NE(key[0], 0);
      sorted.emplace_back(key[1], sums.events);
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  EXPECT_EQ(counts(false), counts(true));
}

// With their stacks, and without.
TEST_F(KernelSums, SignalsAreSummed) {
  const OneCpu one;
  for (const usc_query_field field_2 : {USC_QUERY_HOW, USC_QUERY_STACK}) {
    if (kernel_only() && field_2 == USC_QUERY_HOW) continue;
    const usc_query by_kind =
        question_of(2, 0,
                    {field(0, USC_QUERY_SOURCE), number(1, USC_SOURCE_SIGNAL), compute(USC_QUERY_EQUAL, 2, 0, 1),
                     give(USC_QUERY_UNLESS, 2), field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0), field(1, field_2),
                     give(USC_QUERY_KEY, 1, 1)});
    const auto counts = [&](bool in_kernel) {
      Summing summing(by_kind);
      record_calls(by_kind, in_kernel, summing, {.work = "signals"});
      EXPECT_EQ(summing.signals, in_kernel ? 0U : std::uint64_t{2 * kSignals});
      std::vector<std::pair<std::int64_t, std::uint64_t>> sorted;
      for (const auto& [key, sums] : summing.sums) {
        EXPECT_NE(key[1], 0);
        sorted.emplace_back(key[0], sums.events);
      }
      std::sort(sorted.begin(), sorted.end());
      return sorted;
    };
    const auto here = counts(false);
    EXPECT_GE(here.size(), 4U);
    EXPECT_EQ(here, counts(true));
  }
}

// As often as it can be asked: then the few stacks of these calls have many numbers, of which each is told.
TEST_F(KernelSums, StacksAreToldAnewWhereThatIsAskedFor) {
  const usc_query by_stack =
      question_of(1, 0,
                  {field(0, USC_QUERY_KIND), number(1, SYS_close), compute(USC_QUERY_EQUAL, 2, 0, 1),
                   give(USC_QUERY_UNLESS, 2), field(0, USC_QUERY_STACK), give(USC_QUERY_KEY, 0, 0)});
  const auto stacks_of_calls = [&by_stack](StackNumbers* stacks) {
    Summing summing(by_stack);
    record_calls(by_stack, true, summing, {.stacks = stacks});
    std::set<std::int64_t> seen;
    std::uint64_t calls = 0;
    for (const auto& [key, sums] : summing.sums) {
      if (sums.events > 2) seen.insert(key[0]);  // the others are calls of the C library's start
      calls += sums.events;
    }
    EXPECT_GE(calls, static_cast<std::uint64_t>(kClosed));
    return seen;
  };
  // A number for each processor; how often the kernel side is asked while the calls are made depends on the machine.
  const std::size_t once = stacks_of_calls(nullptr).size();
  std::size_t most = 0;
  for (int attempt = 0; attempt < 10 && most <= once; attempt++) {
    StackNumbers stacks;
    const std::set<std::int64_t> seen = stacks_of_calls(&stacks);
    EXPECT_GT(stacks.times, 1U);
    EXPECT_TRUE(std::includes(stacks.told.begin(), stacks.told.end(), seen.begin(), seen.end()));
    most = std::max(most, seen.size());
  }
  EXPECT_GT(most, once);
}

TEST_F(KernelSums, AQuestionThatCannotBeRunIsRefused) {
  usc_query query = question_of(1, 0, {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0)});
  query.insn[1].value = 1;  // there is one word, 0
  RecordOptions options;
  options.config.scope = {USC_MODE_ALL_ALL, 64};
  options.config.target.kinds = USC_TARGET_LAUNCH;
  options.config.query = query;
  options.launch.command = {"/bin/true"};
  options.backend = BackendChoice::kBpf;
  const auto outcome = record(options, {}, nullptr);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("instruction 1: there is no such key word or measure"), std::string::npos)
      << outcome.error().what;
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "calls") return uscope::tracer::make_calls();
  if (argc == 2 && std::string_view(argv[1]) == "signals") return uscope::tracer::send_signals();
  if (argc == 2 && std::string_view(argv[1]) == "ways") return uscope::test::call_in_all_ways(false);
  if (argc == 2 && std::string_view(argv[1]) == "ways-again") return uscope::test::call_in_all_ways(true);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
