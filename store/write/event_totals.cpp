// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/event_totals.h"

#include <algorithm>

namespace uscope::store {

void EventTotals::add_duration(const Facts& event) {
  const std::uint32_t kind = event.kind.value();
  if (kind > latencies_.size()) latencies_.resize(kind);
  latencies_[kind - 1].add(*event.duration);
  if (!event.is_call) return;
  const Slow slow{*event.duration, event.id};
  std::vector<Slow>& heap = event.waits ? longest_waits_ : slowest_;
  if (heap.size() == kSlowestKept) {
    if (!slower(slow, heap.front())) return;
    std::pop_heap(heap.begin(), heap.end(), slower);
    heap.pop_back();
  }
  heap.push_back(slow);
  std::push_heap(heap.begin(), heap.end(), slower);
}

Result<void> EventTotals::write(const TableWriter& tables) {
  auto latency = tables.rows("latency", 3);
  if (!latency) return latency.error();
  Result<void> done;
  for (std::size_t i = 0; i < latencies_.size(); i++) {
    latencies_[i].each([&](std::uint64_t up_to, std::uint64_t count) {
      if (done) done = (*latency)->add(i + 1, up_to, count);
    });
    if (!done) return done;
    latencies_[i] = {};
  }
  auto error = tables.rows("error_cell", 5);
  if (!error) return error.error();
  for (const auto& [key, errors] : errors_) {
    const auto& [kind, number, trigger] = key;
    done = (*error)->add(kind, number, maybe_id(trigger), errors.events, errors.first);
    if (!done) return done;
  }
  auto notable = tables.prepare("INSERT INTO notable_event VALUES(?1, ?2)");
  if (!notable) return notable.error();
  for (const Slow& slow : slowest_)
    if (done = notable->run(std::string_view("slowest"), slow.id); !done) return done;
  for (const Slow& slow : longest_waits_)
    if (done = notable->run(std::string_view("wait"), slow.id); !done) return done;
  for (const EventRowId id : open_)
    if (done = notable->run(std::string_view("open"), id); !done) return done;
  return tables.inserter().settle();
}

}  // namespace uscope::store
