// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/run_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"
#include "support/text.h"
#include "trace/loss_class.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kNamed = 8;  // names in one sentence

using Runs = std::vector<const RunFacts*>;

// Raw traces from before there were signals do not say that they have none.
std::string value_of(const RunFacts& run, const std::string& key) {
  const auto found = run.meta.find(key);
  if (found != run.meta.end()) return found->second;
  return key == "signals" ? "0" : "";
}

template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == kNamed) return fmt::format("{} and {} more", text, names.size() - kNamed);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// "mode: 4 in a.db, b.db; 2 in c.db".
std::string by_value(const Runs& runs, const std::string& key) {
  std::map<std::string, std::vector<std::string>> files;
  for (const RunFacts* run : runs) files[value_of(*run, key)].push_back(run->file);
  if (files.size() < 2) return "";
  std::string text;
  for (const auto& [value, names] : files)
    text += (text.empty() ? "" : "; ") + (value.empty() ? "(not known)" : value) + " in " + listed(names);
  return text;
}

struct Condition {
  const char* key;
  const char* what;
  const char* consequence;
};

// A condition of tracing, and the consequence if it is not the same for all runs.
constexpr std::array kConditions{
    Condition{"mode", "the runs were traced in different modes", "stacks keep different frames"},
    Condition{"frames", "the runs were traced with different budgets of frames (-S)", "deep stacks end elsewhere"},
    Condition{"calls", "the runs were traced for different calls (-e)", "a call that was not traced looks missing"},
    Condition{"paths", "the runs were traced for different objects (--path)",
              "a call on an object that was not traced looks missing"},
    Condition{"target", "the runs have different targets", "they may not be the same application"},
    Condition{"command", "the runs' commands differ", "different calls are expected"},
    Condition{"follow", "children were followed differently (--follow)", "processes may be missing on one side"},
    Condition{"app_modules", "different modules counted as the application's (--app-module)", "triggers differ"},
    Condition{"strings", "arguments were read in some runs only, or not as long (--no-strings, --string-bytes)",
              "files and addresses may be missing"},
    Condition{"signals", "signals were recorded in some runs only (--signals)",
              "a signal that was not recorded looks missing"},
    Condition{"redact", "different texts were redacted (--redact)", "files and addresses may be missing"},
    Condition{"excluded_modules", "different modules were left out (--exclude-module)", "triggers differ"},
};

void conditions(const Runs& runs, std::vector<std::string>& warnings) {
  for (const Condition& condition : kConditions) {
    const std::string values = by_value(runs, condition.key);
    if (!values.empty())
      warnings.push_back(std::string(condition.what) + ", so " + condition.consequence + ": " + values);
  }
}

// A cell is a call and the function that it comes from, so a missing stack or program changes what is compared, too.
bool matters(trace::LossClass missing) {
  return trace::loses_events(missing) || missing == trace::LossClass::STACKS ||
         missing == trace::LossClass::DEFINITIONS;
}

void losses(const RunFacts& run, std::vector<std::string>& warnings) {
  if (run.events == 0) {
    warnings.push_back(run.file + " is empty: it has no event, so every cell is missing from it");
    return;
  }
  if (!run.losses.empty()) {
    std::vector<std::string> causes;
    for (const RunLoss& loss : run.losses) causes.push_back(loss.cause + " " + group_digits(loss.count));
    warnings.push_back(run.file + " has losses, so what is missing from it may have happened: " + listed(causes));
  } else if (!run.complete) {
    warnings.push_back(run.file + " is cut off: tracing did not end in order, what came last is missing");
  }
  if (run.uses_io_uring)
    warnings.push_back(
        run.file + " has processes that use io_uring: what they do that way is not a system call, and is not compared");
}

// Warns of programs that every run of one side has and no run of the other, or that only an abnormal run has.
void programs(const std::vector<RunFacts>& normal, const std::vector<RunFacts>& abnormal,
              std::vector<std::string>& warnings) {
  const auto count = [](const std::vector<RunFacts>& side, const std::string& name) {
    return std::count_if(side.begin(), side.end(),
                         [&](const RunFacts& run) { return run.events != 0 && run.programs.count(name) != 0; });
  };
  const auto only = [&](const std::vector<RunFacts>& side, const std::vector<RunFacts>& other, bool always) {
    std::set<std::string> names;
    for (const RunFacts& run : side)
      for (const std::string& name : run.programs)
        if (count(other, name) == 0 && (!always || count(side, name) == static_cast<std::ptrdiff_t>(side.size())))
          names.insert(name);
    return names;
  };
  const auto missing = only(normal, abnormal, true);
  if (!missing.empty())
    warnings.push_back("programs that ran in every normal run and in no abnormal one: " + listed(missing));
  const auto added = only(abnormal, normal, false);
  if (!added.empty()) warnings.push_back("programs that ran in abnormal runs only: " + listed(added));
}

// If runs differ very much in length, a shift of rates may come from the different share of the start-up phase.
void lengths(const Runs& runs, std::vector<std::string>& warnings) {
  constexpr double kMuch = 2;
  const auto [shortest, longest] = std::minmax_element(
      runs.begin(), runs.end(), [](const RunFacts* a, const RunFacts* b) { return a->duration_ns < b->duration_ns; });
  const auto least = static_cast<double>((*shortest)->duration_ns);
  const auto most = static_cast<double>((*longest)->duration_ns);
  if (most <= kMuch * least) return;
  warnings.push_back("the runs differ in length (" + (*shortest)->file + " " + human_duration(least) + ", " +
                     (*longest)->file + " " + human_duration(most) +
                     "): a rate has shifted only where the number of calls has too; --per compares by work done");
}

void add_process(const Catalog& catalog, const Process& process, RunFacts& facts) {
  facts.tasks.insert({process.pid, process.ns_pid});
  const Image* image = catalog.last_image(process);
  const bool known = process.exit_code || process.exit_signal || !process.end_ns;
  if (image && known) facts.endings[{image->name, process.exit_code, process.exit_signal}]++;
}

}  // namespace

Result<RunFacts> read_run_facts(const store::Database& database) {
  auto catalog = read_catalog(database);
  if (!catalog) return catalog.error();
  RunFacts facts;
  facts.file = database.path().string();
  facts.schema = database.schema();
  facts.lacks = store::lacking_text(database.lacks());
  facts.start_ns = catalog->start_ns;
  facts.duration_ns = std::max<std::int64_t>(0, difference(catalog->end_ns, catalog->start_ns));
  facts.complete = catalog->meta_number("complete").value_or(1) != 0;
  for (const Image& image : catalog->images) facts.programs.insert(image.name);
  for (const Process& process : catalog->processes) {
    facts.uses_io_uring |= process.uses_io_uring;
    add_process(*catalog, process, facts);
  }
  for (const Thread& thread : catalog->threads) facts.tasks.insert({thread.tid, thread.ns_tid});
  facts.meta = std::move(catalog->meta);
  if (const auto settings = facts.meta.find("settings"); settings != facts.meta.end())
    facts.settings = trace::settings_of(settings->second);
  auto done = each_row(database, "SELECT coalesce(sum(events), 0) FROM cell",
                       [&](const SqlRow& row) { facts.events = static_cast<std::uint64_t>(row.integer(0)); });
  if (!done) return done.error();
  done =
      each_row(database, "SELECT cause, sum(count) FROM loss GROUP BY cause HAVING sum(count) > 0 ORDER BY 2 DESC, 1",
               [&](const SqlRow& row) {
                 const trace::LossClass missing = trace::loss_class(row.text(0));
                 const auto count = static_cast<std::uint64_t>(row.integer(1));
                 if (matters(missing)) facts.losses.push_back({text(row, 0), count});
                 if (trace::loses_events(missing)) facts.lost += count;
               });
  if (!done) return done.error();
  return facts;
}

std::vector<std::string> comparison_warnings(const std::vector<RunFacts>& normal,
                                             const std::vector<RunFacts>& abnormal) {
  Runs runs;
  for (const auto* side : {&normal, &abnormal})
    for (const RunFacts& run : *side) runs.push_back(&run);
  std::vector<std::string> warnings;
  for (const RunFacts* run : runs)
    if (!run->lacks.empty())
      warnings.push_back(fmt::format("an older uscope made {} (schema {}; now {}), so these are not known: {}",
                                     run->file, run->schema, store::kSchemaVersion, run->lacks));
  for (const RunFacts* run : runs) losses(*run, warnings);
  conditions(runs, warnings);
  programs(normal, abnormal, warnings);
  lengths(runs, warnings);
  return warnings;
}

}  // namespace uscope::analyzer
