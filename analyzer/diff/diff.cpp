// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/cell_example.h"
#include "analyzer/diff/connections.h"
#include "analyzer/diff/failing_arguments.h"
#include "analyzer/diff/time_spent.h"
#include "analyzer/read/app_modules.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

struct Side {
  std::vector<store::Database> stores;
  std::vector<RunFacts> facts;
  std::vector<Matrix> matrices;
  std::vector<RunTime> times;
  std::vector<RunArguments> arguments;
};

// Adds to `matched` how many modules match --app-module.
Result<void> open_side(const std::vector<std::filesystem::path>& files, const AppChoice& app, std::size_t& matched,
                       Side& side) {
  for (const auto& file : files) {
    auto database = store::Database::open(file);
    if (!database) return database.error();
    auto some = app.is_any() ? count_as_app(*database, app) : Result<std::size_t>(0);
    if (!some) return some.error().in(file.string());
    matched += *some;
    auto facts = read_run_facts(*database);
    if (!facts) return facts.error().in(file.string());
    side.stores.push_back(std::move(*database));
    side.facts.push_back(std::move(*facts));
  }
  return {};
}

Result<void> read_modules_of(const Side& side, const ModuleNames& names,
                             std::vector<std::vector<ModuleBuild>>& modules) {
  for (const store::Database& database : side.stores) {
    auto list = read_modules(database, names);
    if (!list) return list.error().in(database.path().string());
    modules.push_back(std::move(*list));
  }
  return {};
}

Result<void> read_matrices(const DiffOptions& options, const OffsetTrust& trust, Side& side,
                           std::set<std::string>& nameless) {
  for (const store::Database& database : side.stores) {
    auto matrix = read_matrix(database, options.by, options.names, trust);
    if (!matrix) return matrix.error().in(database.path().string());
    nameless.insert(matrix->nameless.begin(), matrix->nameless.end());
    side.matrices.push_back(std::move(*matrix));
    const std::size_t run = side.matrices.size() - 1;
    if (auto done = find_unconnected(database, side.facts[run], side.matrices[run]); !done)
      return done.error().in(database.path().string());
    auto time = read_run_time(database, side.facts[run], side.matrices[run], options.by, options.names, trust);
    if (!time) return time.error().in(database.path().string());
    side.times.push_back(std::move(*time));
    auto arguments = read_arguments(database, side.facts[run], options.by, options.names, trust);
    if (!arguments) return arguments.error().in(database.path().string());
    side.arguments.push_back(std::move(*arguments));
  }
  return {};
}

// How many units of work a run did: successful calls of these kinds.
double work_of(const Matrix& matrix, const std::vector<std::string>& kinds) {
  double work = 0;
  for (const auto& [key, cell] : matrix.cells)
    if (std::find(kinds.begin(), kinds.end(), key.kind) != kinds.end())
      work += static_cast<double>(cell.events - std::min(cell.events, cell.errors));
  return work;
}

Result<std::vector<double>> exposure_of(const Side& side, const std::vector<std::string>& per) {
  std::vector<double> exposure;
  for (std::size_t i = 0; i < side.facts.size(); i++) {
    const RunFacts& run = side.facts[i];
    constexpr double kLeastSeconds = 1e-9;
    double value = std::max(kLeastSeconds, static_cast<double>(run.duration_ns) / 1e9);
    if (!per.empty()) {
      value = work_of(side.matrices[i], per);
      if (value <= 0)
        return Error{run.file + " has no successful call of " + per.front() + (per.size() > 1 ? " or its like" : "") +
                         ": it has no rates per such call",
                     "name a call that every run makes for each piece of work, or leave --per out"};
    }
    exposure.push_back(value);
  }
  return exposure;
}

template <typename Cells>
auto cut(const Cells& cells, std::size_t lines) {
  const std::size_t kept = lines == 0 ? cells.size() : std::min(lines, cells.size());
  return std::vector(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(kept));
}

Result<std::vector<ChangedObject>> changed_objects(const Side& normal, const Side& abnormal, const Exposure& exposure) {
  std::vector<ObjectBytes> before;
  std::vector<ObjectBytes> after;
  for (const auto& [side, runs] : {std::pair{&normal, &before}, std::pair{&abnormal, &after}}) {
    for (std::size_t i = 0; i < side->stores.size(); i++) {
      auto bytes = read_object_bytes(side->stores[i], side->facts[i]);
      if (!bytes) return bytes.error().in(side->stores[i].path().string());
      runs->push_back(std::move(*bytes));
    }
  }
  return compare_objects(before, after, exposure);
}

std::uint64_t part_of(const CellEvents& events) {
  if (!events.cell) return 0;
  if (events.never_returned) return events.cell->open;
  if (!events.error) return events.cell->events;
  const auto found = events.cell->errnos.find(*events.error);
  return found == events.cell->errnos.end() ? 0 : found->second.events;
}

void add_sample(const EventSample& from, EventSample& to) {
  to.events += from.events;
  for (const auto& [value, events] : from.strings) to.strings[value] += events;
}

// Adds example events to cells.
class Explainer {
 public:
  Explainer(const Side& normal, const Side& abnormal) {
    for (std::size_t i = 0; i < normal.stores.size(); i++) normal_.emplace_back(normal.stores[i], normal.facts[i]);
    for (std::size_t i = 0; i < abnormal.stores.size(); i++)
      abnormal_.emplace_back(abnormal.stores[i], abnormal.facts[i]);
    sides_ = {&normal, &abnormal};
  }

  // False: some cells were examined less than they could be.
  [[nodiscard]] bool looked_at_all() const {
    const auto can = [](const CellLookup& lookup) { return lookup.can_search(); };
    return std::all_of(normal_.begin(), normal_.end(), can) && std::all_of(abnormal_.begin(), abnormal_.end(), can);
  }

  [[nodiscard]] std::vector<CellLookup>& normal() { return normal_; }
  [[nodiscard]] std::vector<CellLookup>& abnormal() { return abnormal_; }

  Result<CellExample> explain(const CellKey& key, CellEvents events, bool of_normal, bool compare) {
    auto& lookups = of_normal ? normal_ : abnormal_;
    const std::size_t run = busiest(*sides_[of_normal ? 0 : 1], key, events);
    events.cell = cell_of(*sides_[of_normal ? 0 : 1], run, key);
    auto example = lookups[run].first(events);
    if (!example) return example.error();
    auto sample = lookups[run].sample(events);
    if (!sample) return sample.error();
    EventSample other;
    if (compare) {
      for (std::size_t i = 0; i < normal_.size(); i++) {
        CellEvents before = events;
        before.cell = cell_of(*sides_[0], i, key);
        if (!before.cell) continue;
        auto part = normal_[i].sample(before);
        if (!part) return part.error();
        add_sample(*part, other);
      }
    }
    describe_example(*sample, other, *example);
    return example;
  }

 private:
  static const Cell* cell_of(const Side& side, std::size_t run, const CellKey& key) {
    const auto found = side.matrices[run].cells.find(key);
    return found == side.matrices[run].cells.end() ? nullptr : &found->second;
  }

  // The run with most of the selected events.
  static std::size_t busiest(const Side& side, const CellKey& key, CellEvents events) {
    std::size_t best = 0;
    std::uint64_t most_events = 0;
    for (std::size_t i = 0; i < side.matrices.size(); i++) {
      events.cell = cell_of(side, i, key);
      const std::uint64_t here = std::max<std::uint64_t>(part_of(events), events.cell ? 1 : 0);
      if (here > most_events) best = i;
      most_events = std::max(most_events, here);
    }
    return best;
  }

  std::vector<CellLookup> normal_;
  std::vector<CellLookup> abnormal_;
  std::array<const Side*, 2> sides_{};
};

// `entries` are sorted by falling score; some may have an example already.
Result<RankedList<OnlyEntry>> explain_only(const std::vector<OnlyEntry>& entries, std::size_t lines, bool of_normal,
                                           const Side& side, Explainer& explainer) {
  RankedList<OnlyEntry> list{cut(entries, lines), entries.size()};
  for (OnlyEntry& entry : list.entries) {
    if (entry.new_arguments) continue;
    const CellEvents events{.error = entry.cell.error, .never_returned = entry.cell.never_returned};
    auto example = explainer.explain(entry.cell.key, events, of_normal, false);
    if (!example) return example.error();
    entry.example = std::move(*example);
    if (events.error || events.never_returned) continue;
    constexpr std::size_t kMostFlags = 8;
    for (const auto& [flag, calls] : flags_of_cell(side.arguments, entry.cell.key))
      if (entry.example.flags.size() < kMostFlags) entry.example.flags.push_back(flag);
  }
  return list;
}

// With the run and the object of the first call that has the flag.
Result<RankedList<ChangedArgument>> explain_arguments(const std::vector<ChangedArgument>& changes, std::size_t lines,
                                                      const Side& normal, const Side& abnormal, Explainer& explainer) {
  RankedList<ChangedArgument> list{cut(changes, lines), changes.size()};
  for (ChangedArgument& change : list.entries) {
    if (change.name.empty()) continue;
    const bool is_new = change.abnormal.calls != 0;
    const Side& side = is_new ? abnormal : normal;
    for (std::size_t run = 0; run < side.arguments.size(); run++) {
      if (side.arguments[run].cells.count(change.key) == 0) continue;
      change.file = side.facts[run].file;
      CellLookup& lookup = (is_new ? explainer.abnormal() : explainer.normal())[run];
      auto objects = lookup.strings(change.event_id);
      if (!objects) return objects.error();
      for (const std::string& object : *objects) change.objects.push_back(lookup.identity(object));
      break;
    }
  }
  return list;
}

std::vector<OnlyEntry> entries_of(std::vector<OnlyCell> cells) {
  std::vector<OnlyEntry> entries;
  entries.reserve(cells.size());
  for (OnlyCell& cell : cells) entries.push_back({std::move(cell), {}});
  return entries;
}

// Adds errors for new files and addresses to the abnormal runs' cells.
Result<void> add_failing_arguments(const std::vector<CellRow>& rows, std::vector<CellLookup>& normal,
                                   std::vector<CellLookup>& abnormal, std::vector<OnlyEntry>& entries) {
  const auto errors_of = [](const std::vector<const Cell*>& runs) {
    std::set<std::int64_t> errors;
    for (const Cell* cell : runs)
      if (cell)
        for (const auto& [error, count] : cell->errnos) errors.insert(error);
    return errors;
  };
  for (std::vector<CellLookup>* side : {&normal, &abnormal}) {
    for (CellLookup& lookup : *side) {
      auto any = lookup.has_strings();
      if (!any) return any.error();
      if (!*any) return {};
    }
  }
  for (const CellRow& row : rows) {
    const auto before = errors_of(row.normal);
    for (const std::int64_t error : errors_of(row.abnormal)) {
      if (before.count(error) == 0 || is_passing(row.key.kind, error)) continue;
      auto entry = new_failing_arguments(row, error, normal, abnormal);
      if (!entry) return entry.error();
      if (!*entry) continue;
      (*entry)->cell.first_event_id = (*entry)->example.event_id;
      (*entry)->cell.score =
          new_error_score(row.key.kind, error, (*entry)->cell.events, normal.size(), abnormal.size());
      entries.push_back(std::move(**entry));
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const OnlyEntry& a, const OnlyEntry& b) { return ranks_before(a.cell, b.cell); });
  return {};
}

Result<RankedList<ChangedEntry>> explain_changed(const std::vector<ChangedCell>& cells, std::size_t lines,
                                                 Explainer& explainer) {
  RankedList<ChangedEntry> list;
  list.total = cells.size();
  for (const ChangedCell& cell : cut(cells, lines)) {
    const CellEvents events{.error = cell.error, .never_returned = cell.what == Shift::kNeverReturned};
    auto example = explainer.explain(cell.key, events, false, true);
    if (!example) return example.error();
    list.entries.push_back({cell, std::move(*example)});
  }
  return list;
}

// The stack of a place, from the run in which it took most time.
Result<TimeEntry> explain_place(const PlaceShift& shift, const Side& side, std::vector<CellLookup>& lookups) {
  TimeEntry entry{.shift = shift, .file = {}, .stack = {}};
  const TimeSpent* most = nullptr;
  std::size_t run = 0;
  for (std::size_t i = 0; i < side.times.size(); i++) {
    const auto found = side.times[i].places.find(shift.place);
    if (found == side.times[i].places.end() || (most && found->second.ns <= most->ns)) continue;
    most = &found->second;
    run = i;
  }
  if (!most) return entry;
  entry.file = side.facts[run].file;
  Result<std::string> stack = std::string();
  if (shift.place.outside) {
    stack = lookups[run].folded(most->longest_stack);
  } else if (const auto cell = side.matrices[run].cells.find(shift.place.call);
             cell != side.matrices[run].cells.end()) {
    const bool hangs = most->ns > 2 * static_cast<double>(cell->second.total_ns);
    stack = lookups[run].slowest_stack(cell->second, hangs);
  }
  if (!stack) return stack.error();
  entry.stack = std::move(*stack);
  return entry;
}

// Moves the places of `time`.
Result<RankedList<TimeEntry>> explain_places(TimeChanges& time, std::size_t lines, const Side& normal,
                                             const Side& abnormal, Explainer& explainer) {
  RankedList<TimeEntry> list;
  list.total = time.places.size();
  for (const PlaceShift& shift : cut(time.places, lines)) {
    const bool more = shift.time.change() >= 0;
    auto entry = explain_place(shift, more ? abnormal : normal, more ? explainer.abnormal() : explainer.normal());
    if (!entry) return entry.error();
    list.entries.push_back(std::move(*entry));
  }
  time.places.clear();
  return list;
}

void add_warnings(const DiffOptions& options, const std::set<std::string>& nameless, const CellChanges& changes,
                  Diff& diff) {
  auto& warnings = diff.warnings;
  warnings = comparison_warnings(diff.normal, diff.abnormal);
  for (const std::string& module : nameless)
    warnings.push_back("the runs have different builds of " + module +
                       ", or it has no build-id: its functions without a name are compared as one");
  if (!diff.tested)
    warnings.push_back(
        fmt::format("ranked by effect, not tested: a significance test needs {} runs on each side ({} and {} given)",
                    kRunsToTest, options.normal.size(), options.abnormal.size()));
  if (changes.unsteady != 0)
    warnings.push_back(fmt::format("{} {} not reported: only some runs of one side have {}",
                                   plural(changes.unsteady, "cell"), changes.unsteady == 1 ? "is" : "are",
                                   changes.unsteady == 1 ? "it" : "them"));
  const auto note_cut = [&](const char* name, std::size_t shown, std::size_t total) {
    if (shown < total)
      warnings.push_back(
          fmt::format("{} is cut to the first {} of {}: --top 0 has all", name, shown, group_digits(total)));
  };
  note_cut("the list of where the time went", diff.places.entries.size(), diff.places.total);
  note_cut("the list of what is only in normal runs", diff.normal_only.entries.size(), diff.normal_only.total);
  note_cut("the list of what is only in abnormal runs", diff.abnormal_only.entries.size(), diff.abnormal_only.total);
  note_cut("the list of what has changed", diff.changed.entries.size(), diff.changed.total);
  note_cut("the list of changed arguments", diff.arguments.entries.size(), diff.arguments.total);
  note_cut("the list of bytes moved", diff.objects.entries.size(), diff.objects.total);
}

}  // namespace

namespace {

Result<DiffPicture> draw(const DiffOptions& options, const std::vector<CellRow>& rows, const OffsetTrust& trust,
                         const Side& normal, const Side& abnormal, const Diff& diff) {
  DiffPicture picture;
  std::vector<CellKey> found;
  for (const auto* list : {&diff.normal_only, &diff.abnormal_only})
    for (const OnlyEntry& entry : list->entries) found.push_back(entry.cell.key);
  for (const ChangedEntry& entry : diff.changed.entries) found.push_back(entry.cell.key);
  picture_cells(rows, found, picture);
  StackMerger merger;
  for (const auto& [from, side] : {std::pair{&normal, RunSide::kNormal}, std::pair{&abnormal, RunSide::kAbnormal}})
    for (const store::Database& database : from->stores)
      if (auto done = merger.add(database, options.names, trust, side); !done)
        return done.error().in(database.path().string());
  picture.stacks = merger.finish();
  return picture;
}

}  // namespace

Result<Diff> diff(const DiffOptions& options) {
  Side normal;
  Side abnormal;
  std::vector<std::vector<ModuleBuild>> modules;
  std::size_t matched = 0;
  for (const auto& [files, side] : {std::pair{&options.normal, &normal}, std::pair{&options.abnormal, &abnormal}}) {
    if (auto done = open_side(*files, options.app, matched, *side); !done) return done.error();
    if (auto done = read_modules_of(*side, options.names, modules); !done) return done.error();
  }
  if (matched == 0 && !options.app.modules.empty())
    return no_such_module(options.app.modules, options.normal.front().string());
  const OffsetTrust trust(modules);
  std::set<std::string> nameless;
  for (Side* side : {&normal, &abnormal})
    if (auto done = read_matrices(options, trust, *side, nameless); !done) return done.error();
  auto before = exposure_of(normal, options.per);
  if (!before) return before.error();
  auto after = exposure_of(abnormal, options.per);
  if (!after) return after.error();
  const Exposure exposure{std::move(*before), std::move(*after), !options.per.empty()};
  const std::vector<CellRow> rows = join_cells(normal.matrices, abnormal.matrices);
  const CellChanges changes = compare_cells(rows, exposure);
  auto objects = changed_objects(normal, abnormal, exposure);
  if (!objects) return objects.error();
  Diff result;
  result.tested = changes.tested;
  result.by_work = !options.per.empty();
  Explainer explainer(normal, abnormal);
  result.time = compare_time(normal.times, abnormal.times);
  auto places = explain_places(result.time, options.lines, normal, abnormal, explainer);
  if (!places) return places.error();
  result.places = std::move(*places);
  auto normal_only = explain_only(entries_of(changes.normal_only), options.lines, true, normal, explainer);
  if (!normal_only) return normal_only.error();
  std::vector<OnlyEntry> entries = entries_of(changes.abnormal_only);
  if (auto done = add_failing_arguments(rows, explainer.normal(), explainer.abnormal(), entries); !done)
    return done.error();
  auto abnormal_only = explain_only(entries, options.lines, false, abnormal, explainer);
  if (!abnormal_only) return abnormal_only.error();
  auto changed = explain_changed(changes.changed, options.lines, explainer);
  if (!changed) return changed.error();
  auto arguments = explain_arguments(compare_arguments(normal.arguments, abnormal.arguments), options.lines, normal,
                                     abnormal, explainer);
  if (!arguments) return arguments.error();
  result.arguments = std::move(*arguments);
  result.normal_only = std::move(*normal_only);
  result.abnormal_only = std::move(*abnormal_only);
  result.changed = std::move(*changed);
  result.settings = compare_settings(normal.facts, abnormal.facts);
  result.endings = compare_endings(normal.facts, abnormal.facts);
  result.objects = {cut(*objects, options.lines), objects->size()};
  if (options.picture) {
    auto picture = draw(options, rows, trust, normal, abnormal, result);
    if (!picture) return picture.error();
    result.picture = std::move(*picture);
  }
  result.normal = std::move(normal.facts);
  result.abnormal = std::move(abnormal.facts);
  add_warnings(options, nameless, changes, result);
  for (const Side* side : {&normal, &abnormal})
    for (std::size_t i = 0; i < side->arguments.size(); i++)
      if (side->arguments[i].is_cut)
        result.warnings.push_back(fmt::format("flags and numbers of arguments are those of the first {} calls of {}",
                                              group_digits(kMostExamined), side->stores[i].path().string()));
  if (!explainer.looked_at_all())
    result.warnings.emplace_back(
        "not all events of these cells were looked at, which would take too long: arguments and threads may be "
        "missing");
  return result;
}

}  // namespace uscope::analyzer
