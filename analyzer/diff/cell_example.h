// Looks single events of a cell up, to show what it is: its first one, its threads, what its arguments pointed to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/diff.h"
#include "store/db/database.h"

namespace uscope::analyzer {

// Which events of a cell.
struct CellEvents {
  const Cell* cell = nullptr;
  std::optional<std::int64_t> error{};  // those with this error only
  bool never_returned = false;          // those only
};

struct SampledEvent {
  std::int64_t id = 0;
  std::string thread;  // its name
};

struct EventSample {
  std::map<std::string, std::uint64_t> threads;  // events by name
  std::map<std::string, std::uint64_t> strings;  // events by what an argument points to
  std::uint64_t events = 0;
};

class CellLookup {
 public:
  // Both must outlive the object.
  CellLookup(const store::Database& database, const RunFacts& facts) : database_(database), facts_(facts) {}

  // The first event, and from where it was called.
  Result<CellExample> first(const CellEvents& which);
  Result<CellExample> example_of(std::int64_t event);

  // Some 1000 events at most, 20,000 of those with an error; by id. The work is bounded, by cell and for all cells
  // together: of a cell whose events are few among very many of the same stacks, less than there are may be found.
  Result<std::vector<SampledEvent>> events(const CellEvents& which);

  // False: all work is used up, nothing more is found.
  [[nodiscard]] bool can_look() const { return work_left_ > 0 && texts_left_ > 0; }

  // Whether the trace has any text that arguments point to.
  Result<bool> has_strings();

  // What the arguments of an event point to.
  Result<std::vector<std::string>> strings(std::int64_t event);

  Result<EventSample> describe(const std::vector<SampledEvent>& events);
  Result<EventSample> sample(const CellEvents& which);

 private:
  Result<void> source_events(const CellEvents& which, const CellSource& source, std::vector<SampledEvent>& found);
  Result<void> thread_of(SampledEvent& event);

  const store::Database& database_;
  const RunFacts& facts_;
  std::optional<store::Statement> strings_;
  std::int64_t texts_left_ = 400'000;  // events whose texts are looked up: some seconds
  std::int64_t work_left_ = 600;       // of WorkBudget: some seconds
};

// Threads with most events first, and the arguments whose share is most above that in `other`.
void describe_example(const EventSample& sample, const EventSample& other, CellExample& example);

}  // namespace uscope::analyzer
