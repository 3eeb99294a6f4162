#include "analyzer/event_scan.h"

#include <algorithm>

#include "analyzer/query.h"

namespace uscope::analyzer {
namespace {

// The heap's top is the entry to give up next: the smallest value, the latest event of equals.
bool outranks(const Largest::Entry& a, const Largest::Entry& b) {
  return a.value != b.value ? a.value > b.value : a.event_id < b.event_id;
}

struct EventFacts {
  std::int64_t id = 0;
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> dur_ns;
  bool waits = false;  // open, or attached and never returned
  std::int64_t thread_id = 0;
  std::int64_t kind_id = 0;
  std::optional<std::int64_t> result;
  std::int64_t stack_id = 0;
};

void count(const EventFacts& event, const Catalog& catalog, EventScan& scan) {
  const bool failed = event.result && is_error(*event.result);
  scan.events++;
  scan.errors += failed;
  scan.open += event.waits;
  scan.stack_events[event.stack_id]++;
  const Kind* kind = catalog.kinds.find(event.kind_id);
  if (kind) {
    KindCounts& counts = scan.kinds[catalog.kinds.index_of(*kind)];
    counts.events++;
    counts.errors += failed;
    counts.open += event.waits;
    if (event.dur_ns && *event.dur_ns >= 0) counts.latency.add(static_cast<std::uint64_t>(*event.dur_ns));
    if (failed) scan.error_counts[{catalog.kinds.index_of(*kind), -*event.result, event.stack_id}]++;
  }
  if (event.dur_ns) {
    scan.timed++;
    scan.slowest.offer(*event.dur_ns, event.id);
  }
  if (event.waits) scan.waiting.offer(difference(catalog.end_ns, event.ts_ns), event.id);
  const Thread* thread = catalog.threads.find(event.thread_id);
  const Process* process = thread ? catalog.processes.find(thread->process_id) : nullptr;
  if (process) {
    ProcessCounts& counts = scan.processes[catalog.processes.index_of(*process)];
    counts.events++;
    counts.errors += failed;
  }
}

}  // namespace

std::size_t ErrorKeyHash::operator()(const ErrorKey& key) const {
  std::uint64_t hash = key.kind;
  for (const std::int64_t part : {key.number, key.stack_id})
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

void Largest::offer(std::int64_t value, std::int64_t event_id) {
  const Entry entry{value, event_id};
  if (heap_.size() == keep_) {
    if (heap_.empty() || !outranks(entry, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), outranks);
    heap_.pop_back();
  }
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), outranks);
}

std::vector<Largest::Entry> Largest::sorted() const {
  std::vector<Entry> entries = heap_;
  std::sort(entries.begin(), entries.end(), outranks);
  return entries;
}

Result<EventScan> scan_events(const store::Database& database, const Catalog& catalog, std::size_t keep) {
  EventScan scan{.kinds = std::vector<KindCounts>(catalog.kinds.size()),
                 .processes = std::vector<ProcessCounts>(catalog.processes.size()),
                 .error_counts = {},
                 .stack_events = {},
                 .slowest = Largest(keep),
                 .waiting = Largest(keep)};
  auto done = each_row(database,
                       "SELECT id, ts_ns, dur_ns, how = 'open' OR (how = 'attached' AND dur_ns IS NULL), thread_id, "
                       "kind_id, result, stack_id FROM event",
                       [&](const Row& row) {
                         count({.id = row.integer(0),
                                .ts_ns = row.integer(1),
                                .dur_ns = row.maybe_integer(2),
                                .waits = row.integer(3) != 0,
                                .thread_id = row.integer(4),
                                .kind_id = row.integer(5),
                                .result = row.maybe_integer(6),
                                .stack_id = row.integer(7)},
                               catalog, scan);
                       });
  if (!done) return done.error();
  return scan;
}

}  // namespace uscope::analyzer
