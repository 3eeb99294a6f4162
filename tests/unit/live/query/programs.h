// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Programs of questions, as the planner makes them.
#pragma once

#include "uscope/query.h"

namespace uscope::query {

// Key: source, kind and ABI, as `GROUP BY kind` has it; measure: the result.
inline usc_query results_by_kind() {
  usc_query program{};
  program.version = USC_QUERY_VERSION;
  program.rows = USC_QUERY_ROWS;
  program.keys = 3;
  program.measures = 1;
  const auto add = [&program](usc_query_insn insn) { program.insn[program.length++] = insn; };
  constexpr usc_query_field kFields[] = {USC_QUERY_SOURCE, USC_QUERY_KIND, USC_QUERY_ABI};
  for (__s64 word = 0; word < 3; word++) {
    add({USC_QUERY_FIELD, 1, 0, 0, 0, kFields[word]});
    add({USC_QUERY_KEY, 0, 1, 0, 0, word});
  }
  add({USC_QUERY_FIELD, 2, 0, 0, 0, USC_QUERY_RESULT});
  add({USC_QUERY_MEASURE, 0, 2, 0, 0, 0});
  return program;
}

}  // namespace uscope::query
