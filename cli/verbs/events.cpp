// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/events.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/render/events_render.h"
#include "cli/render/json.h"
#include "cli/render/units.h"
#include "cli/session/confined_reader.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "syscalls/call_set.h"
#include "syscalls/errno_names.h"

namespace uscope::cli {
namespace {

Result<std::int64_t> parse_errno(const std::string& text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size() && number > 0 && number <= syscalls::kLastErrno)
    return number;
  for (number = 1; number <= syscalls::kLastErrno; number++)
    if (syscalls::errno_name(number) == text) return number;
  return Error{"'" + text + "' is no error", "give a name as in errno(3), ENOENT, or a number"};
}

// Sets a duration of the filter if one was given.
Result<void> set_duration(const std::string& text, std::optional<std::int64_t>& target) {
  if (text.empty()) return {};
  auto nanoseconds = parse_duration(text);
  if (!nanoseconds) return nanoseconds.error();
  target = *nanoseconds;
  return {};
}

Result<analyzer::EventFilter> complete_filter(const EventsOptions& options) {
  analyzer::EventFilter filter = options.filter;
  for (const std::string& name : options.errors) {
    auto number = parse_errno(name);
    if (!number) return number.error();
    filter.errors.push_back(*number);
  }
  auto done = set_duration(options.slower, filter.slower_ns);
  if (done) done = set_duration(options.since, filter.since_ns);
  if (done) done = set_duration(options.until, filter.until_ns);
  if (!done) return done.error();
  if (!options.calls.empty()) {
    auto calls = syscalls::parse_call_set(options.calls);
    if (!calls) return calls.error();
    filter.calls = std::move(*calls);
  }
  return filter;
}

// Prints events one by one; the two formats differ in the text around and between events.
class EventPrinter {
 public:
  EventPrinter(const EventsOptions& options, std::optional<analyzer::StackReader> stacks, Output& out)
      : json_(options.format == Format::kJson), stacks_(std::move(stacks)), out_(out) {
    if (json_) out_.write("{\"events\":[");
  }

  Result<void> print(const analyzer::EventRow& event) {
    const std::vector<analyzer::StackFrame>* frames = nullptr;
    if (stacks_ && event.stack_id) {
      auto found = stacks_->frames(*event.stack_id);
      if (!found) return found.error();
      frames = *found;
    }
    if (!json_) {
      out_.write(event_text(event));
      if (stacks_)
        out_.write(frames_text(frames ? *frames : std::vector<analyzer::StackFrame>(), event.ended, event.guessed));
      return {};
    }
    nlohmann::ordered_json value = event_json(event);
    if (stacks_) value["frames"] = frames ? frames_json(*frames) : nlohmann::ordered_json::array();
    out_.write((any_ ? ",\n" : "\n") + dump(value, false));
    any_ = true;
    return {};
  }

  void finish() {
    if (json_) out_.write("\n]}\n");
  }

 private:
  bool json_;
  bool any_ = false;
  std::optional<analyzer::StackReader> stacks_;
  Output& out_;
};

void add_filter_options(CLI::App& verb, EventsOptions& options) {
  analyzer::EventFilter& filter = options.filter;
  const auto list = [](CLI::Option* option, const char* type) { option->type_name(type)->allow_extra_args(false); };
  list(verb.add_option("-p,--pid", filter.pids, "of these processes"), "PID");
  list(verb.add_option("--tid", filter.tids, "of these threads"), "TID");
  list(verb.add_option("--process", filter.processes, "only calls of programs whose base name matches"), "GLOB");
  verb.add_option("-e,--calls", options.calls,
                  "only these calls: names, %file %process %network %desc %memory %signal %ipc, "
                  "all, ! to exclude")
      ->type_name("SET");
  verb.add_flag("--failed", filter.failed, "only calls that failed");
  list(verb.add_option("--errno", options.errors, "only calls that failed with this error"), "NAME");
  verb.add_option("--slow", options.slower, "only calls that took at least this long: 10ms")->type_name("T");
  verb.add_option("--how", filter.hows, "only calls that ended so")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(std::vector<std::string>{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/how.def"
#undef USC_X
      }));
  list(verb.add_option("--trigger", filter.triggers, "only calls whose application function matches"), "GLOB");
  list(verb.add_option("--function", filter.functions, "only calls with a matching function anywhere in the stack"),
       "GLOB");
  verb.add_option("--since", options.since, "only calls entered this long after the trace's start or later: 1.5s")
      ->type_name("T");
  verb.add_option("--until", options.until, "only calls entered this long after the trace's start or earlier")
      ->type_name("T");
  verb.add_option("-n,--limit", filter.limit, "only the first so many")->check(CLI::NonNegativeNumber)->type_name("N");
}

}  // namespace

void add_events(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* verb = app.add_subcommand("events", "print single calls in order of time, as strace does");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  add_filter_options(*verb, *options);
  verb->add_flag("-k,--stack", options->stack, "the stack below each call");
  add_app_module(*verb, options->app_modules);
  add_format(*verb, options->format);
  verb->callback([options, &invocation] { invocation.run = [options] { return run_events(*options); }; });
}

Result<int> run_events(const EventsOptions& options) {
  auto filter = complete_filter(options);
  if (!filter) return filter.error();
  auto database = open_confined(options.file);
  if (!database) return database.error();
  if (auto done = count_app_modules(*database, options.app_modules); !done) return done.error();
  std::optional<analyzer::StackReader> stacks;
  if (options.stack) {
    auto reader = analyzer::StackReader::create(*database);
    if (!reader) return reader.error();
    stacks = std::move(*reader);
  }
  Output out(stdout);
  EventPrinter printer(options, std::move(stacks), out);
  Result<void> printed;
  auto done = analyzer::for_each_event(*database, *filter, [&](const analyzer::EventRow& event) {
    printed = printer.print(event);
    return static_cast<bool>(printed);
  });
  if (!done) return done.error();
  if (!printed) return printed.error();
  printer.finish();
  if (auto written = out.finish(); !written) return written.error();
  return 0;
}

}  // namespace uscope::cli
