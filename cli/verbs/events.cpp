// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/events.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_query.h"
#include "cli/render/json.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// Prints events one by one; the two formats differ in the text around and between events.
class EventPrinter {
 public:
  EventPrinter(const EventsOptions& options, const analyzer::Catalog& catalog,
               std::optional<analyzer::StackReader> stacks, Output& out)
      : options_(options),
        json_(options.format == Format::kJson),
        times_(options.times, catalog.since_1970(0)),
        stacks_(std::move(stacks)),
        out_(out) {
    if (json_) out_.write("{\"events\":[");
  }

  Result<void> print(const analyzer::EventRow& event) {
    const bool has_stack = options_.stack || options_.id == event.id.value();
    const std::vector<analyzer::StackFrame>* frames = nullptr;
    if (has_stack && stacks_ && event.stack_id) {
      auto found = stacks_->frames(*event.stack_id);
      if (!found) return found.error();
      frames = *found;
    }
    const bool first = !std::exchange(any_, true);
    if (!json_) {
      out_.write(event_text(event, times_.text(event.ts_ns), paint_));
      if (has_stack) out_.write(frames_text(frames ? *frames : std::vector<analyzer::StackFrame>(), event, paint_));
      return {};
    }
    nlohmann::ordered_json value = event_json(event, times_.moment(event.ts_ns));
    if (has_stack) value["frames"] = frames ? frames_json(*frames) : nlohmann::ordered_json::array();
    out_.write((first ? "\n" : ",\n") + dump(value, false));
    return {};
  }

  [[nodiscard]] bool has_no_reader() const { return out_.has_no_reader(); }
  // Whether any event was printed.
  [[nodiscard]] bool any() const { return any_; }

  void finish() {
    if (json_) out_.write("\n]}\n");
  }

 private:
  const EventsOptions& options_;
  bool json_;
  bool any_ = false;
  TimeColumn times_;
  std::optional<analyzer::StackReader> stacks_;
  Paint paint_ = paint_for(stdout);
  Output& out_;
};

void add_printing_options(Verb& verb, const std::shared_ptr<EventsOptions>& options) {
  verb.add_flag("-k,--stack", options->stack, "the stack below each call");
  Option* const wall = verb.add_flag(
      "-t", [options] { options->times = Times::kWall; }, "the time of the day, as --time wall");
  verb.add_choice(
          "--time", options->times,
          "relative: seconds since the trace's start; wall: the time of the day; delta: seconds since the line before",
          {{"relative", Times::kRelative}, {"wall", Times::kWall}, {"delta", Times::kDelta}})
      ->excludes(wall);
}

Result<void> print_events(const EventsOptions& options, const store::Database& database,
                          const analyzer::Catalog& catalog, const analyzer::EventFilter& filter,
                          EventPrinter& printer) {
  Result<void> printed;
  const auto print = [&](const analyzer::EventRow& event) {
    printed = printer.print(event);
    return printed && !printer.has_no_reader();
  };
  auto done = options.id ? analyzer::for_event_and_neighbours(database, catalog, analyzer::EventRowId(*options.id),
                                                              options.around, print)
                         : analyzer::for_each_event(database, catalog, filter, print);
  return done ? printed : done;
}

void define_events(Verb& verb) {
  auto options = std::make_shared<EventsOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  add_event_options(verb, options->events);
  take_number(verb.add_option("-n,--limit", options->limit, "only the first so many"), 1, kMostNumber)->type_name("N");
  const std::vector<Option*> filters = verb.named_options();
  Option* id = take_number(verb.add_option("--id", options->id,
                                           "only this event, with its stack, and the events of its thread around it"),
                           0, kMostNumber)
                   ->type_name("N");
  for (Option* filter : filters) id->excludes(filter);
  take_number(verb.add_option("--around", options->around, "how many events before and after that of --id"), 0,
              kMostNumber)
      ->type_name("K")
      ->needs(id)
      ->capture_default_str();
  add_printing_options(verb, options);
  add_app_choice(verb, options->app);
  add_format(verb, options->format);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_events(*options); });
}

}  // namespace

void add_events(CommandLine& line) {
  line.add_verb("events", "print individual calls in time order, like strace", define_events);
}

Result<int> run_events(const EventsOptions& options) {
  auto filter = event_filter(options.events);
  if (!filter) return filter.error();
  filter->limit = options.limit;
  const Pager pager;
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  if (auto done = choose_app(*database, options.app); !done) return done.error();
  auto catalog = analyzer::read_catalog(*database);
  if (!catalog) return catalog.error();
  if (options.times == Times::kWall && !catalog->since_1970(0))
    return Error{"the trace does not say when it began", "leave out -t: times are then relative to its start"};
  const bool unknown = warn_of_unknown_processes(filter->processes, *catalog);
  std::optional<analyzer::StackReader> stacks;
  if (options.stack || options.id) {
    auto reader = analyzer::StackReader::create(*database);
    if (!reader) return reader.error();
    stacks = std::move(*reader);
  }
  if (auto done = complete_filter(options.events, *catalog, *filter); !done) return done.error();
  Output out(stdout);
  EventPrinter printer(options, *catalog, std::move(stacks), out);
  if (auto done = print_events(options, *database, *catalog, *filter, printer); !done) return done.error();
  printer.finish();
  if (auto written = out.finish(); !written) return written.error();
  // Nothing that is printed looks like a fault of the command.
  if (!printer.any() && !unknown)
    if (auto said = say_none_match(options.file.string(), *database, *catalog, *filter); !said) return said.error();
  return 0;
}

}  // namespace uscope::cli
