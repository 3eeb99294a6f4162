// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/event_options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <utility>

#include "analyzer/read/no_match.h"
#include "cli/render/units.h"
#include "cli/render/wall_time.h"
#include "cli/verbs/shared_options.h"
#include "support/glob.h"
#include "support/nearest.h"
#include "support/text.h"
#include "syscalls/call_set.h"
#include "syscalls/errno_names.h"
#include "syscalls/signal_names.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

// "ENOENT" …
Words errno_words() {
  Words words;
  for (int number = 1; number <= syscalls::kLastErrno; number++)
    if (const std::string_view name = syscalls::errno_name(number); !name.empty()) words.emplace_back(name);
  return words;
}

Result<std::int64_t> parse_errno(const std::string& text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size() && number > 0 && number <= syscalls::kLastErrno)
    return number;
  for (number = 1; number <= syscalls::kLastErrno; number++)
    if (syscalls::errno_name(number) == text) return number;
  return Error{"'" + text + "' is not an error", "give a name as in errno(3), ENOENT, or a number"};
}

// Whether an item of -e names a class whose events are no calls, or kinds of it: `sample`, `ufunction:libc*:read*`.
bool is_target(std::string_view item) {
  const std::string_view name = item.substr(0, item.find(':'));
  return analyzer::is_of_probes(name) || name == trace::source_name(USC_SOURCE_LOGGED);
}

// Whether an item may be the name of a kind that is no call, since it is none of what stands for calls.
bool may_be_kind(const std::string& item) {
  return !item.empty() && item.front() != '%' && !syscalls::parse_call_set(item);
}

// What -e means: the names of system calls, both kinds of each signal that is named, targets, and what the trace may
// have beside them. Where some are left out, only calls are meant.
Result<void> parse_kinds(const std::string& set, analyzer::EventFilter& filter) {
  std::vector<std::string> kinds;
  std::string calls;
  std::istringstream items(set);
  for (std::string item; std::getline(items, item, ',');) {
    if (is_target(item)) {
      filter.targets.push_back(item);
      continue;
    }
    if (set.find('!') == std::string::npos && syscalls::kinds_of_signal(item).empty() && may_be_kind(item)) {
      filter.kinds.push_back(item);
      continue;
    }
    const std::vector<std::string> of_signal = syscalls::kinds_of_signal(item);
    kinds.insert(kinds.end(), of_signal.begin(), of_signal.end());
    if (of_signal.empty() || item == syscalls::kAllSignals) calls += (calls.empty() ? "" : ",") + item;
  }
  const bool others = !kinds.empty() || !filter.targets.empty() || !filter.kinds.empty();
  if (others && calls.find('!') != std::string::npos)
    return Error{"-e " + set + " leaves out calls and names events that are not calls",
                 "name what is wanted: -e read,write,SIGTERM"};
  if (!others || !calls.empty()) {
    auto names = syscalls::parse_call_set(others ? calls : set);
    if (!names) return names.error();
    kinds.insert(kinds.end(), names->begin(), names->end());
  }
  filter.calls = std::move(kinds);
  return {};
}

// Errors: a name that is neither a call's nor that of anything in the trace.
Result<void> check_kinds(const analyzer::EventFilter& filter, const analyzer::Catalog& catalog) {
  if (filter.kinds.empty()) return {};
  std::vector<std::string> known;
  for (const analyzer::Kind& kind : catalog.kinds)
    for (std::string& name : analyzer::names_of(kind)) known.push_back(std::move(name));
  for (const std::string& glob : filter.kinds) {
    if (std::any_of(known.begin(), known.end(), [&](const std::string& name) { return glob_matches(glob, name); }))
      continue;
    Error none = syscalls::parse_call_set(glob).error();
    if (known.empty()) return none;
    none.what += ", and the trace has no such event";
    if (const std::string meant = did_you_mean(glob, known); !meant.empty()) none.remedy = meant;
    return none;
  }
  return {};
}

// Sets a moment of the filter if one was given.
Result<void> set_moment(const std::string& text, const analyzer::Catalog& catalog,
                        std::optional<std::int64_t>& target) {
  if (text.empty()) return {};
  auto point = parse_time_point(text);
  if (!point) return point.error();
  if (const auto* length = std::get_if<std::int64_t>(&*point)) {
    target = *length;
    return {};
  }
  const auto began = catalog.since_1970(0);
  if (!began)
    return Error{"the trace does not say when it began, so '" + text + "' cannot be placed in it",
                 "give a length of time since its start: 1.5s"};
  target = since_start(std::get<WallTime>(*point), *began, analyzer::difference(catalog.end_ns, catalog.start_ns));
  return {};
}

}  // namespace

void add_task_options(Verb& verb, EventOptions& options) {
  analyzer::EventFilter& filter = options.filter;
  take_number(verb.add_option("-p,--pid", filter.pids, "of these processes"), 0, kMostNumber)->type_name("PID");
  add_thread_options(verb, options);
}

void add_thread_options(Verb& verb, EventOptions& options) {
  analyzer::EventFilter& filter = options.filter;
  take_number(verb.add_option("--tid", filter.tids, "of these threads"), 0, kMostNumber)->type_name("TID");
  add_globs(verb, "--thread", filter.threads, "only of threads with such a name: 'worker-*'");
}

void add_time_options(Verb& verb, EventOptions& options, const std::string& since, const std::string& until) {
  verb.add_option("--since", options.since, since)->type_name("T");
  verb.add_option("--until", options.until, until)->type_name("T");
}

void add_event_options(Verb& verb, EventOptions& options) {
  analyzer::EventFilter& filter = options.filter;
  add_task_options(verb, options);
  add_globs(verb, "--process", filter.processes, "only calls of processes that go by such a name: nginx");
  add_calls(
      verb, options.calls,
      "only these calls: names, %file %process %network %desc %memory %signal %ipc %wait %sync, all, ! to exclude; "
      "these signals: SIGTERM, or signal for all; and events that are not calls: sample, offcpu, "
      "ufunction:libc*:read*, or by "
      "the name alone: 'vfs_*'");
  verb.add_flag("--failed", filter.failed, "only calls that failed");
  verb.add_option("--errno", options.errors, "only calls that failed with this error")
      ->type_name("NAME")
      ->suggests("errors", errno_words());
  verb.add_option("--slow", options.slower, "only calls that took at least this long: 10ms")->type_name("T");
  verb.add_option("--how", filter.hows, "only calls that ended so")
      ->one_of({
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/how.def"
#undef USC_X
      });
  add_globs(verb, "--path", filter.paths,
            "only calls with a matching path, base name or address, or a descriptor of one");
  add_globs(verb, "--trigger", filter.triggers, "only calls whose application function matches");
  add_globs(verb, "--function", filter.functions, "only calls with a matching function anywhere in the stack");
  add_time_options(verb, options, "only calls entered then or later: 14:05:30, or 1.5s after the trace's start",
                   "only calls entered then or earlier");
}

Result<analyzer::EventFilter> event_filter(const EventOptions& options) {
  analyzer::EventFilter filter = options.filter;
  for (const std::string& name : options.errors) {
    auto number = parse_errno(name);
    if (!number) return number.error();
    filter.errors.push_back(*number);
  }
  if (!options.slower.empty()) {
    auto nanoseconds = parse_duration(options.slower);
    if (!nanoseconds) return nanoseconds.error();
    filter.slower_ns = *nanoseconds;
  }
  for (const std::string& moment : {options.since, options.until})
    if (auto point = moment.empty() ? Result<TimePoint>(TimePoint()) : parse_time_point(moment); !point)
      return point.error();
  if (options.calls.empty()) return filter;
  if (auto done = parse_kinds(options.calls, filter); !done) return done.error();
  return filter;
}

Result<void> complete_filter(const EventOptions& options, const analyzer::Catalog& catalog,
                             analyzer::EventFilter& filter) {
  if (auto done = check_kinds(filter, catalog); !done) return done;
  if (auto done = set_moment(options.since, catalog, filter.since_ns); !done) return done;
  if (auto done = set_moment(options.until, catalog, filter.until_ns); !done) return done;
  if (filter.since_ns && filter.until_ns && *filter.since_ns > *filter.until_ns)
    return Error{"--since " + options.since + " is after --until " + options.until, "exchange the two"};
  return {};
}

Result<analyzer::EventFilter> part_filter(const EventOptions& options, const analyzer::Catalog& catalog) {
  auto filter = event_filter(options);
  if (!filter) return filter;
  if (auto done = complete_filter(options, catalog, *filter); !done) return done.error();
  return filter;
}

Result<analyzer::EventFilter> part_filter(const EventOptions& options, const store::Database& database) {
  auto catalog = analyzer::read_catalog(database);
  return catalog ? part_filter(options, *catalog) : catalog.error();
}

Result<void> say_none_match(const std::string& file, const store::Database& database,
                            const analyzer::EventFilter& filter) {
  const auto catalog = analyzer::read_catalog(database);
  return catalog ? say_none_match(file, database, *catalog, filter) : catalog.error();
}

Result<void> say_none_match(const std::string& file, const store::Database& database, const analyzer::Catalog& catalog,
                            const analyzer::EventFilter& filter) {
  auto reasons = analyzer::why_none_match(database, catalog, filter);
  if (!reasons) return reasons.error();
  std::fprintf(stderr, "uscope: no event of %s matches\n", escape_terminal(file).c_str());
  for (const std::string& reason : *reasons) std::fprintf(stderr, "uscope: %s\n", printable(reason).c_str());
  return {};
}

}  // namespace uscope::cli
