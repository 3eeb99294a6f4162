// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows that differ only in words in steps (KeyWord::in_steps) become one row. A question for a quantile has hundreds of
// them of each event, and SQLite would sort them all, to have each one's steps counted in the end.
#pragma once

#include <cstddef>
#include <vector>

#include "live/query/sums.h"
#include "query/plan/plan.h"

namespace uscope::query {

struct FoldedRows {
  PartialRows rows;
  // By row, and in it by word of the key: how many events of the row lie in which step, for words in steps alone. Those
  // whose x is NULL are left out. Empty if no word is in steps.
  std::vector<std::vector<std::vector<StepCount>>> steps;
};

// The rows are in the order in which the first of each came.
[[nodiscard]] FoldedRows fold(PartialRows rows, const Plan& plan);

}  // namespace uscope::query
