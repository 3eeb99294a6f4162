// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Cuts a SELECT over v_event in two. At the event: conditions on integers alone, the words of the key, the measures.
// Over the partial rows: the text as it was asked, in which each aggregate is written over sums, and each expression of
// integers outside of aggregates as a word of the key. All that the outer text names follows from the key, so a partial
// row stands for its events in WHERE, FILTER, DISTINCT, GROUP BY and HAVING.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "query/plan/plan.h"
#include "query/sql/tree.h"

namespace uscope::query {

// The conditions of WHERE, as they are joined by AND.
[[nodiscard]] std::vector<const Expr*> conjuncts_of(const Select& select);

// Whether the question counts or groups, so that cutting it would spare events.
[[nodiscard]] bool makes_groups(const Select& select, const std::set<std::string>& aggregates);

// Fills in the plan's parts of kSums, with `way`. Returns why it cannot; empty: it is done.
[[nodiscard]] std::string split(const std::string& text, const Select& select, const std::set<std::string>& aggregates,
                                Plan& plan);

}  // namespace uscope::query
