// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/export.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/session/confined_reader.h"
#include "cli/session/text_output.h"
#include "cli/verbs/export_formats.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"

namespace uscope::cli {
namespace {

Result<void> write_export(const ExportOptions& options) {
  if (auto fits = check_format(options); !fits) return fits;  // before anything is opened
  if (auto filter = event_filter(options.events); !filter) return filter.error();
  if (!options.output) {
    auto database = open_confined(options.file);
    return database ? write_format(options, *database, stdout, nullptr) : database.error();
  }
  if (options.format == ExportFormat::kCtf) {
    auto database = open_store(options.file);
    if (!database) return database.error();
    // Without `metadata`, which gets its name last, it is no trace.
    return write_folder_output(*options.output, {&*database}, {"stream", "metadata"},
                               [&](const std::vector<Stream>& streams) {
                                 return write_format(options, *database, streams[0].get(), streams[1].get());
                               });
  }
  auto place = store::OutputPlace::find(*options.output, store::OutputKind::kText, options.force);
  if (!place) return place.error();
  auto database = open_store(options.file);
  if (!database) return database.error();
  return write_text_output(*place, {&*database},
                           [&](std::FILE* stream) { return write_format(options, *database, stream, nullptr); });
}

void add_levels(Verb& verb, const std::shared_ptr<ExportOptions>& options) {
  static const std::map<std::string, bool exporters::Levels::*> kLevels{{"process", &exporters::Levels::process},
                                                                        {"pid", &exporters::Levels::pid},
                                                                        {"thread", &exporters::Levels::thread},
                                                                        {"call", &exporters::Levels::call}};
  Option* const call = verb.add_flag(
      "--with-call", [options] { options->levels.call = options->levels_given = true; },
      "the system call as the innermost frame, as --levels process,call");
  verb.add_words(
          "--levels",
          [options](const Words& names) {
            options->levels = {.process = false};
            options->levels_given = true;
            for (const std::string& name : names) options->levels.*kLevels.at(name) = true;
          },
          "what stands around each stack: process, pid, thread before it, call behind it; with commas between them")
      ->delimiter(',')
      ->one_of({"process", "pid", "thread", "call"})
      ->type_name("LEVELS")
      ->default_str("process")
      ->excludes(call);
}

void define_export(Verb& verb) {
  auto options = std::make_shared<ExportOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb.add_choice("--format", options->format,
                  "folded: process;root;…;leaf and a number, for flame graphs; speedscope (JSON); pprof; perfetto; "
                  "ctf: a folder",
                  {{"folded", ExportFormat::kFolded},
                   {"speedscope", ExportFormat::kSpeedscope},
                   {"pprof", ExportFormat::kPprof},
                   {"perfetto", ExportFormat::kPerfetto},
                   {"ctf", ExportFormat::kCtf}});
  verb.add_word(
          "--weight",
          [options](const std::string& word) {
            options->weight = word == "time" ? exporters::FoldedWeight::kTime : exporters::FoldedWeight::kEvents;
            options->weight_given = true;
          },
          "folded: what the number counts: events, or nanoseconds inside calls, off the CPU, or behind samples")
      ->one_of({"events", "time"})
      ->default_str("events");
  add_levels(verb, options);
  add_event_options(verb, options->events);
  add_app_choice(verb, options->app);
  verb.add_option("-o,--output", options->output, "write to this file (ctf: a new folder) instead of standard output")
      ->type_name("FILE");
  verb.add_flag("--force", options->force, "also replace a file that exists");
  verb.runs([options] { return run_export(*options); });
}

}  // namespace

void add_export(CommandLine& line) {
  line.add_verb("export", "write a trace in the format of another tool", define_export);
}

Result<int> run_export(const ExportOptions& options) {
  if (auto done = write_export(options); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
