// Errors that both sides have, of files or addresses that they never had before.
//
// Where a cell fails now and then in good health too (a name that is looked for in several folders), an error is no
// sign by itself: what it failed on is. Of the events with such an error some are looked at on both sides
// (cell_example.h); those of abnormal runs whose arguments failed so in no normal run are told as a cell of their own.
#pragma once

#include <vector>

#include "analyzer/diff/cell_example.h"
#include "analyzer/diff/diff_cells.h"

namespace uscope::analyzer {

// Both lists are as long as the row's; `row` has the error on both sides. None where no argument is new, or (with
// kRunsToTest abnormal runs or more) none is new in all of them.
[[nodiscard]] Result<std::optional<OnlyEntry>> new_failing_arguments(const CellRow& row, std::int64_t error,
                                                                     std::vector<CellLookup>& normal,
                                                                     std::vector<CellLookup>& abnormal);

}  // namespace uscope::analyzer
