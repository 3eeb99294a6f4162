// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How many files the tracer may hold open at once.
#pragma once

#include "support/result.h"

namespace uscope::tracer {

// Raises the limit of this process as far as it may. Many files are held open until the trace has been loaded: an error
// if that leaves too few.
[[nodiscard]] Result<void> raise_descriptor_limit();

}  // namespace uscope::tracer
