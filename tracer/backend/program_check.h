// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Refuses a filter program that no backend can run, before anything is loaded.
#pragma once

#include "support/result.h"
#include "uscope/program.h"

namespace uscope::tracer {

Result<void> check_program(const usc_program& program);

}  // namespace uscope::tracer
