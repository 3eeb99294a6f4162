// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the kernel side (BPF, or USCOPE_TEST_BACKEND=kmod) sums for a question is what the same question gives over the
// events of a whole recording: of the calls that this program makes when it is started with the argument `calls`. Each
// key has a place in a table, so the many keys of this program push each other out: in tables of 8 rows nearly all do.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/guest.h"
#include "tests/support/question_maker.h"
#include "tests/system/query/kernel_sums_case.h"

namespace uscope::tracer {
namespace {

using test::compute;
using test::field;
using test::give;
using test::number;
using test::question_of;

TEST_F(KernelSums, CountByKind) {
  expect_equal(test::by_kind_and_how());
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
  RecordingClient client;
  const auto outcome = record(options, client, nullptr);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("instruction 1: there is no such key word or measure"), std::string::npos)
      << outcome.error().what;
}

}  // namespace
}  // namespace uscope::tracer
