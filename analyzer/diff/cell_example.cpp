// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/cell_example.h"

#include <algorithm>
#include <set>

#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kSampled = 1000;
constexpr std::size_t kErrorsSampled = 20'000;  // failed calls are rarer, and all of them may be of interest
constexpr std::size_t kOfOneStack = 200;
constexpr std::int64_t kOfOneStackCounted = 20'000;
constexpr std::int64_t kMostStacks = 4096;
constexpr std::size_t kThreadsShown = 8;
constexpr std::size_t kStringsShown = 8;

// Limits for one cell, in units of kStepsAtOnce of SQLite's virtual machine: tens and hundreds of milliseconds.
constexpr std::int64_t kMostExamples = 10;
constexpr std::int64_t kMostForErrors = 100;

// Bounds SQLite's work while the object lives: statements fail with an error once a share of the total work is used up.
class WorkBudget {
 public:
  // `left`: remaining units of kStepsAtOnce, counted down; this object uses `most` of them at most.
  WorkBudget(sqlite3* database, std::int64_t& left, std::int64_t most)
      : database_(database), left_(left), stop_at_(left - most) {
    sqlite3_progress_handler(
        database_, kStepsAtOnce, [](void* budget) { return static_cast<WorkBudget*>(budget)->spend(); }, this);
  }
  ~WorkBudget() { sqlite3_progress_handler(database_, 0, nullptr, nullptr); }
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  [[nodiscard]] bool spent() const { return left_ <= 0 || left_ <= stop_at_; }

 private:
  static constexpr int kStepsAtOnce = 10'000;
  int spend() {
    left_--;
    return spent() ? 1 : 0;
  }

  sqlite3* database_;
  std::int64_t& left_;
  std::int64_t stop_at_;
};

std::size_t most_of(const CellEvents& which) {
  return which.error ? kErrorsSampled : kSampled;
}

// Selects a cell's events on one stack. Most stacks belong to one kind of call, so the first events show whether a
// stack has this kind; for failed calls all events are searched.
std::string events_sql(const CellEvents& which) {
  std::string from = "event";
  if (which.never_returned) {
    from = "(SELECT event.* FROM notable_event n JOIN event ON event.id = n.event_id WHERE n.list = 'open')";
  } else if (!which.error) {
    from = "(SELECT * FROM event WHERE stack_id IS ?1 LIMIT 200)";
  }
  std::string sql = std::string("SELECT e.id, ") + kThreadNameAt + " FROM " + from +
                    " e LEFT JOIN thread t ON t.id = e.thread_id WHERE e.stack_id IS ?1 AND +e.kind_id = ?2";
  if (which.error) sql += " AND e.result = ?4";
  return sql + " LIMIT ?3";
}

// Of a cell's events on one stack: how many there are, their time, and the first one's id.
std::string usual_stack_sql(const CellEvents& which) {
  std::string from = "event e";
  if (which.never_returned) from = "notable_event n JOIN event e ON n.list = 'open' AND e.id = n.event_id";
  return "SELECT count(*), coalesce(sum(dur_ns), 0), min(id) FROM (SELECT e.dur_ns, e.id FROM " + from +
         " WHERE e.stack_id IS ?1 AND +e.kind_id = ?2" + (which.error ? " AND e.result = ?4" : "") + " LIMIT ?3)";
}

std::vector<ArgumentValue> most(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<ArgumentValue> list;
  list.reserve(counts.size());
  for (const auto& [value, events] : counts) list.push_back({value, events});
  std::stable_sort(list.begin(), list.end(),
                   [](const ArgumentValue& a, const ArgumentValue& b) { return a.events > b.events; });
  return list;
}

// Sorted by how much their share differs from that on the other side, largest first.
std::vector<ArgumentValue> standing_out(const EventSample& here, const EventSample& there) {
  std::vector<std::pair<double, ArgumentValue>> list;
  for (const auto& [value, events] : here.strings) {
    const auto found = there.strings.find(value);
    const double other = found == there.strings.end() || there.events == 0
                             ? 0
                             : static_cast<double>(found->second) / static_cast<double>(there.events);
    list.emplace_back(static_cast<double>(events) / static_cast<double>(here.events) - other,
                      ArgumentValue{value, events});
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ArgumentValue> values;
  values.reserve(list.size());
  for (auto& [gain, value] : list) values.push_back(std::move(value));
  return values;
}

}  // namespace

void describe_example(const EventSample& sample, const EventSample& other, CellExample& example) {
  example.looked_at = sample.events;
  for (const ArgumentValue& thread : most(sample.threads))
    if (example.threads.size() < kThreadsShown) example.threads.push_back(thread.value);
  example.strings = standing_out(sample, other);
  if (example.strings.size() > kStringsShown) example.strings.resize(kStringsShown);
}

Result<CellExample> CellLookup::first(const CellEvents& which) {
  EventRowId id = which.cell->first_event_id;
  if (which.error) {
    const auto found = which.cell->errnos.find(*which.error);
    if (found != which.cell->errnos.end()) id = found->second.first_event_id;
  }
  if (which.never_returned) {
    auto some = events(which);
    if (!some) return some.error();
    if (!some->empty()) id = some->front().id;
  }
  auto example = example_of(id);
  if (!example || which.error == kUnconnected) return example;
  auto usual = usual_stacks(which, false);
  if (!usual) return usual.error();
  if (usual->empty()) return example;
  for (const UsualStack& one : *usual) {
    auto text = folded(one.stack);
    if (!text) return text.error();
    example->stacks.push_back({std::move(*text), static_cast<std::uint64_t>(one.weight)});
  }
  example->stack = example->stacks.front().stack;
  example->event_id = usual->front().first;
  return example;
}

Result<std::string> CellLookup::slowest_stack(const Cell& cell, bool never_returned) {
  auto usual = usual_stacks({.cell = &cell, .never_returned = never_returned}, !never_returned);
  if (!usual) return usual.error();
  if (usual->empty()) return std::string();
  return folded(usual->front().stack);
}

Result<std::string> CellLookup::folded(StackRowId stack) {
  auto query = database_.prepare("SELECT folded FROM stack WHERE id = ?1");
  if (!query) return query.error();
  query->bind(1, stack);
  std::string found;
  auto done = each(*query, [&](const SqlRow& row) { found = text(row, 0); });
  if (!done) return done.error();
  return found;
}

Result<std::vector<CellLookup::UsualStack>> CellLookup::usual_stacks(const CellEvents& which, bool by_time) {
  std::vector<UsualStack> usual;
  if (stack_work_left_ <= 0) return usual;
  const auto add = [&usual](const UsualStack& one) {
    const auto place =
        std::find_if(usual.begin(), usual.end(), [&](const UsualStack& other) { return one.weight > other.weight; });
    usual.insert(place, one);
    if (usual.size() > CellExample::kMostStacks) usual.pop_back();
  };
  const WorkBudget budget(database_.handle(), stack_work_left_, kMostForErrors);
  auto query = database_.prepare(usual_stack_sql(which));
  if (!query) return query.error();
  for (const CellSource& source : which.cell->sources) {
    auto stacks = stacks_of(source);
    if (!stacks && !budget.spent()) return stacks.error();
    if (!stacks) break;
    for (const auto& stack : *stacks) {
      if (!stack) continue;
      query->bind(1, *stack);
      query->bind(2, source.kind_id);
      query->bind(3, kOfOneStackCounted);
      if (which.error) query->bind(4, -*which.error);
      auto done = each(*query, [&](const SqlRow& row) {
        const std::int64_t here = row.integer(by_time ? 1 : 0);
        if (here > 0) add({*stack, EventRowId(row.integer(2)), here});
      });
      if (!done && !budget.spent()) return done.error();
      if (!done) return usual;
    }
  }
  return usual;
}

Result<CellExample> CellLookup::example_of(EventRowId event) {
  CellExample example;
  example.file = facts_.file;
  example.event_id = event;
  auto query =
      database_.prepare("SELECT e.ts_ns, s.folded FROM event e LEFT JOIN stack s ON s.id = e.stack_id WHERE e.id = ?1");
  if (!query) return query.error();
  query->bind(1, event);
  auto done = each(*query, [&](const SqlRow& row) {
    example.first_ns = difference(row.integer(0), facts_.start_ns);
    example.stack = text(row, 1);
  });
  if (!done) return done.error();
  return example;
}

Result<std::vector<SampledEvent>> CellLookup::events(const CellEvents& which) {
  std::vector<SampledEvent> found;
  if (which.error == kUnconnected) {
    found.reserve(which.cell->unconnected.size());
    for (const EventRowId id : which.cell->unconnected) found.push_back({id, ""});
    for (SampledEvent& event : found)
      if (auto done = thread_of(event); !done) return done.error();
    return found;
  }
  if (work_left_ <= 0) return found;
  const WorkBudget budget(database_.handle(), work_left_, which.error ? kMostForErrors : kMostExamples);
  for (const CellSource& source : which.cell->sources) {
    if (found.size() >= most_of(which) || budget.spent()) break;
    auto done = source_events(which, source, found);
    if (!done && !budget.spent()) return done.error();
  }
  std::sort(found.begin(), found.end(), [](const SampledEvent& a, const SampledEvent& b) { return a.id < b.id; });
  return found;
}

Result<void> CellLookup::thread_of(SampledEvent& event) {
  auto query = database_.prepare(std::string("SELECT ") + kThreadNameAt +
                                 " FROM event e JOIN thread t ON t.id = e.thread_id WHERE e.id = ?1");
  if (!query) return query.error();
  query->bind(1, event.id);
  return each(*query, [&](const SqlRow& row) { event.thread = text(row, 0); });
}

Result<std::vector<std::optional<StackRowId>>> CellLookup::stacks_of(const CellSource& source) {
  std::vector<std::optional<StackRowId>> stacks(source.stack_ids.begin(), source.stack_ids.end());
  if (!stacks.empty()) return stacks;
  auto query = database_.prepare("SELECT id FROM stack WHERE trigger_frame_id IS ?1 LIMIT ?2");
  if (!query) return query.error();
  query->bind(1, source.trigger_frame_id);
  query->bind(2, kMostStacks);
  auto done = each(*query, [&](const SqlRow& row) { stacks.emplace_back(row.integer(0)); });
  if (!done) return done.error();
  if (!source.trigger_frame_id) stacks.emplace_back(std::nullopt);
  return stacks;
}

Result<void> CellLookup::source_events(const CellEvents& which, const CellSource& source,
                                       std::vector<SampledEvent>& found) {
  auto stacks = stacks_of(source);
  if (!stacks) return stacks.error();
  auto query = database_.prepare(events_sql(which));
  if (!query) return query.error();
  for (const auto& stack : *stacks) {
    if (found.size() >= most_of(which)) break;
    query->bind(1, stack);
    query->bind(2, source.kind_id);
    const std::size_t left = most_of(which) - found.size();
    query->bind(3, which.error ? left : std::min(kOfOneStack, left));
    if (which.error) query->bind(4, -*which.error);
    if (auto done = each(*query,
                         [&](const SqlRow& row) {
                           found.push_back({EventRowId(row.integer(0)), text(row, 1)});
                         });
        !done)
      return done;
  }
  return {};
}

Result<bool> CellLookup::has_strings() {
  bool any = false;
  auto done = each_row(database_, "SELECT EXISTS (SELECT * FROM event_string)",
                       [&](const SqlRow& row) { any = row.integer(0) != 0; });
  if (!done) return done.error();
  return any;
}

Result<std::vector<std::string>> CellLookup::strings(EventRowId event) {
  if (!strings_) {
    auto query = database_.prepare(
        "SELECT DISTINCT s.value FROM event_string es JOIN string s ON s.id = es.string_id WHERE es.event_id = ?1");
    if (!query) return query.error();
    strings_.emplace(std::move(*query));
  }
  strings_->bind(1, event);
  std::vector<std::string> values;
  if (texts_left_ <= 0) return values;
  texts_left_--;
  auto done = each(*strings_, [&](const SqlRow& row) {
    if (!row.text(0).empty()) values.push_back(text(row, 0));
  });
  if (!done) return done.error();
  return values;
}

Result<EventSample> CellLookup::describe(const std::vector<SampledEvent>& events) {
  EventSample sample;
  for (const SampledEvent& event : events) {
    sample.events++;
    if (!event.thread.empty()) sample.threads[event.thread]++;
    auto values = strings(event.id);
    if (!values) return values.error();
    std::set<std::string> identities;
    for (const std::string& value : *values) identities.insert(identity(value));
    for (const std::string& value : identities) sample.strings[value]++;
  }
  return sample;
}

Result<EventSample> CellLookup::sample(const CellEvents& which) {
  auto some = events(which);
  if (!some) return some.error();
  return describe(*some);
}

}  // namespace uscope::analyzer
