// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Refuses a filter program or a question that no backend can run, before anything is loaded.
#pragma once

#include "support/result.h"
#include "uscope/control.h"

namespace uscope::tracer {

Result<void> check_program(const usc_program& program);
Result<void> check_query(const usc_query& query);

}  // namespace uscope::tracer
