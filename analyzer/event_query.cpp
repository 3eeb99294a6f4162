// The filter becomes one SQL query that yields event ids by time; each event's columns, strings and names are then
// looked up by id. Where SQLite must sort, it sorts ids and times only and spills to temporary files, so memory stays
// bounded. Names of processes, threads and calls come from the catalog, triggers from a bounded cache of stacks.
#include "analyzer/event_query.h"

#include <sqlite3.h>

#include <algorithm>
#include <unordered_map>

#include "analyzer/catalog.h"
#include "analyzer/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kCachedStacks = 4096;

template <typename Value>
bool contains(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The WHERE clause that a filter comes to. Lists of numbers are bound as one JSON array each.
class Condition {
 public:
  Condition(const EventFilter& filter, const Catalog& catalog) {
    add_tasks(filter, catalog);
    add_calls(filter, catalog);
    add_results(filter);
    add_stacks(filter);
    if (filter.since_ns) add("e.ts_ns >= ?", difference(*filter.since_ns, difference(0, catalog.start_ns)));
    if (filter.until_ns) add("e.ts_ns <= ?", difference(*filter.until_ns, difference(0, catalog.start_ns)));
  }

  [[nodiscard]] std::string where() const { return text_.empty() ? "" : " WHERE " + text_; }
  [[nodiscard]] int bound() const { return static_cast<int>(values_.size()); }

  void bind(store::Statement& query) const {
    int index = 1;
    for (const Value& value : values_) {
      if (value.number) {
        query.bind(index++, *value.number);
      } else {
        query.bind(index++, value.text);
      }
    }
  }

 private:
  struct Value {
    std::optional<std::int64_t> number;
    std::string text;
  };

  // `term` holds one ?, which becomes the next parameter.
  void add(const std::string& term, Value value) {
    values_.push_back(std::move(value));
    std::string numbered = term;
    numbered.replace(numbered.find('?'), 1, "?" + std::to_string(values_.size()));
    text_ += (text_.empty() ? "(" : " AND (") + numbered + ")";
  }
  void add(const std::string& term, std::int64_t number) { add(term, Value{number, ""}); }

  void add_ids(const std::string& column, const std::vector<std::int64_t>& ids) {
    std::string list = "[";
    for (const std::int64_t id : ids) list += (list.size() > 1 ? "," : "") + std::to_string(id);
    add(column + " IN (SELECT value FROM json_each(?))", Value{std::nullopt, list + "]"});
  }

  // Alternatives, each bound as a text of its own: `before` text₁ `between` text₂ … `after`.
  void add_texts(const std::vector<std::string>& texts, const std::string& before, const std::string& between,
                 const std::string& after) {
    if (texts.empty()) return;
    std::string term;
    for (const std::string& text : texts) {
      values_.push_back({std::nullopt, text});
      term += (term.empty() ? before : between) + "?" + std::to_string(values_.size());
    }
    text_ += (text_.empty() ? "(" : " AND (") + term + after + ")";
  }

  void add_tasks(const EventFilter& filter, const Catalog& catalog) {
    if (!filter.pids.empty() || !filter.tids.empty()) {
      std::vector<std::int64_t> threads;
      for (const Thread& thread : catalog.threads) {
        const Process* process = catalog.processes.find(thread.process_id);
        const bool pid_fits = filter.pids.empty() || (process && contains(filter.pids, process->pid));
        const bool tid_fits = filter.tids.empty() || contains(filter.tids, thread.tid);
        if (pid_fits && tid_fits) threads.push_back(thread.id);
      }
      add_ids("e.thread_id", threads);
    }
    if (filter.processes.empty()) return;
    std::vector<std::int64_t> images;
    for (const Image& image : catalog.images) {
      const std::string name(base_name(image.path));
      for (const std::string& glob : filter.processes) {
        if (sqlite3_strglob(glob.c_str(), name.c_str()) != 0) continue;
        images.push_back(image.id);
        break;
      }
    }
    add_ids("e.image_id", images);
  }

  void add_calls(const EventFilter& filter, const Catalog& catalog) {
    if (!filter.calls) return;
    std::vector<std::int64_t> kinds;
    for (const Kind& kind : catalog.kinds)
      if (contains(*filter.calls, kind.name)) kinds.push_back(kind.id);
    add_ids("e.kind_id", kinds);
  }

  void add_results(const EventFilter& filter) {
    if (filter.failed) {
      add("e.result BETWEEN -4095 AND ?", -1);
      add("e.result NOT BETWEEN -516 AND ?", -512);
    }
    if (!filter.errors.empty()) {
      std::vector<std::int64_t> results;
      for (const std::int64_t number : filter.errors) results.push_back(-number);
      add_ids("e.result", results);
    }
    if (filter.slower_ns) add("e.dur_ns >= ?", *filter.slower_ns);
    add_texts(filter.hows, "e.how IN (", ", ", ")");
  }

  void add_stacks(const EventFilter& filter) {
    add_texts(
        filter.triggers,
        "e.stack_id IN (SELECT s.id FROM frame f JOIN stack s ON s.trigger_frame_id = f.id WHERE f.function GLOB ",
        " OR f.function GLOB ", ")");
    add_texts(filter.functions,
              "e.stack_id IN (SELECT sf.stack_id FROM frame f JOIN stack_frame sf ON sf.frame_id = f.id "
              "WHERE f.function GLOB ",
              " OR f.function GLOB ", ")");
  }

  std::string text_;
  std::vector<Value> values_;
};

struct StackFacts {
  std::int64_t depth = 0;
  std::string ended;
  std::string trigger;
  std::string module;
  bool fallback = false;
};

class RowReader {
 public:
  static Result<RowReader> create(const store::Database& database, const Catalog& catalog) {
    auto event = database.prepare(
        "SELECT ts_ns, dur_ns, how, thread_id, image_id, kind_id, result, stack_id, "
        "a0, a1, a2, a3, a4, a5 FROM event WHERE id = ?1");
    if (!event) return event.error();
    auto strings = database.prepare(
        "SELECT es.arg, s.value, es.late FROM event_string es "
        "JOIN string s ON s.id = es.string_id WHERE es.event_id = ?1 ORDER BY es.arg");
    if (!strings) return strings.error();
    auto stack = database.prepare(
        "SELECT s.depth, s.ended, f.function, m.path, s.trigger_fallback FROM stack s "
        "LEFT JOIN frame f ON f.id = s.trigger_frame_id "
        "LEFT JOIN module m ON m.id = f.module_id WHERE s.id = ?1");
    if (!stack) return stack.error();
    return RowReader(catalog, std::move(*event), std::move(*strings), std::move(*stack));
  }

  Result<EventRow> read(std::int64_t id) {
    EventRow out;
    out.id = id;
    event_.bind(1, id);
    auto done = each(event_, [&](const Row& row) { fill(row, out); });
    if (!done) return done.error();
    strings_.bind(1, id);
    done = each(strings_, [&](const Row& row) {
      out.strings.push_back({static_cast<int>(row.integer(0)), text(row, 1), row.integer(2) != 0});
    });
    if (!done) return done.error();
    done = add_stack(out);
    if (!done) return done.error();
    return out;
  }

 private:
  RowReader(const Catalog& catalog, store::Statement event, store::Statement strings, store::Statement stack)
      : catalog_(&catalog), event_(std::move(event)), strings_(std::move(strings)), stack_(std::move(stack)) {}

  void fill(const Row& row, EventRow& out) const {
    out.ts_ns = difference(row.integer(0), catalog_->start_ns);
    out.dur_ns = row.maybe_integer(1);
    out.how = text(row, 2);
    if (const Thread* thread = catalog_->threads.find(row.integer(3))) {
      out.tid = thread->tid;
      out.thread = thread->name;
      if (const Process* process = catalog_->processes.find(thread->process_id)) out.pid = process->pid;
    }
    if (const Image* image = catalog_->images.find(row.integer(4))) out.process = base_name(image->path);
    if (const Kind* kind = catalog_->kinds.find(row.integer(5))) {
      out.call = kind->name;
      out.abi = kind->abi;
      out.nr = kind->nr;
    }
    out.result = row.maybe_integer(6);
    if (out.result && is_error(*out.result)) out.error = error_name(-*out.result);
    out.stack_id = row.maybe_integer(7);
    for (int arg = 0; arg < 6; arg++) out.args[static_cast<std::size_t>(arg)] = row.maybe_integer(8 + arg);
  }

  Result<void> add_stack(EventRow& out) {
    if (!out.stack_id) return {};
    auto at = stacks_.find(*out.stack_id);
    if (at == stacks_.end()) {
      if (stacks_.size() >= kCachedStacks) stacks_.clear();
      StackFacts facts;
      stack_.bind(1, *out.stack_id);
      auto done = each(stack_, [&](const Row& row) {
        facts = {row.integer(0), text(row, 1), text(row, 2), text(row, 3), row.integer(4) != 0};
      });
      if (!done) return done;
      at = stacks_.emplace(*out.stack_id, std::move(facts)).first;
    }
    out.depth = at->second.depth;
    out.ended = at->second.ended;
    out.trigger = at->second.trigger;
    out.trigger_module = at->second.module;
    out.trigger_fallback = at->second.fallback;
    return {};
  }

  const Catalog* catalog_;
  store::Statement event_;
  store::Statement strings_;
  store::Statement stack_;
  std::unordered_map<std::int64_t, StackFacts> stacks_;
};

}  // namespace

Result<void> for_each_event(const store::Database& database, const EventFilter& filter,
                            const std::function<bool(const EventRow&)>& row) {
  auto catalog = read_catalog(database);
  if (!catalog) return catalog.error();
  const Condition condition(filter, *catalog);
  std::string sql = "SELECT e.id FROM event e" + condition.where() + " ORDER BY e.ts_ns, e.id";
  if (filter.limit) sql += " LIMIT ?" + std::to_string(condition.bound() + 1);
  auto query = database.prepare(sql);
  if (!query) return query.error();
  condition.bind(*query);
  if (filter.limit)
    query->bind(condition.bound() + 1, static_cast<std::int64_t>(std::min<std::uint64_t>(
                                           *filter.limit, std::numeric_limits<std::int64_t>::max())));
  auto reader = RowReader::create(database, *catalog);
  if (!reader) return reader.error();
  while (true) {
    auto more = query->step();
    if (!more) return more.error();
    if (!*more) return {};
    auto event = reader->read(query->integer(0));
    if (!event) return event.error();
    if (!row(*event)) return {};
  }
}

struct StackReader::State {
  store::Statement query;
  std::unordered_map<std::int64_t, std::vector<StackFrame>> cache;
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

Result<const std::vector<StackFrame>*> StackReader::frames(std::int64_t stack_id) {
  const auto at = state_->cache.find(stack_id);
  if (at != state_->cache.end()) return &at->second;
  if (state_->cache.size() >= kCachedStacks) state_->cache.clear();
  std::vector<StackFrame> frames;
  state_->query.bind(1, stack_id);
  auto done = each(state_->query, [&](const Row& row) {
    frames.push_back({row.integer(0), row.integer(1), row.integer(2) != 0, row.integer(3) != 0, text(row, 4),
                      text(row, 5), row.integer(6), row.integer(7), text(row, 8), row.integer(9)});
  });
  if (!done) return done.error();
  return &state_->cache.emplace(stack_id, std::move(frames)).first->second;
}

}  // namespace uscope::analyzer
