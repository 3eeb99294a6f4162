// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/time.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "analyzer/time/peer_time.h"
#include "analyzer/time/time.h"
#include "cli/render/json.h"
#include "cli/render/peer_render.h"
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
  add_task_options(verb, options->scope);
  add_globs(verb, "--process", options->scope.filter.processes,
            "only threads of processes that go by such a name: nginx");
  add_time_options(verb, options->scope, "only from then on: 14:05:30, or 1.5s after the trace's start",
                   "only up to then");
  verb.add_choice("--by", options->by_peer,
                  "thread: by thread, call, function and stack; peer: for each socket's peer, from a write to the next "
                  "read, and from a read to the next write (needs neither samples nor offcpu)",
                  {{"thread", false}, {"peer", true}});
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
  auto scope = event_filter(options.scope);
  if (!scope) return scope.error();
  if (auto done = complete_filter(options.scope, *catalog, *scope); !done) return done.error();
  warn_of_unknown_processes(scope->processes, *catalog);
  const bool text = options.format == Format::kText;
  const std::size_t lines = options.top.value_or(text ? kTimeLines : 0);
  Output out(stdout);
  if (options.by_peer) {
    auto times = analyzer::read_peer_times(*database, *catalog, {.scope = *scope, .lines = lines});
    if (!times) return times.error();
    const bool found = times->waits.total + times->answers.total != 0;
    out.write(text ? peers_text(*times, text_width(stdout)) : dump(peers_json(*times)) + "\n");
    if (auto done = out.finish(); !done) return done.error();
    if (!found && !analyzer::Part(*catalog, *scope).is_all())
      if (auto done = say_none_match(options.file.string(), *database, *catalog, *scope); !done) return done.error();
    return 0;
  }
  auto shares = analyzer::read_time(*database, *catalog, {.scope = *scope, .lines = lines});
  if (!shares) return shares.error();
  out.write(text ? time_text(*shares, text_width(stdout)) : dump(time_json(*shares)) + "\n");
  if (auto done = out.finish(); !done) return done.error();
  if (shares->recorded.any() && shares->threads.total == 0)
    if (auto done = say_none_match(options.file.string(), *database, *catalog, *scope); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
