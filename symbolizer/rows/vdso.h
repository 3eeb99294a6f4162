// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The vdso: the kernel maps one image into all 64-bit processes of the system, so this process's own image stands for
// all.
#pragma once

#include <cstddef>
#include <span>

#include "support/result.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

// The image in this process's memory; empty if the kernel mapped none.
[[nodiscard]] std::span<const std::byte> vdso_image();

// Its unwind rows; offsets count from the image's start.
Result<UnwindTable> vdso_rows(RowDetail detail = RowDetail::kStack);

}  // namespace uscope::symbolizer
