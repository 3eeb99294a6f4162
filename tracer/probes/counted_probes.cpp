// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/counted_probes.h"

#include "uscope/query_run.h"

namespace uscope::tracer {

std::optional<std::vector<CountedProbe>> counted_probes(const usc_query& query, std::span<const usc_probe> probes) {
  if (!usc_query_counts_moments(&query)) return {};
  std::vector<CountedProbe> counted;
  counted.reserve(probes.size());
  usc_query_input input{};
  usc_query_state state{};
  for (const usc_probe& probe : probes) {
    if (probe.role != 0) return {};
    usc_event event{};
    event.kind = probe.kind;
    event.source = probe.source;
    event.how = USC_HOW_HIT;
    event.flags = USC_EVENT_NO_RESULT;
    usc_query_fill(&input, &event, 0);
    const usc_query_end end = usc_query_run(&query, &input, &state);
    if (end == USC_QUERY_WHOLE) return {};
    counted.push_back(end == USC_QUERY_GIVEN ? CountedProbe(state.key) : CountedProbe());
  }
  return counted;
}

}  // namespace uscope::tracer
