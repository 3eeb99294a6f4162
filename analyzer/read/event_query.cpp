// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The filter becomes one SQL query that returns event ids by time; each event's columns, strings and names are then
// looked up by id (event_reader.h). If SQLite must sort, it sorts only ids and times and spills to temporary files, so
// memory stays bounded.
//
// The query plan is not left to SQLite: if some index leads to few events, the one with the fewest is used and the ids
// are sorted. Otherwise the events are read in stored order, by time, from the filter's first moment to its last:
// matches are then frequent, and the first ones come at once.
#include "analyzer/read/event_query.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_condition.h"
#include "analyzer/read/event_reader.h"
#include "analyzer/read/query.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

// The first id whose event was entered at `ts_ns` or later. The store's ids must rise with time.
Result<std::int64_t> first_id_at(const store::Database& database, std::int64_t ts_ns, std::int64_t last) {
  auto query = database.prepare("SELECT id, ts_ns FROM event WHERE id >= ?1 ORDER BY id LIMIT 1");
  if (!query) return query.error();
  std::int64_t low = 1;
  std::int64_t high = std::max<std::int64_t>(last, 0) + 1;
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    query->bind(1, middle);
    auto row = query->step();
    if (!row) return row.error();
    if (!*row || query->integer(1) >= ts_ns) {
      high = middle;
    } else {
      low = query->integer(0) + 1;
    }
    query->reset();
  }
  return low;
}

// The ids of the events that match the filter, by time.
Result<store::Statement> find_events(const store::Database& database, const EventFilter& filter,
                                     const Catalog& catalog) {
  auto paths = match_paths(database, filter.paths);
  if (!paths) return paths.error();
  Condition condition(filter, catalog, *paths);
  auto last = one_number(database.prepare("SELECT max(id) FROM event"));
  if (!last) return last.error();
  auto index = choose_index(database, condition, *last);
  if (!index) return index.error();
  const bool ordered =
      catalog.meta_number("ordered").value_or(0) == 1 && *last < std::numeric_limits<std::int64_t>::max();
  if (!*index && ordered && filter.since_ns) {
    auto first = first_id_at(database, difference(*filter.since_ns, difference(0, catalog.start_ns)), *last);
    if (!first) return first.error();
    condition.add("e.id >= ?", *first);
  }
  if (!*index && ordered && filter.until_ns) {
    auto end = first_id_at(database, difference(*filter.until_ns, difference(-1, catalog.start_ns)), *last);
    if (!end) return end.error();
    condition.add("e.id < ?", *end);
  }
  std::string sql = "SELECT e.id FROM main.event e " + (*index ? "INDEXED BY " + std::string(*index) : "NOT INDEXED") +
                    condition.where() + " ORDER BY " + (ordered ? "e.id" : "e.ts_ns, e.id");
  if (filter.limit)
    sql += fmt::format(" LIMIT {}", std::min<std::uint64_t>(*filter.limit, std::numeric_limits<std::int64_t>::max()));
  return condition.prepare(database, sql);
}

}  // namespace

Result<void> for_each_event(const store::Database& database, const Catalog& catalog, const EventFilter& filter,
                            const std::function<bool(const EventRow&)>& row) {
  auto query = find_events(database, filter, catalog);
  if (!query) return query.error();
  auto reader = EventReader::create(database, catalog);
  if (!reader) return reader.error();
  while (true) {
    auto more = query->step();
    if (!more) return more.error();
    if (!*more) return {};
    auto event = reader->read(EventRowId(query->integer(0)));
    if (!event) return event.error();
    if (!row(*event)) return {};
  }
}

Result<void> for_each_event(const store::Database& database, const EventFilter& filter,
                            const std::function<bool(const EventRow&)>& row) {
  auto catalog = read_catalog(database);
  return catalog ? for_each_event(database, *catalog, filter, row) : catalog.error();
}

Result<void> for_event_and_neighbours(const store::Database& database, const Catalog& catalog, EventRowId id,
                                      std::size_t around, const std::function<bool(const EventRow&)>& row) {
  const auto neighbours = [&](const std::string& side, const std::string& order) -> Result<std::vector<EventRowId>> {
    auto query = database.prepare(
        "SELECT n.id FROM main.event e JOIN main.event n INDEXED BY event_thread_ts ON n.thread_id = "
        "e.thread_id AND (n.ts_ns, n.id) " +
        side +
        " (e.ts_ns, e.id) WHERE e.id = ?1 "
        "ORDER BY n.ts_ns " +
        order + ", n.id " + order + " LIMIT ?2");
    if (!query) return query.error();
    query->bind(1, id);
    query->bind(2, static_cast<std::int64_t>(std::min<std::size_t>(around, std::numeric_limits<std::int64_t>::max())));
    std::vector<EventRowId> ids;
    auto done = each(*query, [&](const SqlRow& found) { ids.emplace_back(found.integer(0)); });
    if (!done) return done.error();
    return ids;
  };
  auto exists = database.prepare("SELECT count(*) FROM event WHERE id = ?1");
  if (!exists) return exists.error();
  exists->bind(1, id);
  auto count = one_number(std::move(*exists));
  if (!count) return count.error();
  if (*count == 0)
    return Error{"the trace has no event " + to_string(id),
                 "`uscope report` and `events --format json` give events' ids"};
  auto before = neighbours("<", "DESC");
  if (!before) return before.error();
  auto after = neighbours(">", "ASC");
  if (!after) return after.error();
  std::vector<EventRowId> ids(before->rbegin(), before->rend());
  ids.push_back(id);
  ids.insert(ids.end(), after->begin(), after->end());
  auto reader = EventReader::create(database, catalog);
  if (!reader) return reader.error();
  for (const EventRowId one : ids) {
    auto event = reader->read(one);
    if (!event) return event.error();
    if (!row(*event)) return {};
  }
  return {};
}

Result<store::Statement> select_events(const store::Database& database, const Catalog& catalog,
                                       const EventFilter& filter, const std::string& head, const std::string& tail) {
  auto paths = match_paths(database, filter.paths);
  if (!paths) return paths.error();
  const Condition condition(filter, catalog, *paths);
  auto events = one_number(database.prepare("SELECT max(id) FROM event"));
  if (!events) return events.error();
  auto index = choose_index(database, condition, *events);
  if (!index) return index.error();
  return condition.prepare(database, head + " FROM main.event e " +
                                         (*index ? "INDEXED BY " + std::string(*index) : "NOT INDEXED") +
                                         condition.where() + " " + tail);
}

}  // namespace uscope::analyzer
