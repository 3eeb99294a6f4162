// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks up single events of a cell as examples: the first one, the threads, the data that arguments pointed to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/diff.h"
#include "store/db/database.h"

namespace uscope::analyzer {

// Selects events of a cell.
struct CellEvents {
  const Cell* cell = nullptr;
  std::optional<std::int64_t> error{};  // only events with this error
  bool never_returned = false;          // only calls that never returned
};

struct SampledEvent {
  EventRowId id;
  std::string thread;  // its name
};

struct EventSample {
  std::map<std::string, std::uint64_t> threads;  // events by name
  std::map<std::string, std::uint64_t> strings;  // events by the identity of the data that an argument points to
  std::uint64_t events = 0;
};

class CellLookup {
 public:
  // Both must outlive the object.
  CellLookup(const store::Database& database, const RunFacts& facts) : database_(database), facts_(facts) {}

  // When the first event was, and the stack of most events, as far as bounded work tells; else that of the first event.
  Result<CellExample> first(const CellEvents& which);
  // The folded stack in which the cell's calls that returned spent most time, or that most of the others have; empty:
  // none.
  Result<std::string> slowest_stack(const Cell& cell, bool never_returned);
  Result<std::string> folded(StackRowId stack);
  Result<CellExample> example_of(EventRowId event);

  // Events by id: about 1000 at most, 20,000 with an error. The work is bounded, for one cell and for all cells
  // together, so fewer events than exist may be found if a cell's events are few among very many of the same stacks.
  Result<std::vector<SampledEvent>> events(const CellEvents& which);

  // False once all work is used up; then nothing more is found.
  [[nodiscard]] bool can_search() const { return work_left_ > 0 && texts_left_ > 0; }

  // Whether the trace has any data that arguments point to.
  Result<bool> has_strings();

  // argument_identity() in this run.
  [[nodiscard]] std::string identity(std::string_view value) const { return argument_identity(value, facts_.tasks); }

  // The data that the arguments of an event point to.
  Result<std::vector<std::string>> strings(EventRowId event);

  Result<EventSample> describe(const std::vector<SampledEvent>& events);
  Result<EventSample> sample(const CellEvents& which);

 private:
  struct UsualStack {
    StackRowId stack;
    EventRowId first;         // its first event
    std::int64_t weight = 0;  // events, or ns
  };
  // Those of most events, most first. `by_time`: with most time instead.
  Result<std::vector<UsualStack>> usual_stacks(const CellEvents& which, bool by_time);
  Result<std::vector<std::optional<StackRowId>>> stacks_of(const CellSource& source);
  Result<void> source_events(const CellEvents& which, const CellSource& source, std::vector<SampledEvent>& found);
  Result<void> thread_of(SampledEvent& event);

  const store::Database& database_;
  const RunFacts& facts_;
  std::optional<store::Statement> strings_;
  std::int64_t texts_left_ = 400'000;  // events whose texts are looked up: some seconds
  std::int64_t work_left_ = 600;       // in units of WorkBudget: some seconds
  std::int64_t stack_work_left_ = 600;
};

// Threads with most events first; then the arguments whose share exceeds that in `other` most.
void describe_example(const EventSample& sample, const EventSample& other, CellExample& example);

}  // namespace uscope::analyzer
