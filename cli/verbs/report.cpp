// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/report.h"

#include <cstdio>
#include <memory>

#include "analyzer/summary/summary.h"
#include "cli/render/report_render.h"
#include "cli/session/confined_reader.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kReportLines = 8;

}  // namespace

void add_report(CommandLine& line) {
  auto options = std::make_shared<ReportOptions>();
  Verb* verb = line.add_verb("report",
                             "summarize a trace: losses first, then processes, calls, their callers, "
                             "latencies, errors");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  take_number(verb->add_option("--top", options->top, "lines of each list, 0 = all (text: 8, json: all)"), 0,
              kMostNumber)
      ->type_name("N");
  add_app_module(*verb, options->app_modules);
  add_format(*verb, options->format);
  verb->runs([options] { return run_report(*options); });
}

Result<int> run_report(const ReportOptions& options) {
  auto database = open_confined(options.file);
  if (!database) return database.error();
  if (auto done = count_app_modules(*database, options.app_modules); !done) return done.error();
  const bool text = options.format == Format::kText;
  auto summary = analyzer::summarize(*database, {.lines = options.top.value_or(text ? kReportLines : 0)});
  if (!summary) return summary.error();
  Output out(stdout);
  out.write(text ? report_text(*summary, options.file.string(), text_width(stdout)) : report_json(*summary));
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
