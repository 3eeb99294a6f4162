// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/report.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/summary/summary.h"
#include "cli/pages/bundles.h"
#include "cli/pages/html_page.h"
#include "cli/pages/report_page.h"
#include "cli/render/report_render.h"
#include "cli/session/confined_reader.h"
#include "cli/session/text_output.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "store/files/output_file.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kReportLines = 8;
constexpr std::size_t kPageLines = 1000;

Result<void> write_report_page(const ReportOptions& options) {
  const auto bundle = bundle_of(Page::kReport);
  if (!bundle) return bundle.error();
  auto place = store::OutputPlace::find(*options.html, store::OutputKind::kPage, options.force);
  if (!place) return place.error();
  auto database = open_store(options.file);
  if (!database) return database.error();
  return write_text_output(*place, {&*database}, [&](std::FILE* stream) -> Result<void> {
    if (auto done = choose_app(*database, options.app); !done) return done;
    auto part = part_filter(options.part, *database);
    if (!part) return part.error();
    auto page = report_page(*database, options.file.string(), *part, options.top.value_or(kPageLines));
    if (!page) return page.error();
    Output out(stream);
    out.write(html_page(*bundle, "uscope report " + options.file.string(), std::move(*page)));
    return out.finish();
  });
}

void define_report(Verb& verb) {
  auto options = std::make_shared<ReportOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  take_number(verb.add_option("--top", options->top, "lines of each list, 0 = all (text: 8, json: all)"), 0,
              kMostNumber)
      ->type_name("N");
  add_task_options(verb, options->part);
  add_time_options(verb, options->part, "only calls entered then or later: 14:05:30, or 1.5s after the trace's start",
                   "only calls entered then or earlier");
  add_app_choice(verb, options->app);
  Option* format = add_format(verb, options->format);
  add_html(verb, format, options->html, options->force);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_report(*options); });
}

}  // namespace

void add_report(CommandLine& line) {
  line.add_verb("report",
                "summarize a trace: losses first, then processes, calls, their callers, "
                "latencies, errors",
                define_report);
}

Result<int> run_report(const ReportOptions& options) {
  if (options.html) {
    if (auto done = write_report_page(options); !done) return done.error();
    return 0;
  }
  const Pager pager;
  auto database = open_confined(options.file);
  if (!database) return database.error();
  if (auto done = choose_app(*database, options.app); !done) return done.error();
  const bool text = options.format == Format::kText;
  auto part = part_filter(options.part, *database);
  if (!part) return part.error();
  auto summary = analyzer::summarize(
      *database, {.lines = options.top.value_or(text ? kReportLines : 0), .part = std::move(*part)});
  if (!summary) return summary.error();
  Output out(stdout);
  out.write(text ? report_text(*summary, options.file.string(), text_width(stdout)) : report_json(*summary));
  if (auto done = out.finish(); !done) return done.error();
  if (summary->part && summary->trace.events == 0)
    if (auto done = say_none_match(options.file.string(), *database, *summary->part); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
