// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Partial rows in a trace: each row becomes one event with what its key says, so that the loader gives it the names
// that it gives any event. partial_view.h has the way back, in the loaded store.
#pragma once

#include <cstdint>
#include <vector>

#include "live/query/sums.h"
#include "live/window/window_trace.h"
#include "query/plan/plan.h"
#include "support/result.h"
#include "trace/hit.h"
#include "uscope/record.h"

namespace uscope::query {

// The event that rows with this key are of, as number `number`, from 0, which is number + 1 in a trace that begins with
// them.
[[nodiscard]] usc_event event_of(const usc_query_key& key, const std::vector<KeyWord>& keys, std::uint64_t number);

// For each row the number of its event, from 0, in the order of their first rows. Rows that differ only in numbers that
// the question computes are of one event.
[[nodiscard]] std::vector<std::uint32_t> events_of(const PartialRows& rows, const std::vector<KeyWord>& keys);

// Writes an event of any source as the record that such events have.
Result<void> append_event(live::WindowTrace& to, const trace::Event& event);

// The stack in the key of a row; 0: none, or it is no key.
[[nodiscard]] std::uint32_t stack_of(const usc_query_key& key, const std::vector<KeyWord>& keys);

}  // namespace uscope::query
