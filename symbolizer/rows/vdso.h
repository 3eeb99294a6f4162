// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The unwind rows of the vdso, whose image is the same in all 64-bit processes of the system.
#pragma once

#include "support/result.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

// The unwind rows of the vdso; offsets count from the image's start.
Result<UnwindTable> vdso_rows(RowDetail detail = RowDetail::kStack);

}  // namespace uscope::symbolizer
