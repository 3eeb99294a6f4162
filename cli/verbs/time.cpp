// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/time.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/read/catalog.h"
#include "analyzer/time/time.h"
#include "cli/render/json.h"
#include "cli/render/time_render.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kTimeLines = 20;

void define_time(Verb& verb) {
  auto options = std::make_shared<TimeOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record -t sample:99 -t offcpu` has written")
      ->required();
  add_globs(verb, "--process", options->processes, "only threads of processes that go by such a name: nginx");
  take_number(verb.add_option("--top", options->top, "lines of each list, 0 = all (text: 20, json: all)"), 0,
              kMostNumber)
      ->type_name("N");
  add_app_choice(verb, options->app);
  add_format(verb, options->format);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_time(*options); });
}

}  // namespace

void add_time(CommandLine& line) {
  line.add_verb("time",
                "show where the time goes: running, waiting and for whom, and in which calls; by thread, "
                "function and stack",
                define_time);
}

Result<int> run_time(const TimeOptions& options) {
  const Pager pager;
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  if (auto done = choose_app(*database, options.app); !done) return done.error();
  auto catalog = analyzer::read_catalog(*database);
  if (!catalog) return catalog.error();
  warn_of_unknown_processes(options.processes, *catalog);
  const bool text = options.format == Format::kText;
  auto shares = analyzer::read_time(
      *database, *catalog, {.processes = options.processes, .lines = options.top.value_or(text ? kTimeLines : 0)});
  if (!shares) return shares.error();
  Output out(stdout);
  out.write(text ? time_text(*shares, text_width(stdout)) : dump(time_json(*shares)) + "\n");
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
