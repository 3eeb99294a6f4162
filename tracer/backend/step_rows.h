// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of a question that stand for a group of steps each (uscope/query_rows.h).
#pragma once

#include <cstdint>
#include <functional>

#include "uscope/query_rows.h"

namespace uscope::tracer {

// Gives a row for each step of the group in which there are events; the first of them has what was measured of all.
// `word`: of the key, has the group. `steps` has only zeroes afterwards.
void take_steps(const usc_query_row& row, usc_query_steps& steps, std::uint32_t word,
                const std::function<void(const usc_query_row&)>& handle);

}  // namespace uscope::tracer
