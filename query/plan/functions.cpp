// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions of questions. Each aggregate has two forms, over rows and over partial rows with a weight n; the first
// is the second with n = 1. For buckets, a number that is no integer counts as the next integer above it.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "query/plan/aggregate_state.h"
#include "query/plan/plan.h"
#include "query/plan/sum_functions.h"
#include "trace/latency.h"
#include "uscope/query_run.h"

namespace uscope::query {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

std::int64_t as_integer(double real) {
  constexpr double kEnd = 9223372036854775808.0;
  const double up = std::ceil(real);
  if (up >= kEnd) return kGreatest;
  return up < -kEnd ? kLeast : static_cast<std::int64_t>(up);
}

// Nothing for NULL and for what is no number, as SQLite's own functions of numbers have it. It is no error: where a
// condition says that a column equals a text, SQLite puts the text into the column's place in other conditions.
std::optional<std::int64_t> number_of(sqlite3_value* value) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_FLOAT:
      return as_integer(sqlite3_value_double(value));
    default:
      return std::nullopt;
  }
}

void bucket(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (const auto number = number_of(arguments[0])) sqlite3_result_int64(context, usc_query_bucket(*number));
}

// The greatest number whose highest bit is that of `number`; of a negative one the greatest, too: -4 for -4 … -7.
std::int64_t power_step(std::int64_t number) {
  if (number == 0) return 0;
  const std::uint64_t size = number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  const std::uint64_t top = std::uint64_t{1} << usc_query_top_bit(size);
  return number < 0 ? static_cast<std::int64_t>(-top) : static_cast<std::int64_t>(top - 1 + top);
}

// Of one group. SQLite keeps a pointer to it between the rows.
struct Steps {
  StepCounts counts;
  std::optional<double> share;  // quantile's p
};

// Calls add(number, events) for what a row has: `events` times the number x, or the steps that x is a BLOB of. Only a
// partial row has steps: any other BLOB is no number.
template <typename Add>
void add_numbers(sqlite3_value* x, bool is_partial, std::uint64_t events, const Add& add) {
  if (const auto number = number_of(x)) return add(*number, events);
  if (!is_partial || sqlite3_value_type(x) != SQLITE_BLOB) return;
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(x));
  const auto count = static_cast<std::size_t>(sqlite3_value_bytes(x)) / sizeof(StepCount);
  for (std::size_t i = 0; i < count; i++) {
    StepCount step{};
    std::memcpy(&step, bytes + i * sizeof(step), sizeof(step));
    add(step.end, step.events);
  }
}

// quantile(x, p) and quantile_of(x, n, p): the last argument is p.
void quantile_step(sqlite3_context* context, int count, sqlite3_value** arguments) {
  Steps* steps = state_of<Steps>(context, true);
  if (!steps) return;
  const int type = sqlite3_value_numeric_type(arguments[count - 1]);
  const double share = sqlite3_value_double(arguments[count - 1]);
  if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(share >= 0 && share <= 1))
    return sqlite3_result_error(context, "quantile(x, p): p is a number from 0 to 1", -1);
  if (steps->share && *steps->share != share)
    return sqlite3_result_error(context, "quantile(x, p): p is the same for all rows of a group", -1);
  steps->share = share;
  add_numbers(arguments[0], count == 3, weight(count - 1, arguments, 1),
              [steps](std::int64_t number, std::uint64_t events) {
                add_step(steps->counts, {usc_query_bucket(number), events});
              });
}

void quantile_end(sqlite3_context* context) {
  const auto steps = last_of<Steps>(context);
  std::uint64_t total = 0;
  if (steps)
    for (const auto& [end, events] : steps->counts) total += events;
  if (!total) return sqlite3_result_null(context);
  constexpr double kPercent = 100;
  std::uint64_t rank = trace::percentile_rank(*steps->share * kPercent, total);
  for (const auto& [end, events] : steps->counts) {
    if (rank <= events) return sqlite3_result_int64(context, end);
    rank -= events;
  }
}

void hist_step(sqlite3_context* context, int count, sqlite3_value** arguments) {
  Steps* steps = state_of<Steps>(context, true);
  if (!steps) return;
  add_numbers(arguments[0], count == 2, weight(count, arguments, 1),
              [steps](std::int64_t number, std::uint64_t events) {
                add_step(steps->counts, {power_step(number), events});
              });
}

void hist_end(sqlite3_context* context) {
  const auto steps = last_of<Steps>(context);
  std::string text;
  if (steps)
    for (const auto& [end, events] : steps->counts)
      text += fmt::format("{}[{},{}]", text.empty() ? "" : ",", end, events);
  text = "[" + text + "]";
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

using Step = void (*)(sqlite3_context*, int, sqlite3_value**);
using End = void (*)(sqlite3_context*);

}  // namespace

Result<void> add_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  struct Aggregate {
    const char* name;
    int arguments;
    Step step;
    End end;
  };
  constexpr Aggregate kAggregates[] = {{"quantile", 2, quantile_step, quantile_end},
                                       {"quantile_of", 3, quantile_step, quantile_end},
                                       {"hist", 1, hist_step, hist_end},
                                       {"hist_of", 2, hist_step, hist_end}};
  int code = sqlite3_create_function_v2(database, "bucket", 1, kFlags, nullptr, bucket, nullptr, nullptr, nullptr);
  for (const Aggregate& aggregate : kAggregates) {
    if (code != SQLITE_OK) break;
    code = sqlite3_create_function_v2(database, aggregate.name, aggregate.arguments, kFlags, nullptr, nullptr,
                                      aggregate.step, aggregate.end, nullptr);
  }
  if (code == SQLITE_OK) code = add_sums(database);
  if (code != SQLITE_OK) return Error{std::string("cannot add functions to SQLite: ") + sqlite3_errmsg(database), ""};
  return {};
}

}  // namespace uscope::query
