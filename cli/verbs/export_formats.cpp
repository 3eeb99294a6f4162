// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/export_formats.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "analyzer/read/catalog.h"
#include "cli/render/call_text.h"
#include "cli/render/signal_text.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/output.h"
#include "cli/verbs/shared_options.h"
#include "exporters/profiles/pprof.h"
#include "exporters/profiles/speedscope.h"
#include "exporters/timelines/ctf.h"
#include "exporters/timelines/perfetto.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// How many events were written, and how many of them in a way that has to be told.
struct Written {
  std::uint64_t events = 0;
  std::uint64_t told = 0;
  std::string words;  // what is told of them: "no duration …"
};

std::string no_duration(std::uint64_t events) {
  return std::string(events == 1 ? "has" : "have") + " no duration (never returned, or no calls) and no ";
}

exporters::EventWords words() {
  return {
      [](const analyzer::EventRow& event) { return event.signal ? signal_text(*event.signal) : arguments_text(event); },
      [](const analyzer::EventRow& event) { return result_text(event); }};
}

Result<Written> write_profile(const ExportOptions& options, const store::Database& database,
                              const analyzer::Catalog& catalog, const analyzer::EventFilter& filter,
                              const exporters::Bytes& out) {
  const exporters::ProfileOptions profile{options.levels, filter};
  auto totals = options.format == ExportFormat::kPprof ? exporters::write_pprof(database, catalog, profile, out)
                                                       : exporters::write_speedscope(database, catalog, profile, out);
  if (!totals) return totals.error();
  return Written{totals->events, totals->without_time, no_duration(totals->without_time) + "time here"};
}

Result<Written> write_folded(const ExportOptions& options, const store::Database& database,
                             const analyzer::Catalog& catalog, const analyzer::EventFilter& filter,
                             const exporters::Bytes& out) {
  auto totals = exporters::fold_stacks(
      database, catalog, {options.weight, options.levels, filter},
      [&](const std::string& stack, std::uint64_t weight) { out(fmt::format("{} {}\n", to_utf8(stack), weight)); });
  if (!totals) return totals.error();
  return Written{totals->events + totals->events_left_out, totals->events_left_out,
                 no_duration(totals->events_left_out) + "weight here"};
}

Result<Written> write_timeline(const ExportOptions& options, const store::Database& database,
                               const analyzer::Catalog& catalog, const analyzer::EventFilter& filter,
                               const exporters::Bytes& out, const exporters::Bytes& metadata) {
  auto totals = options.format == ExportFormat::kPerfetto
                    ? exporters::write_perfetto(database, catalog, filter, words(), out)
                    : exporters::write_ctf(database, catalog, filter, words(), {metadata, out});
  if (!totals) return totals.error();
  return Written{totals->events, 0, ""};
}

Result<Written> write_events(const ExportOptions& options, const store::Database& database,
                             const analyzer::Catalog& catalog, const analyzer::EventFilter& filter, Output& out,
                             Output& metadata) {
  const auto write = [&](std::string_view bytes) { out.write(bytes); };
  switch (options.format) {
    case ExportFormat::kFolded:
      return write_folded(options, database, catalog, filter, write);
    case ExportFormat::kSpeedscope:
    case ExportFormat::kPprof:
      return write_profile(options, database, catalog, filter, write);
    default:
      return write_timeline(options, database, catalog, filter, write,
                            [&](std::string_view bytes) { metadata.write(bytes); });
  }
}

}  // namespace

Result<void> check_format(const ExportOptions& options) {
  const bool timeline = options.format == ExportFormat::kPerfetto || options.format == ExportFormat::kCtf;
  if (options.weight_given && options.format != ExportFormat::kFolded)
    return Error{"--weight is for --format folded alone",
                 timeline ? "leave it out" : "leave it out: the file has all weights, and the viewer lets you choose"};
  if (options.levels_given && timeline)
    return Error{"--levels and --with-call are for stacks, and this format has single events", "leave them out"};
  if (options.format == ExportFormat::kCtf && !options.output)
    return Error{"a CTF trace is a folder", "give its name with -o FOLDER"};
  if (options.format == ExportFormat::kCtf && options.force)
    return Error{"--force replaces files, and a CTF trace is a folder", "remove the folder, or give another name"};
  const bool binary = options.format == ExportFormat::kPprof || options.format == ExportFormat::kPerfetto;
  if (binary && !options.output && isatty(STDOUT_FILENO) != 0)
    return Error{"this format is binary, and no text for a terminal", "give a file with -o FILE"};
  return {};
}

Result<void> write_format(const ExportOptions& options, const store::Database& database, std::FILE* stream,
                          std::FILE* metadata) {
  if (auto warned = warn_of_missing_events(database); !warned) return warned;
  if (auto done = choose_app(database, options.app); !done) return done;
  auto catalog = analyzer::read_catalog(database);
  if (!catalog) return catalog.error();
  auto filter = event_filter(options.events);
  if (!filter) return filter.error();
  if (auto done = complete_filter(options.events, *catalog, *filter); !done) return done;
  warn_of_unknown_processes(filter->processes, *catalog);
  Output out(stream);
  Output about(metadata ? metadata : stream);
  auto written = write_events(options, database, *catalog, *filter, out, about);
  if (!written) return written.error();
  if (written->told > 0)
    std::fputs(fmt::format("uscope: {} of {} {}\n", group_digits(written->told), plural(written->events, "event"),
                           written->words)
                   .c_str(),
               stderr);
  if (written->events == 0)
    if (auto said = say_none_match(options.file.string(), database, *catalog, *filter); !said) return said;
  if (auto done = about.finish(); !done) return done;
  return out.finish();
}

}  // namespace uscope::cli
