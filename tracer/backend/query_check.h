// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Refuses a question that no backend can run, before anything is loaded.
#pragma once

#include "support/result.h"
#include "uscope/control.h"

namespace uscope::tracer {

Result<void> check_query(const usc_query& query);

}  // namespace uscope::tracer
