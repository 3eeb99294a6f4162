// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/files.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/files/holders.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "analyzer/read/part_totals.h"
#include "analyzer/read/path_filter.h"
#include "cli/render/files_render.h"
#include "cli/render/holders_render.h"
#include "cli/render/part_text.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::FileOrder;

constexpr const char* kOpenedInPart =
    "what was opened in it, and was still open when its process, or the recording, ended";

std::string describe(FileOrder order) {
  switch (order) {
    case FileOrder::kBytes:
      return "with most bytes";
    case FileOrder::kCalls:
      return "with most calls";
    case FileOrder::kOpens:
      return "with most opens";
    case FileOrder::kFailures:
      return "with most failures";
    default:
      return "with most time inside calls";
  }
}

void define_files(Verb& verb) {
  auto options = std::make_shared<FilesOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  add_globs(verb, "--path", options->query.paths,
            "only objects whose path, address, kind or base name matches, and their callers");
  add_globs(verb, "--process", options->query.processes, "only calls of processes that go by such a name: nginx");
  add_task_options(verb, options->part);
  add_time_options(verb, options->part, "only calls entered then or later: 14:05:30, or 1.5s after the trace's start",
                   "only calls entered then or earlier");
  verb.add_choice("--sort", options->query.order, "sort by this, the largest first",
                  {{"time", FileOrder::kTime},
                   {"bytes", FileOrder::kBytes},
                   {"calls", FileOrder::kCalls},
                   {"opens", FileOrder::kOpens},
                   {"failures", FileOrder::kFailures}});
  take_number(verb.add_option("--top", options->query.lines, "only the first so many, 0 = all (the default)"), 0,
              kMostNumber)
      ->type_name("N");
  verb.add_flag("--callers", options->query.callers, "also who made the calls: process, call, application function");
  verb.add_flag("--peers", options->query.peers, "a line for each client that connected, not one for each host");
  verb.add_flag("--open", options->open, "what was left open, by whom, and the stacks that opened it");
  add_app_runtime(verb, options->app_runtime);
  add_format(verb, options->format);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_files(*options); });
}

}  // namespace

void add_files(CommandLine& line) {
  line.add_verb("files", "list files, sockets and other objects: opens, failures, reads and writes, bytes, time",
                define_files);
}

Result<int> run_files(const FilesOptions& options) {
  const Pager pager;
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  if (auto done = choose_app(*database, {.modules = {}, .runtime = options.app_runtime}); !done) return done.error();
  auto catalog = analyzer::read_catalog(*database);
  if (!catalog) return catalog.error();
  warn_of_unknown_processes(options.query.processes, *catalog);
  const auto filter = part_filter(options.part, *catalog);
  if (!filter) return filter.error();
  const analyzer::Part part(*catalog, *filter);
  if (!part.is_all())
    if (auto done = analyzer::count_part(*database, *catalog, part); !done) return done.error();
  analyzer::FileQuery query = options.query;
  query.callers = query.callers || !query.paths.empty();
  auto table = analyzer::read_files(*database, *catalog, query);
  if (!table) return table.error();
  analyzer::HolderQuery holders{.paths = query.paths, .processes = query.processes};
  holders.left_open_only = options.open;
  holders.part = &part;
  if (options.open) holders.lines = query.lines;
  auto held = options.open ? analyzer::read_holders(*database, *catalog, holders)
                           : analyzer::read_holders_of(*database, *catalog, table->files.lines, holders);
  if (!held) return held.error();
  const std::string order = describe(query.order);
  const FilesLayout layout{.order = order,
                           .callers_order = query.order == FileOrder::kTime ? "with changes and then " + order : order,
                           .several_processes = catalog->processes.size() > 1,
                           .callers = query.callers,
                           .failures_only = query.order == FileOrder::kFailures};
  const std::string no_such =
      table->any_path || held->descriptors != 0 ? "" : analyzer::no_such_path(query.paths, table->near);
  Output out(stdout);
  if (options.format != Format::kText) {
    out.write(files_json(*table, query.callers, *held, part.is_all() ? nullptr : &*filter));
  } else {
    if (!part.is_all())
      out.write(part_line(*filter, analyzer::difference(catalog->end_ns, catalog->start_ns),
                          options.open ? kOpenedInPart : "", text_width(stdout)) +
                "\n");
    out.write(options.open ? left_open_text(*held, text_width(stdout))
                           : files_text(std::move(*table), layout, *held, text_width(stdout)));
  }
  if (auto done = out.finish(); !done) return done.error();
  if (!no_such.empty()) std::fprintf(stderr, "uscope: %s\n", printable(no_such).c_str());
  if (no_such.empty() && !part.is_all() && table->files.total == 0 && held->descriptors == 0)
    if (auto done = say_none_match(options.file.string(), *database, *catalog, *filter); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
