// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The filter becomes one SQL query that returns event ids by time; each event's columns, strings and names are then
// looked up by id. If SQLite must sort, it sorts only ids and times and spills to temporary files, so memory stays
// bounded. Names of processes, threads and calls come from the catalog, triggers from a bounded cache of stacks.
//
// The query plan is not left to SQLite: if some index leads to few events, the one with the fewest is used and the ids
// are sorted. Otherwise the events are read in stored order, by time, from the filter's first moment to its last:
// matches are then frequent, and the first ones come at once.
#include "analyzer/read/event_query.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "analyzer/read/catalog.h"
#include "analyzer/read/path_filter.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "support/glob.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kCachedStacks = 4096;

template <typename Value>
bool contains(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The texts that match a path filter: alone, and as a folder with what begins there. As JSON arrays of ids.
struct PathMatches {
  std::string texts = "[]";
  std::string pairs = "[]";
};

Result<PathMatches> match_paths(const store::Database& database, const std::vector<std::string>& globs) {
  PathMatches matches;
  if (globs.empty()) return matches;
  const auto append = [](std::string& list, const std::string& item) {
    list.insert(list.size() - 1, (list.size() > 2 ? "," : "") + item);
  };
  auto done = each_path(database, [&](const std::string& name, const PathIds& ids) {
    if (!path_matches(globs, name)) return;
    if (ids.folder)
      append(matches.pairs, fmt::format("[{},{}]", *ids.folder, ids.text));
    else
      append(matches.texts, std::to_string(ids.text));
  });
  if (!done) return done.error();
  return matches;
}

// The WHERE clause of a filter. Each list of numbers is bound as one JSON array.
class Condition {
 public:
  Condition(const EventFilter& filter, const Catalog& catalog, const PathMatches& paths) {
    add_tasks(filter, catalog);
    add_calls(filter, catalog);
    add_results(filter, catalog);
    add_stacks(filter);
    if (!filter.paths.empty()) add_paths(paths);
    if (filter.since_ns) add("e.ts_ns >= ?", difference(*filter.since_ns, difference(0, catalog.start_ns)));
    if (filter.until_ns) add("e.ts_ns <= ?", difference(*filter.until_ns, difference(0, catalog.start_ns)));
  }

  // With `index`: only the terms that this index serves.
  [[nodiscard]] std::string where(const char* index = nullptr) const {
    std::string text;
    for (const Term& term : terms_)
      if (!index || (term.index && std::string_view(term.index) == index))
        text += (text.empty() ? " WHERE (" : " AND (") + term.text + ")";
    return text;
  }

  // The indices that serve a term.
  [[nodiscard]] std::vector<const char*> indices() const {
    std::vector<const char*> names;
    for (const Term& term : terms_)
      if (term.index && !contains(names, term.index)) names.push_back(term.index);
    return names;
  }

  void add(const std::string& term, std::int64_t number) { add(term, {number, ""}, nullptr); }

  // A query with only some of the terms has parameters for only some of the values.
  Result<store::Statement> prepare(const store::Database& database, const std::string& sql) const {
    auto query = database.prepare(sql);
    if (!query) return query;
    for (std::size_t i = 0; i < values_.size(); i++) {
      const std::string name = parameter(i);
      const int at = sqlite3_bind_parameter_index(query->handle(), name.c_str());
      if (at == 0) continue;
      if (values_[i].number) {
        query->bind(at, *values_[i].number);
      } else {
        query->bind(at, values_[i].text);
      }
    }
    return query;
  }

 private:
  struct Value {
    std::optional<std::int64_t> number;
    std::string text;
  };
  struct Term {
    std::string text;
    const char* index = nullptr;  // an index that serves it
  };

  static std::string parameter(std::size_t place) { return fmt::format(":v{}", place); }

  std::string keep(Value value) {
    values_.push_back(std::move(value));
    return parameter(values_.size() - 1);
  }

  // `term` holds one `?`, which is replaced by the value's parameter.
  void add(std::string term, Value value, const char* index) {
    term.replace(term.find('?'), 1, keep(std::move(value)));
    terms_.push_back({term, index});
  }

  // `Number` is an integer or an id.
  template <typename Number>
  void add_any_of(const std::string& column, const std::vector<Number>& numbers, const char* index) {
    std::string list = "[";
    for (const Number number : numbers)
      list += fmt::format("{}{}", list.size() > 1 ? "," : "", trace::number_of(number));
    add(column + " IN (SELECT value FROM json_each(?))", {std::nullopt, list + "]"}, index);
  }

  // `before` alternative OR alternative … `after`; the alternatives are GLOBs of a function's name.
  void add_functions(const std::vector<std::string>& globs, const std::string& before) {
    if (globs.empty()) return;
    std::string term;
    for (const std::string& glob : globs) {
      const bool literal = glob.find_first_of("*?[") == std::string::npos;
      term +=
          (term.empty() ? before : " OR ") + "f.function " + (literal ? "= " : "GLOB ") + keep({std::nullopt, glob});
    }
    terms_.push_back({term + ")", "event_stack"});
  }

  void add_tasks(const EventFilter& filter, const Catalog& catalog) {
    if (!filter.pids.empty() || !filter.tids.empty()) {
      std::vector<ThreadRowId> threads;
      for (const Thread& thread : catalog.threads) {
        const Process* process = catalog.processes.find(thread.process_id);
        const bool pid_fits = filter.pids.empty() || (process && contains(filter.pids, process->pid));
        const bool tid_fits = filter.tids.empty() || contains(filter.tids, thread.tid);
        if (pid_fits && tid_fits) threads.push_back(thread.id);
      }
      add_any_of("e.thread_id", threads, "event_thread_ts");
    }
    if (filter.processes.empty()) return;
    std::vector<ImageRowId> images;
    for (const Image& image : catalog.images)
      if (goes_by(image, filter.processes)) images.push_back(image.id);
    add_any_of("e.image_id", images, nullptr);
  }

  void add_calls(const EventFilter& filter, const Catalog& catalog) {
    if (!filter.calls && filter.targets.empty()) return;
    std::vector<KindRowId> kinds;
    for (const Kind& kind : catalog.kinds) {
      const bool named = filter.calls && !is_of_probes(kind.source) && contains(*filter.calls, kind.name);
      if (named || is_target(filter.targets, kind)) kinds.push_back(kind.id);
    }
    add_any_of("e.kind_id", kinds, "event_kind_a0");
  }

  // A number that a function returns is no error's.
  void add_results(const EventFilter& filter, const Catalog& catalog) {
    const bool others = std::any_of(catalog.kinds.begin(), catalog.kinds.end(),
                                    [](const Kind& kind) { return is_of_probes(kind.source); });
    if (others && (filter.failed || !filter.errors.empty())) {
      std::vector<KindRowId> calls;
      for (const Kind& kind : catalog.kinds)
        if (kind.is_call()) calls.push_back(kind.id);
      add_any_of("e.kind_id", calls, nullptr);
    }
    if (filter.failed) {
      add(fmt::format("e.result BETWEEN {} AND ?", -syscalls::kLastErrno), -1);
      add("e.result NOT BETWEEN -516 AND ?", -512);
    }
    if (!filter.errors.empty()) {
      std::vector<std::int64_t> results;
      for (const std::int64_t number : filter.errors) results.push_back(-number);
      add_any_of("e.result", results, nullptr);
    }
    if (filter.slower_ns) add("e.dur_ns >= ?", *filter.slower_ns);
    if (filter.hows.empty()) return;
    std::string list;
    for (const std::string& how : filter.hows) list += (list.empty() ? "" : ", ") + keep({std::nullopt, how});
    terms_.push_back({"e.how IN (" + list + ")", nullptr});
  }

  void add_stacks(const EventFilter& filter) {
    add_functions(filter.triggers,
                  "e.stack_id IN (SELECT s.id FROM frame f JOIN stack s ON s.trigger_frame_id = f.id WHERE ");
    add_functions(filter.functions,
                  "e.stack_id IN (SELECT sf.stack_id FROM frame f JOIN stack_frame sf ON sf.frame_id = f.id WHERE ");
  }

  // A folder stands one argument before the path that begins there.
  void add_paths(const PathMatches& paths) {
    terms_.push_back(
        {"e.id IN (SELECT es.event_id FROM event_string es WHERE es.string_id IN (SELECT value FROM json_each(" +
             keep({std::nullopt, paths.texts}) +
             ")) UNION SELECT es.event_id FROM event_string es JOIN event_string folder ON folder.event_id = "
             "es.event_id "
             "AND folder.arg = es.arg - 1 AND folder.source = 2 WHERE es.source != 2 AND (folder.string_id, "
             "es.string_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(" +
             keep({std::nullopt, paths.pairs}) + ")))",
         nullptr});
  }

  std::vector<Term> terms_;
  std::vector<Value> values_;
};

Result<std::int64_t> one_number(Result<store::Statement> query) {
  if (!query) return query.error();
  auto row = query->step();
  if (!row) return row.error();
  return *row ? query->integer(0) : 0;
}

// The index that leads to the fewest events, if those are few; else null.
Result<const char*> choose_index(const store::Database& database, const Condition& condition, std::int64_t events) {
  constexpr std::int64_t kShare = 50;  // few are less than a 50th of all
  std::int64_t fewest = std::max<std::int64_t>(1000, events / kShare);
  const char* best = nullptr;
  for (const char* index : condition.indices()) {
    auto count = one_number(condition.prepare(database, "SELECT count(*) FROM (SELECT 1 FROM event e INDEXED BY " +
                                                            std::string(index) + condition.where(index) + " LIMIT " +
                                                            std::to_string(fewest) + ")"));
    if (!count) return count.error();
    if (*count >= fewest) continue;
    fewest = *count;
    best = index;
  }
  return best;
}

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
  std::string sql = "SELECT e.id FROM event e " + (*index ? "INDEXED BY " + std::string(*index) : "NOT INDEXED") +
                    condition.where() + " ORDER BY " + (ordered ? "e.id" : "e.ts_ns, e.id");
  if (filter.limit)
    sql += fmt::format(" LIMIT {}", std::min<std::uint64_t>(*filter.limit, std::numeric_limits<std::int64_t>::max()));
  return condition.prepare(database, sql);
}

struct StackFacts {
  std::int64_t depth = 0;
  std::string ended;
  std::string trigger;
  std::string module;
  bool fallback = false;
  bool guessed = false;
};

EventString::Source source_of(std::int64_t number) {
  if (number == 1) return EventString::Source::kKernel;
  return number == 2 ? EventString::Source::kDescriptor : EventString::Source::kProgram;
}

EventContent content_of(const SqlRow& row) {
  EventContent out;
  out.arg = static_cast<int>(row.integer(0));
  out.holds = row.integer(1) == 0 ? EventContent::Holds::kData : EventContent::Holds::kStructure;
  out.source = source_of(row.integer(2));
  if (!row.is_null(3)) out.bytes = text(row, 3);
  out.late = row.integer(4) != 0;
  out.cut = row.integer(5) != 0;
  return out;
}

constexpr std::string_view kSelectSignal =
    "SELECT s.number, s.code, s.result, s.blocked, s.sender_pid, s.sender_tid, s.sender, s.receiver_pid, "
    "s.receiver_tid, s.receiver, s.handler, f.function, s.info_pid, s.info_uid, s.info_status, s.info_value, "
    "s.info_address, s.info_band, s.info_fd, s.info_timer, s.info_overrun, s.info_syscall FROM signal s "
    "LEFT JOIN frame f ON f.id = s.handler_frame_id WHERE s.event_id = ?1";

EventSignal signal_of(const SqlRow& row) {
  EventSignal out;
  out.number = static_cast<int>(row.integer(0));
  out.code = static_cast<int>(row.integer(1));
  out.delivered = row.is_null(2);
  out.result = text(row, 2);
  out.blocked = row.integer(3) != 0;
  out.sender_pid = row.maybe_integer(4);
  out.sender_tid = row.integer(5);
  out.sender = text(row, 6);
  out.receiver_pid = row.integer(7);
  out.receiver_tid = row.maybe_integer(8);
  out.receiver = text(row, 9);
  out.handler = row.integer(10);
  out.handler_function = text(row, 11);
  int column = 12;
  for (auto field :
       {&trace::SignalInfo::pid, &trace::SignalInfo::uid, &trace::SignalInfo::status, &trace::SignalInfo::value,
        &trace::SignalInfo::address, &trace::SignalInfo::band, &trace::SignalInfo::fd, &trace::SignalInfo::timer,
        &trace::SignalInfo::overrun, &trace::SignalInfo::syscall})
    out.info.*field = row.maybe_integer(column++);
  return out;
}

class EventReader {
 public:
  static Result<EventReader> create(const store::Database& database, const Catalog& catalog) {
    auto event = database.prepare(
        "SELECT ts_ns, dur_ns, how, thread_id, image_id, kind_id, result, stack_id, "
        "a0, a1, a2, a3, a4, a5 FROM event WHERE id = ?1");
    if (!event) return event.error();
    auto strings = database.prepare(
        "SELECT es.arg, s.value, es.late, es.source FROM event_string es "
        "JOIN string s ON s.id = es.string_id WHERE es.event_id = ?1 ORDER BY es.arg");
    if (!strings) return strings.error();
    auto contents = database.prepare(
        "SELECT ec.arg, ec.holds, ec.source, c.value, ec.late, ec.cut FROM event_content ec "
        "LEFT JOIN content c ON c.id = ec.content_id WHERE ec.event_id = ?1 ORDER BY ec.arg, ec.holds, ec.source");
    if (!contents) return contents.error();
    auto has_contents = one_number(database.prepare("SELECT EXISTS (SELECT * FROM event_content)"));
    if (!has_contents) return has_contents.error();
    auto stack = database.prepare(
        "SELECT s.depth, s.ended, f.function, m.path, s.trigger_fallback, "
        "EXISTS (SELECT 1 FROM guessed_stack g WHERE g.stack_id = s.id) FROM stack s "
        "LEFT JOIN frame f ON f.id = s.trigger_frame_id "
        "LEFT JOIN module m ON m.id = f.module_id WHERE s.id = ?1");
    if (!stack) return stack.error();
    auto signal = database.prepare(kSelectSignal);
    if (!signal) return signal.error();
    EventReader reader(catalog, std::move(*event), std::move(*strings), std::move(*contents), std::move(*signal),
                       std::move(*stack));
    reader.has_contents_ = *has_contents != 0;
    return reader;
  }

  Result<EventRow> read(EventRowId id) {
    EventRow out;
    out.id = id;
    event_.bind(1, id);
    auto done = each(event_, [&](const SqlRow& row) { fill(row, out); });
    if (!done) return done.error();
    strings_.bind(1, id);
    done = each(strings_, [&](const SqlRow& row) {
      out.strings.push_back(
          {static_cast<int>(row.integer(0)), text(row, 1), row.integer(2) != 0, source_of(row.integer(3))});
    });
    if (!done) return done.error();
    if (has_contents_) {
      contents_.bind(1, id);
      done = each(contents_, [&](const SqlRow& row) { out.contents.push_back(content_of(row)); });
      if (!done) return done.error();
    }
    if (out.source == trace::source_name(USC_SOURCE_SIGNAL)) {
      signal_.bind(1, id);
      done = each(signal_, [&](const SqlRow& row) { out.signal = signal_of(row); });
      if (!done) return done.error();
    }
    done = add_stack(out);
    if (!done) return done.error();
    return out;
  }

 private:
  EventReader(const Catalog& catalog, store::Statement event, store::Statement strings, store::Statement contents,
              store::Statement signal, store::Statement stack)
      : catalog_(&catalog),
        event_(std::move(event)),
        strings_(std::move(strings)),
        contents_(std::move(contents)),
        signal_(std::move(signal)),
        stack_(std::move(stack)) {}

  void fill(const SqlRow& row, EventRow& out) const {
    out.ts_ns = difference(row.integer(0), catalog_->start_ns);
    out.dur_ns = row.maybe_integer(1);
    out.how = text(row, 2);
    if (const Thread* thread = catalog_->threads.find(ThreadRowId(row.integer(3)))) {
      out.tid = thread->tid;
      out.thread = thread->name;
      if (const Process* process = catalog_->processes.find(thread->process_id)) out.pid = process->pid;
    }
    if (const Image* image = catalog_->images.find(ImageRowId(row.integer(4)))) out.process = image->name;
    if (const Kind* kind = catalog_->kinds.find(KindRowId(row.integer(5)))) {
      out.call = kind->name;
      out.source = kind->source;
      out.abi = kind->abi;
      out.nr = kind->nr;
      out.arguments = kind->arguments;
    }
    out.result = row.maybe_integer(6);
    if (out.result && !is_of_probes(out.source) && syscalls::is_error(*out.result))
      out.error = error_name(-*out.result);
    out.stack_id = maybe_id<StackRowId>(row, 7);
    for (int arg = 0; arg < 6; arg++) out.args[static_cast<std::size_t>(arg)] = row.maybe_integer(8 + arg);
  }

  Result<void> add_stack(EventRow& out) {
    if (!out.stack_id) return {};
    auto at = stacks_.find(*out.stack_id);
    if (at == stacks_.end()) {
      if (stacks_.size() >= kCachedStacks) stacks_.clear();
      StackFacts facts;
      stack_.bind(1, *out.stack_id);
      auto done = each(stack_, [&](const SqlRow& row) {
        facts = {row.integer(0), text(row, 1), text(row, 2), text(row, 3), row.integer(4) != 0, row.integer(5) != 0};
      });
      if (!done) return done;
      at = stacks_.emplace(*out.stack_id, std::move(facts)).first;
    }
    out.depth = at->second.depth;
    out.ended = at->second.ended;
    out.trigger = at->second.trigger;
    out.trigger_module = at->second.module;
    out.trigger_fallback = at->second.fallback;
    out.guessed = at->second.guessed;
    return {};
  }

  const Catalog* catalog_;
  store::Statement event_;
  store::Statement strings_;
  store::Statement contents_;
  store::Statement signal_;
  bool has_contents_ = false;  // else none is looked for
  store::Statement stack_;
  std::unordered_map<StackRowId, StackFacts> stacks_;
};

}  // namespace

bool is_target(const std::vector<std::string>& targets, const Kind& kind) {
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    const std::size_t colon = std::min(target.find(':'), target.size());
    if (std::string_view(target).substr(0, colon) != kind.source) return false;
    return colon == target.size() || glob_matches(target.substr(colon + 1), kind.name);
  });
}

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
        "SELECT n.id FROM event e JOIN event n INDEXED BY event_thread_ts ON n.thread_id = "
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
  return condition.prepare(database, head + " FROM event e " +
                                         (*index ? "INDEXED BY " + std::string(*index) : "NOT INDEXED") +
                                         condition.where() + " " + tail);
}

struct StackReader::State {
  store::Statement query;
  std::unordered_map<StackRowId, std::vector<StackFrame>> cache;
};

StackReader::StackReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StackReader::StackReader(StackReader&&) noexcept = default;
StackReader& StackReader::operator=(StackReader&&) noexcept = default;
StackReader::~StackReader() = default;

Result<StackReader> StackReader::create(const store::Database& database) {
  auto query = database.prepare(
      "SELECT sf.position, sf.inline_depth, sf.space = 'kernel', f.inlined, m.path, f.function, "
      "f.function_offset, f.rel_pc, f.file, f.line FROM stack_frame sf "
      "JOIN frame f ON f.id = sf.frame_id LEFT JOIN module m ON m.id = f.module_id "
      "WHERE sf.stack_id = ?1 ORDER BY sf.position, sf.inline_depth");
  if (!query) return query.error();
  return StackReader(std::make_unique<State>(State{std::move(*query), {}}));
}

Result<const std::vector<StackFrame>*> StackReader::frames(StackRowId stack_id) {
  const auto at = state_->cache.find(stack_id);
  if (at != state_->cache.end()) return &at->second;
  if (state_->cache.size() >= kCachedStacks) state_->cache.clear();
  std::vector<StackFrame> frames;
  state_->query.bind(1, stack_id);
  auto done = each(state_->query, [&](const SqlRow& row) {
    frames.push_back({row.integer(0), row.integer(1), row.integer(2) != 0, row.integer(3) != 0, text(row, 4),
                      text(row, 5), row.integer(6), row.integer(7), text(row, 8), row.integer(9)});
  });
  if (!done) return done.error();
  return &state_->cache.emplace(stack_id, std::move(frames)).first->second;
}

}  // namespace uscope::analyzer
