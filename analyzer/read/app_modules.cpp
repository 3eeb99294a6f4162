// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What changes is put into temporary tables and views with the names of the store's own: SQLite looks a name up among
// these first. Stacks are few and distinct: the triggers of those that hold a frame of a module in question are chosen
// anew. Cells are counted from all events, in memory as the loader's.
#include "analyzer/read/app_modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/read/cell_counts.h"
#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"
#include "support/text.h"
#include "trace/own_libraries.h"
#include "trace/trigger.h"

namespace uscope::analyzer {
namespace {

// {}: the table in the file. A view that supplies what an older database lacks is replaced.
constexpr const char* kModules = R"sql(
CREATE TEMP TABLE app_module(id INTEGER PRIMARY KEY);
DROP VIEW IF EXISTS temp.module;
CREATE TEMP VIEW module AS SELECT id, path, build_id,
  CASE WHEN id IN (SELECT id FROM temp.app_module) THEN 'app' ELSE class END AS class FROM {};
)sql";

constexpr const char* kStacks = R"sql(
CREATE TEMP TABLE stack_trigger(stack_id INTEGER PRIMARY KEY, frame_id INTEGER, fallback INTEGER NOT NULL);
INSERT INTO stack_trigger SELECT id, trigger_frame_id, trigger_fallback FROM main.stack;
)sql";

// What views and questions ask. An older store's rows of objects have the trigger that it chose.
constexpr const char* kTriggersOfStacks = R"sql(
DROP TABLE IF EXISTS temp.trigger_of_stack;
CREATE TEMP TABLE trigger_of_stack(stack_id INTEGER, frame_id INTEGER);
INSERT INTO temp.trigger_of_stack SELECT stack_id, frame_id FROM temp.stack_trigger ORDER BY frame_id;
INSERT INTO temp.trigger_of_stack VALUES(NULL, NULL);
CREATE UNIQUE INDEX temp.chosen_trigger_stack ON trigger_of_stack(stack_id, frame_id);
CREATE INDEX temp.chosen_trigger_frame ON trigger_of_stack(frame_id, stack_id);
)sql";

constexpr const char* kObjects = R"sql(
DROP VIEW IF EXISTS temp.object_total;
CREATE TEMP VIEW object_total AS SELECT kind_id, process_id, image_id,
  coalesce(runtime_frame_id, trigger_frame_id) AS trigger_frame_id, folder_id, string_id, part, errno, events, total_ns,
  bytes, changes, last_event_id, space, runtime_frame_id FROM {};
)sql";

constexpr const char* kCells = R"sql(
CREATE INDEX temp.stack_trigger_frame ON stack_trigger(frame_id);
DROP VIEW IF EXISTS temp.stack;
CREATE TEMP VIEW stack AS SELECT s.id AS id, s.depth AS depth, s.ended AS ended, t.frame_id AS trigger_frame_id,
  t.fallback AS trigger_fallback, s.folded AS folded, s.managed AS managed
  FROM {} s JOIN temp.stack_trigger t ON t.stack_id = s.id;
CREATE TEMP TABLE cell(kind_id INTEGER, trigger_frame_id INTEGER, events INTEGER, errors INTEGER, total_ns INTEGER,
  open INTEGER, first_event_id INTEGER);
CREATE TEMP TABLE error_cell(kind_id INTEGER, errno INTEGER, trigger_frame_id INTEGER, events INTEGER,
  first_event_id INTEGER);
CREATE TEMP TABLE cell_latency(kind_id INTEGER, trigger_frame_id INTEGER, up_to_ns INTEGER, events INTEGER);
)sql";

struct Choice {
  std::optional<FrameRowId> frame;
  bool fallback = false;
};

class Triggers {
 public:
  explicit Triggers(const store::Database& database, bool with_runtime)
      : database_(database), with_runtime_(with_runtime) {}

  Result<std::size_t> run(const std::vector<std::string>& globs) {
    auto matched = read_modules(globs);
    if (!matched || (*matched == 0 && !with_runtime_)) return matched;
    auto changed = choose();
    if (!changed) return changed.error();
    if (!*changed) return matched;
    if (auto done = count_cells(); !done) return done.error();
    if (auto done = show_in_views(); !done) return done.error();
    return matched;
  }

 private:
  Result<std::size_t> read_modules(const std::vector<std::string>& globs);
  Result<bool> choose();
  Result<std::optional<Choice>> choice_of(store::Statement& frames, StackRowId id, const trace::TriggerStack& stack);
  Result<void> count_cells();
  Result<void> show_in_views();
  Result<void> write_cells(const std::map<std::pair<KindRowId, FrameRowId>, CellCounts>& cells);

  const store::Database& database_;
  bool with_runtime_;
  TriggerModules modules_;
};

Result<std::size_t> Triggers::read_modules(const std::vector<std::string>& globs) {
  auto modules = read_trigger_modules(database_);
  if (!modules) return modules.error();
  modules_ = std::move(*modules);
  std::vector<ModuleRowId> matched;
  auto done = each_row(database_, "SELECT id, path FROM main.module WHERE class != 'kernel'", [&](const SqlRow& row) {
    const ModuleRowId id(row.integer(0));
    const std::string path = text(row, 1);
    if (std::none_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return trace::module_matches(glob, bytes_of(path)); }))
      return;
    matched.push_back(id);
    modules_[id].app = true;
    modules_[id].named = true;
  });
  if (!done || (matched.empty() && !with_runtime_)) return done ? Result<std::size_t>(0) : done.error();
  if (done = store::execute(database_.handle(), fmt::format(kModules, database_.table("module"))); !done)
    return done.error();
  auto insert = database_.prepare("INSERT INTO temp.app_module VALUES(?1)");
  if (!insert) return insert.error();
  for (const ModuleRowId id : matched)
    if (done = insert->run(id); !done) return done.error();
  return matched.size();
}

// Returns whether any stack has another trigger than before.
Result<bool> Triggers::choose() {
  if (auto done = store::execute(database_.handle(), kStacks); !done) return done.error();
  std::vector<std::pair<StackRowId, trace::TriggerStack>> stacks;
  const std::string of_modules =
      " WHERE id IN (SELECT sf.stack_id FROM frame f JOIN stack_frame sf ON sf.frame_id = f.id "
      "WHERE f.module_id IN (SELECT id FROM temp.app_module))";
  auto done = each_row(
      database_, "SELECT id, ended, managed FROM " + database_.table("stack") + (with_runtime_ ? "" : of_modules),
      [&](const SqlRow& row) {
        stacks.emplace_back(StackRowId(row.integer(0)), trace::TriggerStack{.end = trace::stack_end(row.text(1)),
                                                                            .managed = row.integer(2) != 0,
                                                                            .with_runtime = with_runtime_});
      });
  if (!done) return done.error();
  auto frames = database_.prepare(
      "SELECT sf.frame_id, f.module_id, f.origin FROM stack_frame sf JOIN frame f ON f.id = sf.frame_id "
      "WHERE sf.stack_id = ?1 AND sf.space = 'user' ORDER BY sf.position, sf.inline_depth");
  if (!frames) return frames.error();
  auto update = database_.prepare(
      "UPDATE temp.stack_trigger SET frame_id = ?2, fallback = ?3 WHERE stack_id = ?1 "
      "AND (frame_id IS NOT ?2 OR fallback <> ?3)");
  if (!update) return update.error();
  bool changed = false;
  for (const auto& [stack, facts] : stacks) {
    auto choice = choice_of(*frames, stack, facts);
    if (!choice) return choice.error();
    if (!*choice) continue;
    if (done = update->run(stack, (*choice)->frame, (*choice)->fallback); !done) return done.error();
    changed = changed || sqlite3_changes(database_.handle()) != 0;
  }
  return changed;
}

// Empty: the trigger is cut as before.
Result<std::optional<Choice>> Triggers::choice_of(store::Statement& frames, StackRowId id,
                                                  const trace::TriggerStack& stack) {
  struct Frame {
    FrameRowId id;
    trace::TriggerFrame facts;
  };
  std::vector<Frame> list;
  frames.bind(1, id);
  auto done = each(frames, [&](const SqlRow& row) {
    list.push_back({FrameRowId(row.integer(0)), trigger_frame(modules_, ModuleRowId(row.integer(1)), row.text(2))});
  });
  if (!done) return done.error();
  const auto trigger = trace::find_trigger(
      list, [](const Frame& frame) { return frame.facts; }, stack);
  if (!trigger) return std::optional(Choice());
  if (trigger->kind == trace::TriggerKind::kCut) return std::optional<Choice>();
  return std::optional(Choice{list[trigger->position].id, trigger->kind == trace::TriggerKind::kFallback});
}

Result<void> Triggers::count_cells() {
  if (auto done = store::execute(database_.handle(), fmt::format(kCells, database_.table("stack"))); !done) return done;
  std::unordered_map<StackRowId, FrameRowId> triggers;
  auto done = each_row(database_, "SELECT stack_id, frame_id FROM temp.stack_trigger WHERE frame_id IS NOT NULL",
                       [&](const SqlRow& row) { triggers[StackRowId(row.integer(0))] = FrameRowId(row.integer(1)); });
  if (!done) return done;
  std::map<std::pair<KindRowId, FrameRowId>, CellCounts> cells;
  done = each_row(
      database_, std::string("SELECT id, kind_id, stack_id, dur_ns, ") + kResultOfCall + ", how FROM event ORDER BY id",
      [&](const SqlRow& row) {
        const auto trigger = triggers.find(StackRowId(row.integer(2)));
        CellCounts& cell =
            cells[{KindRowId(row.integer(1)), trigger == triggers.end() ? FrameRowId() : trigger->second}];
        cell.add(EventRowId(row.integer(0)), row.maybe_integer(3), row.maybe_integer(4), row.text(5));
      });
  if (!done) return done;
  return write_cells(cells);
}

Result<void> Triggers::write_cells(const std::map<std::pair<KindRowId, FrameRowId>, CellCounts>& cells) {
  auto cell = database_.prepare("INSERT INTO temp.cell VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!cell) return cell.error();
  auto error = database_.prepare("INSERT INTO temp.error_cell VALUES(?1, ?2, ?3, ?4, ?5)");
  if (!error) return error.error();
  auto latency = database_.prepare("INSERT INTO temp.cell_latency VALUES(?1, ?2, ?3, ?4)");
  if (!latency) return latency.error();
  for (const auto& [key, counts] : cells) {
    const KindRowId kind = key.first;
    const auto trigger = store::maybe_id(key.second);
    auto done =
        cell->run(kind, trigger, counts.events, counts.errors, counts.total_ns, counts.open, counts.first_event_id);
    for (const auto& [number, some] : counts.errnos)
      if (done) done = error->run(kind, number, trigger, some.events, some.first_event_id);
    counts.latency.each([&](std::uint64_t up_to, std::uint64_t events) {
      if (done) done = latency->run(kind, trigger, up_to, events);
    });
    if (!done) return done;
  }
  return {};
}

// A view of the file sees the file's tables. The same text as a temporary view sees the temporary ones.
Result<void> Triggers::show_in_views() {
  if (auto done = store::execute(database_.handle(), kTriggersOfStacks); !done) return done;
  if (with_runtime_)
    if (auto done = store::execute(database_.handle(), fmt::format(kObjects, database_.table("object_total"))); !done)
      return done;
  std::vector<std::pair<std::string, std::string>> views;  // that of an older store's reader is a temporary one already
  auto done = each_row(
      database_,
      "SELECT name, sql FROM temp.sqlite_schema WHERE type = 'view' AND name IN ('v_event', 'dual_space') UNION ALL "
      "SELECT name, sql FROM main.sqlite_schema m WHERE type = 'view' AND name IN ('v_event', 'dual_space') AND NOT "
      "EXISTS (SELECT 1 FROM temp.sqlite_schema t WHERE t.name = m.name)",
      [&](const SqlRow& row) { views.emplace_back(text(row, 0), text(row, 1)); });
  constexpr std::string_view kCreate = "CREATE VIEW";
  for (const auto& [name, sql] : views) {
    if (!done || !sql.starts_with(kCreate)) continue;
    done = store::execute(database_.handle(), fmt::format("DROP VIEW IF EXISTS temp.{};CREATE TEMP VIEW{}", name,
                                                          std::string_view(sql).substr(kCreate.size())));
  }
  return done;
}

}  // namespace

Result<std::size_t> count_as_app(const store::Database& database, const AppChoice& choice) {
  return Triggers(database, choice.runtime).run(choice.modules);
}

Error no_such_module(const std::vector<std::string>& globs, const std::string& file) {
  return Error{
      "no module of the trace matches --app-module " + globs.front() + (globs.size() > 1 ? " or its like" : ""),
      "uscope sql " + file + " 'SELECT path FROM module' lists them"};
}

}  // namespace uscope::analyzer
