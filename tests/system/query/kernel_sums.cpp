// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the kernel side (BPF, or USCOPE_TEST_BACKEND=kmod) sums for a question is what the same question gives over the
// events of a whole recording: of the calls that this program makes when it is started with the argument `calls`. Each
// key has a place in a table, so the many keys of this program push each other out: in tables of 8 rows nearly all do.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/guest.h"
#include "tests/support/question_maker.h"
#include "tests/system/query/call_ways.h"
#include "trace/signal_info.h"
#include "trace/sink.h"
#include "tracer/collect/observer.h"
#include "tracer/recorder/recorder.h"
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
  // Runs this program's calls, and has the question asked in the kernel, or only here. `often`: the sums are taken as
  // often as they can be, and not just at the end.
  static void record_calls(const usc_query& query, bool in_kernel, Summing& summing, bool often = true,
                           StackNumbers* stacks = nullptr, const std::string& work = "calls") {
    RecordOptions options;
    options.config.signals = work == "signals";
    options.sink = stacks;
    options.config.scope = {USC_MODE_ALL_ALL, 64};
    options.config.target.kinds = USC_TARGET_LAUNCH;
    for (__u64& word : options.config.calls_x86_64) word = ~0ULL;
    if (in_kernel) options.config.query = query;
    options.launch.command = {std::filesystem::read_symlink("/proc/self/exe"), work};
    const char* backend = std::getenv("USCOPE_TEST_BACKEND");
    options.backend = backend && std::string_view(backend) == "kmod" ? BackendChoice::kKmod : BackendChoice::kBpf;
    RecordHooks hooks;
    hooks.observer = &summing;
    hooks.wants_sums = [often] { return often; };
    if (stacks != nullptr) {
      hooks.wants_stacks = [] { return true; };
      hooks.stacks_from = [stacks](trace::StackId first) { stacks->from(first); };
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
    record_calls(query, false, here);
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
      record_calls(asked, true, there);
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
  const usc_query by_number = question_of(1, 0, {give(USC_QUERY_KEY, USC_QUERY_OF_FIELD + USC_QUERY_KIND, 0)});
  ASSERT_TRUE(usc_query_counts_calls(&by_number));
  std::set<std::uint64_t> execs;
  for (const bool in_kernel : {false, true}) {
    SCOPED_TRACE(in_kernel);
    Summing summing(by_number);
    record_calls(by_number, in_kernel, summing, true, nullptr, "ways");
    std::map<std::int64_t, std::uint64_t> counts;
    for (const auto& [key, sums] : summing.sums) counts[key[0]] = sums.events;
    for (const auto& [number, calls] : test::calls_in_all_ways())
      EXPECT_EQ(counts[number], static_cast<std::uint64_t>(calls)) << "system call " << number;
    execs.insert(counts[SYS_execve]);
  }
  EXPECT_EQ(execs.size(), 1U);
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
    record_calls(query, true, summing, false);
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
    record_calls(by_stack, in_kernel, summing);
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
      record_calls(by_kind, in_kernel, summing, true, nullptr, "signals");
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
    record_calls(by_stack, true, summing, true, stacks);
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
