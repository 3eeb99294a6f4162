#include "analyzer/cell_example.h"

#include <algorithm>

#include "analyzer/catalog.h"
#include "analyzer/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::uint64_t kSampled = 2000;
constexpr std::uint64_t kOfOneStack = 200;
constexpr std::int64_t kMostStacks = 4096;

// Bounds what SQLite does while the object lives: statements stop with an error once the steps are used up.
class WorkBudget {
 public:
  explicit WorkBudget(sqlite3* database) : database_(database) {
    sqlite3_progress_handler(
        database_, kStepsAtOnce, [](void* budget) { return static_cast<WorkBudget*>(budget)->spend(); }, this);
  }
  ~WorkBudget() { sqlite3_progress_handler(database_, 0, nullptr, nullptr); }
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  [[nodiscard]] bool spent() const { return left_ <= 0; }

 private:
  static constexpr int kStepsAtOnce = 10'000;
  int spend() { return --left_ <= 0 ? 1 : 0; }

  sqlite3* database_;
  int left_ = 200;  // of kStepsAtOnce: some tens of milliseconds
};

// The events of a cell that are meant, of one stack.
std::string events_sql(const CellEvents& events) {
  std::string sql =
      "SELECT e.id, t.name FROM event e LEFT JOIN thread t ON t.id = e.thread_id "
      "WHERE e.stack_id IS ?1 AND +e.kind_id = ?2";
  if (events.error) sql += " AND e.result = ?4";
  if (events.never_returned) sql += " AND e.dur_ns IS NULL AND e.how IN ('open', 'attached')";
  return sql + " LIMIT ?3";
}

}  // namespace

Result<CellExample> CellLookup::first(const CellEvents& events) {
  CellExample example;
  example.file = facts_.file;
  example.event_id = events.cell->first_event_id;
  if (events.error) {
    const auto found = events.cell->errnos.find(*events.error);
    if (found != events.cell->errnos.end()) example.event_id = found->second.first_event_id;
  }
  if (events.never_returned) {
    auto some = sample(events);
    if (!some) return some.error();
    if (some->first_event_id != 0) example.event_id = some->first_event_id;
  }
  auto query =
      database_.prepare("SELECT e.ts_ns, s.folded FROM event e LEFT JOIN stack s ON s.id = e.stack_id WHERE e.id = ?1");
  if (!query) return query.error();
  query->bind(1, example.event_id);
  auto done = each(*query, [&](const Row& row) {
    example.first_ns = difference(row.integer(0), facts_.start_ns);
    example.stack = text(row, 1);
  });
  if (!done) return done.error();
  return example;
}

Result<EventSample> CellLookup::sample(const CellEvents& events) {
  EventSample sample;
  for (const CellSource& source : events.cell->sources) {
    if (sample.events >= kSampled) break;
    const WorkBudget budget(database_.handle());
    auto done = sample_source(events, source, sample);
    if (!done && !budget.spent()) return done.error();
  }
  return sample;
}

Result<void> CellLookup::sample_source(const CellEvents& events, const CellSource& source, EventSample& sample) {
  std::vector<std::optional<std::int64_t>> stacks(source.stack_ids.begin(), source.stack_ids.end());
  if (stacks.empty()) {
    auto query = database_.prepare("SELECT id FROM stack WHERE trigger_frame_id IS ?1 LIMIT ?2");
    if (!query) return query.error();
    query->bind(1, source.trigger_frame_id);
    query->bind(2, kMostStacks);
    auto done = each(*query, [&](const Row& row) { stacks.emplace_back(row.integer(0)); });
    if (!done) return done;
    if (!source.trigger_frame_id) stacks.emplace_back(std::nullopt);
  }
  auto query = database_.prepare(events_sql(events));
  if (!query) return query.error();
  std::vector<std::int64_t> ids;
  for (const auto& stack : stacks) {
    if (sample.events >= kSampled) break;
    query->bind(1, stack);
    query->bind(2, source.kind_id);
    query->bind(3, std::min(kOfOneStack, kSampled - sample.events));
    if (events.error) query->bind(4, -*events.error);
    ids.clear();
    auto done = each(*query, [&](const Row& row) {
      ids.push_back(row.integer(0));
      sample.events++;
      if (!row.is_null(1)) sample.threads[text(row, 1)]++;
    });
    for (const std::int64_t id : ids) {
      if (sample.first_event_id == 0 || id < sample.first_event_id) sample.first_event_id = id;
      if (auto added = add_strings(id, sample); !added) return added;
    }
    if (!done) return done;
  }
  return {};
}

Result<void> CellLookup::add_strings(std::int64_t event, EventSample& sample) {
  if (!strings_) {
    auto query = database_.prepare(
        "SELECT DISTINCT s.value FROM event_string es JOIN string s ON s.id = es.string_id WHERE es.event_id = ?1");
    if (!query) return query.error();
    strings_.emplace(std::move(*query));
  }
  strings_->bind(1, event);
  return each(*strings_, [&](const Row& row) {
    if (!row.text(0).empty()) sample.strings[text(row, 0)]++;
  });
}

}  // namespace uscope::analyzer
