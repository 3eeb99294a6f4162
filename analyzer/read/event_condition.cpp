// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/event_condition.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "analyzer/read/part.h"
#include "analyzer/read/path_filter.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "support/glob.h"
#include "syscalls/errno_names.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

template <typename Value>
bool has_value(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string parameter(std::size_t place) {
  return fmt::format(":v{}", place);
}

}  // namespace

bool is_target(const std::vector<std::string>& targets, const Kind& kind) {
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    const std::size_t colon = std::min(target.find(':'), target.size());
    if (std::string_view(target).substr(0, colon) != kind.source) return false;
    return colon == target.size() || glob_matches(target.substr(colon + 1), kind.name);
  });
}

std::vector<std::string> names_of(const Kind& kind) {
  if (!is_of_probes(kind.source) && kind.source != trace::source_name(USC_SOURCE_LOGGED)) return {};
  std::vector<std::string> names{kind.name};
  // Functions of C++ have colons of their own.
  const int colons = kind.source == trace::source_name(USC_SOURCE_USDT) ? 2 : 1;
  std::size_t begin = 0;
  for (int i = 0; i < colons; i++) {
    const std::size_t colon = kind.name.find(':', begin);
    if (colon == std::string::npos || colon + 1 == kind.name.size()) break;
    begin = colon + 1;
    names.push_back(kind.name.substr(begin));
  }
  return names;
}

namespace {

bool is_named(const std::vector<std::string>& globs, const Kind& kind) {
  const std::vector<std::string> names = names_of(kind);
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return glob_matches(glob, name); });
  });
}

}  // namespace

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

Condition::Condition(const EventFilter& filter, const Catalog& catalog, const PathMatches& paths) {
  add_tasks(filter, catalog);
  add_calls(filter, catalog);
  add_results(filter, catalog);
  add_stacks(filter);
  if (!filter.paths.empty()) add_paths(paths);
  if (filter.since_ns) add("e.ts_ns >= ?", difference(*filter.since_ns, difference(0, catalog.start_ns)));
  if (filter.until_ns) add("e.ts_ns <= ?", difference(*filter.until_ns, difference(0, catalog.start_ns)));
}

std::string Condition::where(const char* index) const {
  std::string text;
  for (const Term& term : terms_)
    if (!index || (term.index && std::string_view(term.index) == index))
      text += (text.empty() ? " WHERE (" : " AND (") + term.text + ")";
  return text;
}

std::vector<const char*> Condition::indices() const {
  std::vector<const char*> names;
  for (const Term& term : terms_)
    if (term.index && !has_value(names, term.index)) names.push_back(term.index);
  return names;
}

Result<store::Statement> Condition::prepare(const store::Database& database, const std::string& sql) const {
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

std::string Condition::keep(Value value) {
  values_.push_back(std::move(value));
  return parameter(values_.size() - 1);
}

void Condition::add(std::string term, Value value, const char* index) {
  term.replace(term.find('?'), 1, keep(std::move(value)));
  terms_.push_back({term, index});
}

template <typename Number>
void Condition::add_any_of(const std::string& column, const std::vector<Number>& numbers, const char* index) {
  std::string list = "[";
  for (const Number number : numbers) list += fmt::format("{}{}", list.size() > 1 ? "," : "", trace::number_of(number));
  add(column + " IN (SELECT value FROM json_each(?))", {std::nullopt, list + "]"}, index);
}

void Condition::add_functions(const std::vector<std::string>& globs, const std::string& before) {
  if (globs.empty()) return;
  std::string term;
  for (const std::string& glob : globs) {
    const bool literal = glob.find_first_of("*?[") == std::string::npos;
    term += (term.empty() ? before : " OR ") + "f.function " + (literal ? "= " : "GLOB ") + keep({std::nullopt, glob});
  }
  terms_.push_back({term + ")", "event_stack"});
}

void Condition::add_tasks(const EventFilter& filter, const Catalog& catalog) {
  if (!filter.pids.empty() || !filter.tids.empty()) {
    std::vector<ThreadRowId> threads;
    for (const Thread& thread : catalog.threads) {
      const Process* process = catalog.processes.find(thread.process_id);
      const bool pid_fits = filter.pids.empty() || (process && has_value(filter.pids, process->pid));
      const bool tid_fits = filter.tids.empty() || has_value(filter.tids, thread.tid);
      if (pid_fits && tid_fits) threads.push_back(thread.id);
    }
    add_any_of("e.thread_id", threads, "event_thread_ts");
  }
  add_thread_names(filter.threads, catalog);
  if (filter.processes.empty()) return;
  std::vector<ImageRowId> images;
  for (const Image& image : catalog.images)
    if (goes_by(image, filter.processes)) images.push_back(image.id);
  add_any_of("e.image_id", images, nullptr);
}

// Threads that had such a name; of those that had others, too, the name is looked up by the time of the event.
void Condition::add_thread_names(const std::vector<std::string>& globs, const Catalog& catalog) {
  if (globs.empty()) return;
  std::vector<ThreadRowId> named;
  std::string renamed = "[";
  for (const Thread& thread : catalog.threads) {
    if (!was_named(thread, globs)) continue;
    named.push_back(thread.id);
    if (!thread.names.empty())
      renamed += fmt::format("{}{}", renamed.size() > 1 ? "," : "", trace::number_of(thread.id));
  }
  add_any_of("e.thread_id", named, "event_thread_ts");
  if (renamed.size() == 1) return;
  std::string fits;
  for (const std::string& glob : globs)
    fits += fmt::format("{}tn.name GLOB {}", fits.empty() ? "" : " OR ", keep({std::nullopt, glob}));
  // The last name by then.
  terms_.push_back({"e.thread_id NOT IN (SELECT value FROM json_each(" + keep({std::nullopt, renamed + "]"}) +
                        ")) OR (SELECT " + fits +
                        " FROM thread_name tn WHERE tn.thread_id = e.thread_id AND tn.ts_ns <= e.ts_ns ORDER BY "
                        "tn.ts_ns DESC LIMIT 1)",
                    nullptr});
}

void Condition::add_calls(const EventFilter& filter, const Catalog& catalog) {
  if (!filter.calls && filter.targets.empty() && filter.kinds.empty()) return;
  std::vector<KindRowId> kinds;
  for (const Kind& kind : catalog.kinds) {
    const bool named = filter.calls && !is_of_probes(kind.source) && has_value(*filter.calls, kind.name);
    if (named || is_target(filter.targets, kind) || is_named(filter.kinds, kind)) kinds.push_back(kind.id);
  }
  add_any_of("e.kind_id", kinds, "event_kind_a0");
}

void Condition::add_results(const EventFilter& filter, const Catalog& catalog) {
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

void Condition::add_stacks(const EventFilter& filter) {
  add_functions(filter.triggers,
                "e.stack_id IN (SELECT s.id FROM frame f JOIN stack s ON s.trigger_frame_id = f.id WHERE ");
  add_functions(filter.functions,
                "e.stack_id IN (SELECT sf.stack_id FROM frame f JOIN stack_frame sf ON sf.frame_id = f.id WHERE ");
}

void Condition::add_paths(const PathMatches& paths) {
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

Result<const char*> choose_index(const store::Database& database, const Condition& condition, std::int64_t events) {
  constexpr std::int64_t kShare = 50;  // few are less than a 50th of all
  std::int64_t fewest = std::max<std::int64_t>(1000, events / kShare);
  const char* best = nullptr;
  for (const char* index : condition.indices()) {
    auto count = one_number(condition.prepare(database, "SELECT count(*) FROM (SELECT 1 FROM main.event e INDEXED BY " +
                                                            std::string(index) + condition.where(index) + " LIMIT " +
                                                            std::to_string(fewest) + ")"));
    if (!count) return count.error();
    if (*count >= fewest) continue;
    fewest = *count;
    best = index;
  }
  return best;
}

}  // namespace uscope::analyzer
