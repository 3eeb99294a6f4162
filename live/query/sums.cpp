// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/sums.h"

#include <algorithm>

namespace uscope::query {
namespace {

void merge(WideSum& into, const WideSum& more) {
  if (more.count == 0) return;
  into.least = into.count == 0 ? more.least : std::min(into.least, more.least);
  into.greatest = into.count == 0 ? more.greatest : std::max(into.greatest, more.greatest);
  into.count += more.count;
  into.sum += more.sum;
}

}  // namespace

PartialRow& Sums::row(const usc_query_key& key) {
  PartialRow& found = rows_[key];
  found.key = key;
  return found;
}

usc_query_end Sums::add(const usc_event& event) {
  usc_query_input input;
  usc_query_fill(&input, &event);
  const usc_query_end end = usc_query_run(&program_, &input, &state_);
  if (end != USC_QUERY_GIVEN) return end;
  PartialRow& into = row(state_.key);
  into.events++;
  events_++;
  for (std::uint32_t i = 0; i < program_.measures; i++) {
    if ((state_.measure_nulls >> i & 1) != 0) continue;
    const std::int64_t value = state_.measure[i];
    merge(into.sums[i], {1, value, value, value});
  }
  return end;
}

void Sums::add(const usc_query_row& more) {
  if (more.events == 0) return;
  PartialRow& into = row(more.key);
  into.events += more.events;
  events_ += more.events;
  for (std::uint32_t i = 0; i < program_.measures; i++) {
    const usc_query_sum& sum = more.sum[i];
    merge(into.sums[i], {sum.count, sum.least, sum.greatest, sum.sum});
  }
}

}  // namespace uscope::query
