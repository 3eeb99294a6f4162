// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Errors that both sides have, but for files or addresses that never gave them before.
//
// In a cell that fails now and then in healthy runs too (a name that is looked for in several folders), an error alone
// is no sign; the argument that failed is. Some events with such an error are examined on both sides (cell_example.h).
// Events of abnormal runs whose arguments failed in no normal run are reported as a cell of their own.
#pragma once

#include <vector>

#include "analyzer/diff/cell_example.h"
#include "analyzer/diff/diff_cells.h"

namespace uscope::analyzer {

// Both lists are as long as the row's; both sides of `row` have the error. Returns nullopt if no argument is new, or
// (with kRunsToTest or more abnormal runs) if none is new in all of them.
[[nodiscard]] Result<std::optional<OnlyEntry>> new_failing_arguments(const CellRow& row, std::int64_t error,
                                                                     std::vector<CellLookup>& normal,
                                                                     std::vector<CellLookup>& abnormal);

}  // namespace uscope::analyzer
