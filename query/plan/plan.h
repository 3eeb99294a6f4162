// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of a question in SQL: the part that runs at each event (struct usc_query), and the statement that SQLite
// runs over the partial rows. plan() opens no trace: it needs the text only.
//
// `outer` reads the relation `partial`, which the caller makes: one row for each partial row, with
// - the columns of v_event that follow from its key words, with the types that they have in v_event; only those that
//   the question names need be true;
// - `k0`, `k1` … for the words that are expressions (KeyWord::column), and `n`, the number of events; a word in steps
//   (USC_QUERY_KEY_STEP), which `outer` gives to quantile_of and hist_of and nothing else, may be a BLOB of StepCount,
//   where one row stands for many;
// - for the measure i: `c{i}`, in how many events it is not NULL; `s{i}`, their sum, which sum_wide() and total_wide()
//   understand (give_wide_integer()); `mn{i}` and `mx{i}`, the least and the greatest of them, NULL where c{i} is 0.
// Rows may be repeated for one key in any number: `outer` adds them up.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "query/plan/step_counts.h"
#include "support/result.h"
#include "uscope/control.h"
#include "uscope/query.h"

namespace uscope::query {

// A v_event column that the kernel side knows as a small number: the word of a key, and what it is made of. The last
// three are numbers that are keys by themselves; plan() makes kExpression of them.
enum class Key {
  kExpression,
  kSource,
  kKind,
  kAbi,
  kHow,
  kTask,
  kImage,
  kGuise,
  kStack,
  kError,
  kResult,
  kTime,
  kTook
};

struct KeyWord {
  Key what = Key::kExpression;
  std::string column;  // under which `partial` has it: "k0" … of expressions; "" of the others
};

struct Needs {
  bool stack = false;
  bool time = false;  // any clock: ts_ns or dur_ns
  bool arguments = false;
  bool results = false;  // of functions, for which their types must be known
  bool returns = false;  // dur_ns or result: of functions, when they return
  bool objects = false;  // object or object_kind: paths, addresses, and what descriptors stand for
};

enum class Way {
  kSums,    // partial rows: `program` runs at each event, `outer` over `partial`
  kEvents,  // event by event: the text itself runs over the events in v_event
};

using CallBits = std::array<std::uint64_t, USC_SYSCALL_BITS / 64>;

struct Plan {
  Way way = Way::kEvents;
  std::string text;                   // as it was asked
  usc_query program{};                // kSums: keys, measures and filter; kEvents: length 0
  std::vector<KeyWord> keys;          // by word
  std::vector<std::string> measures;  // by number: their text
  std::string outer;                  // kSums: the statement over `partial`
  // kSums: a SELECT over v_event that makes a partial row of each event, for events whose numbers go beyond 64 bits
  // (USC_QUERY_WHOLE); it leaves those out that the filter refuses. Its columns are k0 …, n, c0, s0, mn0, mx0 …, then
  // all dimensions of v_event by name. Empty if no number can go beyond.
  std::string whole;
  std::array<CallBits, USC_CALL_TABLES> calls{};  // the calls that WHERE does not rule out, as in usc_config
  // Beside system calls: those that WHERE asks for by class (asked_sources.h), and those that are traced anyway.
  std::uint32_t sources = 0;
  Needs needs;
  std::vector<std::string> columns;  // the names of the result's columns
  // For --explain, each a line of plain English: what runs at the event, what was decided here, what is left to SQLite.
  std::vector<std::string> pushed;
  std::vector<std::string> planned;
  std::vector<std::string> left;
  std::string reason;  // kEvents: why it was not cut; "" if it counts and groups nothing
};

// `text`: one SELECT over v_event. An error is SQLite's own message with the place; of an unknown name, with names that
// are like it. `traced`: sources that are traced whatever WHERE says, as bits.
[[nodiscard]] Result<Plan> plan(const std::string& text, std::uint32_t traced = 0);

// Bytes that the sums of a question take on each CPU, at most: two tables of rows, with counts of steps beside them
// where it has steps. Where it only counts calls, counts by number, and what threads are in.
[[nodiscard]] std::uint64_t memory_of_sums(const usc_query& question);

// Gives a connection the functions of questions, all of which pass over NULL and over what is no number:
// - bucket(x): the end of the step that x lies in, of 64 steps for each power of two (usc_query_bucket());
// - quantile(x, p), p from 0 to 1: of bucket(x), the value at the nearest rank; NULL if there is none;
// - hist(x): a JSON text [[up_to, count], …] with a step for each power of two;
// - sum(x), total(x), avg(x) in the place of SQLite's, also over windows: they round once, at the end, and sum() of
//   integers fails only where the whole sum is beyond 64 bits;
// - sum_of(x, n), total_of(x, n), quantile_of(x, n, p), hist_of(x, n): the same as sum, total, quantile and hist over n
//   times x; `outer` uses them. A BLOB of StepCount as x is its steps, each as often as it says;
// - sum_wide(s), total_wide(s): of sums of a measure, and of times(x, n), n times x.
Result<void> add_functions(sqlite3* database);

}  // namespace uscope::query
