// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Between `partial` and sum_wide(), what SQLite has no number for is a BLOB: an integer of 128 bits (WideInteger), or n
// times a REAL (RealTimes), whose product would be rounded. The two differ in their lengths.
#include "query/plan/sum_functions.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "query/plan/aggregate_state.h"
#include "query/plan/exact_sum.h"

namespace uscope::query {
namespace {

struct WideInteger {
  std::uint64_t low;
  std::int64_t high;
};

struct RealTimes {
  double number;
  std::int64_t times;
  std::uint64_t pad;
};

struct Sum {
  ExactSum sum;
  std::int64_t values = 0;  // that were not NULL
  std::int64_t reals = 0;   // … nor integers
};

template <typename Part>
bool read_blob(sqlite3_value* value, Part& part) {
  if (sqlite3_value_bytes(value) != static_cast<int>(sizeof(part))) return false;
  std::memcpy(&part, sqlite3_value_blob(value), sizeof(part));
  return true;
}

void add_blob(Sum& sum, sqlite3_value* value) {
  WideInteger wide{};
  RealTimes real{};
  if (read_blob(value, wide)) {
    sum.sum.add_integers(static_cast<__int128>(wide.high) << 64 | wide.low);
  } else if (read_blob(value, real)) {
    sum.sum.add(real.number, real.times);
    sum.reals++;
  }
}

void add_value(sqlite3_context* context, sqlite3_value* value, std::int64_t times, bool is_wide) {
  Sum* sum = state_of<Sum>(context, true);
  if (!sum) return;
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL) return;
  sum->values += times;
  if (type == SQLITE_INTEGER) return sum->sum.add(std::int64_t{sqlite3_value_int64(value)}, times);
  if (type == SQLITE_BLOB && is_wide) return add_blob(*sum, value);
  sum->reals += times;
  sum->sum.add(sqlite3_value_double(value), times);
}

void step(sqlite3_context* context, int count, sqlite3_value** arguments) {
  add_value(context, arguments[0], static_cast<std::int64_t>(weight(count, arguments, 1)), false);
}

void step_wide(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  add_value(context, arguments[0], 1, true);
}

// Takes a row out of a window.
void inverse(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  add_value(context, arguments[0], -1, false);
}

void give_sum(sqlite3_context* context, const Sum* sum) {
  if (!sum || sum->values == 0) return sqlite3_result_null(context);
  if (sum->reals != 0) return sqlite3_result_double(context, sum->sum.real());
  const auto integers = sum->sum.integers();
  if (integers != static_cast<std::int64_t>(integers))
    return sqlite3_result_error(context, "integer overflow: a sum() is beyond 64 bits; total() gives it as a REAL", -1);
  sqlite3_result_int64(context, static_cast<std::int64_t>(integers));
}

void give_total(sqlite3_context* context, const Sum* sum) {
  sqlite3_result_double(context, sum ? sum->sum.real() : 0);
}

void give_average(sqlite3_context* context, const Sum* sum) {
  if (!sum || sum->values == 0) return sqlite3_result_null(context);
  sqlite3_result_double(context, sum->sum.real() / static_cast<double>(sum->values));
}

using Give = void (*)(sqlite3_context*, const Sum*);

template <Give give>
void end(sqlite3_context* context) {
  give(context, last_of<Sum>(context).get());
}

template <Give give>
void so_far(sqlite3_context* context) {
  give(context, state_of<Sum>(context, false));
}

// times(x, n): n times x, for sum_wide().
void times(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const std::int64_t count = sqlite3_value_int64(arguments[1]);
  switch (sqlite3_value_numeric_type(arguments[0])) {
    case SQLITE_NULL:
      return sqlite3_result_null(context);
    case SQLITE_INTEGER:
      return give_wide_integer(context, static_cast<__int128>(sqlite3_value_int64(arguments[0])) * count);
    default: {
      const RealTimes product{sqlite3_value_double(arguments[0]), count, 0};
      sqlite3_result_blob(context, &product, sizeof(product), SQLITE_TRANSIENT);
    }
  }
}

}  // namespace

void give_wide_integer(sqlite3_context* context, __int128 number) {
  if (number == static_cast<std::int64_t>(number))
    return sqlite3_result_int64(context, static_cast<std::int64_t>(number));
  const WideInteger wide{static_cast<std::uint64_t>(number), static_cast<std::int64_t>(number >> 64)};
  sqlite3_result_blob(context, &wide, sizeof(wide), SQLITE_TRANSIENT);
}

int add_sums(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  using Step = void (*)(sqlite3_context*, int, sqlite3_value**);
  using End = void (*)(sqlite3_context*);
  struct Aggregate {
    const char* name;
    int arguments;
    Step step;
    End end;
    End so_far;  // nullptr: it goes over no window
  };
  constexpr Aggregate kAggregates[] = {{"sum", 1, step, end<give_sum>, so_far<give_sum>},
                                       {"total", 1, step, end<give_total>, so_far<give_total>},
                                       {"avg", 1, step, end<give_average>, so_far<give_average>},
                                       {"sum_of", 2, step, end<give_sum>, nullptr},
                                       {"total_of", 2, step, end<give_total>, nullptr},
                                       {"sum_wide", 1, step_wide, end<give_sum>, nullptr},
                                       {"total_wide", 1, step_wide, end<give_total>, nullptr}};
  int code = sqlite3_create_function_v2(database, "times", 2, kFlags, nullptr, times, nullptr, nullptr, nullptr);
  for (const Aggregate& one : kAggregates) {
    if (code != SQLITE_OK) break;
    code = sqlite3_create_window_function(database, one.name, one.arguments, kFlags, nullptr, one.step, one.end,
                                          one.so_far, one.so_far ? inverse : nullptr, nullptr);
  }
  return code;
}

}  // namespace uscope::query
