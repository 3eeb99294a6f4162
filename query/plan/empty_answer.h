// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Why a question finds no event: which conditions of WHERE no event fulfils, and what comes near to what they name.
//
// A condition is one of those that WHERE joins by AND. Questions of other relations than v_event alone are not
// explained, nor are those without WHERE.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "query/plan/plan.h"
#include "support/result.h"

namespace uscope::query {

// Conditions that no event fulfils, whatever runs: an error that has no such name, and, where nothing but system calls
// is traced, a call that does not exist. A sentence each, without a full stop.
[[nodiscard]] std::vector<std::string> impossible_conditions(const Plan& plan);

// Of a stored trace, which has v_event: the conditions that none of its events fulfils. None if some event fulfils all
// of WHERE, or if it takes more than some seconds to find out.
[[nodiscard]] Result<std::vector<std::string>> why_no_event(sqlite3* database, const std::string& text);

// The column of v_event for a name that other tools have for it, as a hint: "a0 is the descriptor …" for "fd". Empty:
// none is known.
[[nodiscard]] std::string hint_for_column(std::string_view name);

}  // namespace uscope::query
