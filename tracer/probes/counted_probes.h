// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Questions for which it is enough to count how often each probe is hit: they sum nothing, and read nothing that two
// hits of one probe could differ in. What such a question makes of a hit is then found out once for each probe, here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "uscope/probes.h"
#include "uscope/query.h"

namespace uscope::tracer {

// What a question makes of a hit of one probe: the row's key; nothing where it is no event of the question.
using CountedProbe = std::optional<usc_query_key>;

// For each probe; nothing where hits have to be looked at one by one, or a probe lasts to its function's return.
std::optional<std::vector<CountedProbe>> counted_probes(const usc_query& query, std::span<const usc_probe> probes);

}  // namespace uscope::tracer
