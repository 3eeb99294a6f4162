// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/step_rows.h"

#include <utility>

namespace uscope::tracer {

void take_steps(const usc_query_row& row, usc_query_steps& steps, std::uint32_t word,
                const std::function<void(const usc_query_row&)>& handle) {
  usc_query_row one = row;
  const bool is_null = (row.key.nulls >> word & 1) != 0;
  for (std::uint32_t step = 0; step < USC_QUERY_STEPS; step++) {
    one.events = std::exchange(steps.events[step], 0);
    if (one.events == 0) continue;
    one.key.word[word] = is_null ? 0 : usc_query_end_of_step(row.key.word[word], step);
    handle(one);
    for (usc_query_sum& sum : one.sum) sum = {};
  }
}

}  // namespace uscope::tracer
