// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// sum(), total() and avg() of questions, which take the place of SQLite's own: they add without rounding (exact_sum.h),
// so that the order of the events has no part in the answer, and a question gives the same to the last digit while
// tracing and of a recording.
#pragma once

#include <sqlite3.h>

namespace uscope::query {

// An integer beyond 64 bits as a value of SQLite, for sum_wide() and total_wide().
void give_wide_integer(sqlite3_context* context, __int128 number);

// Gives a connection those that plan.h lists. Returns SQLite's code.
int add_sums(sqlite3* database);

}  // namespace uscope::query
