// One pass over all events, counting everything a summary needs. Memory grows with the number of calls, processes and
// distinct stacks, not with that of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/catalog.h"
#include "analyzer/latency.h"

namespace uscope::analyzer {

struct KindCounts {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  LatencySketch latency;
};

struct ProcessCounts {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
};

struct ErrorKey {
  std::size_t kind = 0;  // index into Catalog::kinds
  std::int64_t number = 0;
  std::int64_t stack_id = 0;
  bool operator==(const ErrorKey&) const = default;
};

struct ErrorKeyHash {
  std::size_t operator()(const ErrorKey& key) const;
};

// The `keep` largest of all values offered, with their event.
class Largest {
 public:
  struct Entry {
    std::int64_t value = 0;
    std::int64_t event_id = 0;
  };

  explicit Largest(std::size_t keep) : keep_(keep) {}
  void offer(std::int64_t value, std::int64_t event_id);
  // Largest first; the earlier event first where equal.
  [[nodiscard]] std::vector<Entry> sorted() const;

 private:
  std::size_t keep_;
  std::vector<Entry> heap_;
};

struct EventScan {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t timed = 0;
  std::vector<KindCounts> kinds;         // like Catalog::kinds
  std::vector<ProcessCounts> processes;  // like Catalog::processes
  std::unordered_map<ErrorKey, std::uint64_t, ErrorKeyHash> error_counts;
  std::unordered_map<std::int64_t, std::uint64_t> stack_events;  // by stack id, 0 = none
  Largest slowest;                                               // by duration
  Largest waiting;                                               // open calls, by time waited until the trace's end
};

[[nodiscard]] Result<EventScan> scan_events(const store::Database& database, const Catalog& catalog, std::size_t keep);

}  // namespace uscope::analyzer
