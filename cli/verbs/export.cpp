// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/export.h"

#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "cli/session/confined_reader.h"
#include "cli/session/text_output.h"
#include "cli/terminal/output.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

Result<void> write_folded(const ExportOptions& options, const store::Database& database, std::FILE* stream) {
  if (auto warned = warn_of_missing_events(database); !warned) return warned;
  Output out(stream);
  auto catalog = analyzer::read_catalog(database);
  if (!catalog) return catalog.error();
  auto filter = event_filter(options.events);
  if (!filter) return filter.error();
  if (auto done = complete_times(options.events, *catalog, *filter); !done) return done;
  warn_of_unknown_processes(filter->processes, *catalog);
  exporters::FoldedOptions folded = options.folded;
  folded.filter = std::move(*filter);
  auto totals = exporters::fold_stacks(database, *catalog, folded, [&](const std::string& stack, std::uint64_t weight) {
    out.write(fmt::format("{} {}\n", to_utf8(stack), weight));
  });
  if (!totals) return totals.error();
  if (totals->events_left_out > 0)
    std::fputs(
        fmt::format("uscope: {} of {} {} no duration (never returned, or no calls) and no weight here\n",
                    group_digits(totals->events_left_out), plural(totals->events + totals->events_left_out, "event"),
                    totals->events_left_out == 1 ? "has" : "have")
            .c_str(),
        stderr);
  if (totals->events + totals->events_left_out == 0)
    if (auto said = say_none_match(options.file.string(), database, *catalog, folded.filter); !said) return said;
  return out.finish();
}

Result<void> write_export(const ExportOptions& options) {
  if (auto filter = event_filter(options.events); !filter) return filter.error();  // before anything is opened
  if (!options.output) {
    auto database = open_confined(options.file);
    return database ? write_folded(options, *database, stdout) : database.error();
  }
  auto place = store::OutputPlace::find(*options.output, store::OutputKind::kText, options.force);
  if (!place) return place.error();
  auto database = store::Database::open(options.file);
  if (!database) return database.error();
  return write_text_output(*place, {&*database},
                           [&](std::FILE* stream) { return write_folded(options, *database, stream); });
}

void add_levels(Verb& verb, const std::shared_ptr<ExportOptions>& options) {
  static const std::map<std::string, bool exporters::FoldedLevels::*> kLevels{
      {"process", &exporters::FoldedLevels::process},
      {"pid", &exporters::FoldedLevels::pid},
      {"thread", &exporters::FoldedLevels::thread},
      {"call", &exporters::FoldedLevels::call}};
  Option* const call = verb.add_flag("--with-call", options->folded.levels.call,
                                     "the system call as the innermost frame, as --levels process,call");
  verb.add_words(
          "--levels",
          [options](const Words& names) {
            options->folded.levels = {.process = false};
            for (const std::string& name : names) options->folded.levels.*kLevels.at(name) = true;
          },
          "what stands around each stack: process, pid, thread before it, call behind it; with commas between them")
      ->delimiter(',')
      ->one_of({"process", "pid", "thread", "call"})
      ->type_name("LEVELS")
      ->default_str("process")
      ->excludes(call);
}

}  // namespace

void add_export(CommandLine& line) {
  auto options = std::make_shared<ExportOptions>();
  Verb* verb = line.add_verb("export", "write a trace in the format of another tool");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb->add_word(
          "--format", [](const std::string&) {}, "folded: process;root;…;leaf and a number, for flame graphs")
      ->one_of({"folded"})
      ->default_str("folded");
  verb->add_choice("--weight", options->folded.weight,
                   "what the number counts: events, or nanoseconds inside calls, off the CPU, or behind samples",
                   {{"events", exporters::FoldedWeight::kEvents}, {"time", exporters::FoldedWeight::kTime}});
  add_levels(*verb, options);
  add_event_options(*verb, options->events);
  verb->add_option("-o,--output", options->output, "write to this file instead of standard output")->type_name("FILE");
  verb->add_flag("--force", options->force, "also replace a file that exists");
  verb->runs([options] { return run_export(*options); });
}

Result<int> run_export(const ExportOptions& options) {
  if (auto done = write_export(options); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
