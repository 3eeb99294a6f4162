// Looks single events of a cell up, to show what it is: its first one, its threads, what its arguments pointed to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyzer/diff.h"
#include "store/database.h"

namespace uscope::analyzer {

// Which events of a cell.
struct CellEvents {
  const Cell* cell = nullptr;
  std::optional<std::int64_t> error{};  // those with this error only
  bool never_returned = false;          // those only
};

struct EventSample {
  std::map<std::string, std::uint64_t> threads;  // events by name
  std::map<std::string, std::uint64_t> strings;  // events by what an argument points to
  std::uint64_t events = 0;
  std::int64_t first_event_id = 0;  // 0: none found
};

class CellLookup {
 public:
  // Both must outlive the object.
  CellLookup(const store::Database& database, const RunFacts& facts) : database_(database), facts_(facts) {}

  // The first event, and from where it was called.
  Result<CellExample> first(const CellEvents& events);

  // Some 2000 events at most, in the order of their stacks. The work is bounded: of a cell whose events are few among
  // very many of the same stacks, less than there are may be found.
  Result<EventSample> sample(const CellEvents& events);

 private:
  Result<void> sample_source(const CellEvents& events, const CellSource& source, EventSample& sample);
  Result<void> add_strings(std::int64_t event, EventSample& sample);

  const store::Database& database_;
  const RunFacts& facts_;
  std::optional<store::Statement> strings_;
};

}  // namespace uscope::analyzer
