// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where one run spent its time, from the totals that the loader counted: `cell`, `gap_total`, and the calls that never
// returned, which last until their thread or the tracing ended.
#pragma once

#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"
#include "analyzer/diff/time_shift.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// `matrix`: that of the same run, read with the same arguments.
[[nodiscard]] Result<RunTime> read_run_time(const store::Database& database, const RunFacts& facts,
                                            const Matrix& matrix, const MatrixBy& by, const ModuleNames& names,
                                            const OffsetTrust& trust);

}  // namespace uscope::analyzer
