// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The options by which `events` and `export` choose events, and other verbs threads and times.
#pragma once

#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "cli/options/command_line.h"
#include "support/result.h"

namespace uscope::cli {

struct EventOptions {
  analyzer::EventFilter filter;     // what needs no further parsing
  std::string calls;                // -e, as given; empty = all
  std::vector<std::string> errors;  // --errno, names or numbers
  std::string slower;               // times as given; empty = none
  std::string since;
  std::string until;
};

void add_event_options(Verb& verb, EventOptions& options);
// Parts of it, for verbs that do not choose single events: --pid, --tid, --thread, or the last two alone; --since and
// --until, with what they mean to the verb.
void add_task_options(Verb& verb, EventOptions& options);
void add_thread_options(Verb& verb, EventOptions& options);
void add_time_options(Verb& verb, EventOptions& options, const std::string& since, const std::string& until);

// The filter that the options mean. Errors: values that mean nothing.
[[nodiscard]] Result<analyzer::EventFilter> event_filter(const EventOptions& options);

// The same, with what needs the trace: --since and --until, which may be times by the clock, and names of what is no
// call. Errors: the first is after the second; a name that is neither a call's nor in the trace.
[[nodiscard]] Result<void> complete_filter(const EventOptions& options, const analyzer::Catalog& catalog,
                                           analyzer::EventFilter& filter);

// The part of a recording that add_task_options() and add_time_options() choose. Errors: as of the two above.
[[nodiscard]] Result<analyzer::EventFilter> part_filter(const EventOptions& options, const analyzer::Catalog& catalog);
[[nodiscard]] Result<analyzer::EventFilter> part_filter(const EventOptions& options, const store::Database& database);

// Says on stderr that no event of `file` matches, and what the trace has in place of what the filter names.
Result<void> say_none_match(const std::string& file, const store::Database& database, const analyzer::Catalog& catalog,
                            const analyzer::EventFilter& filter);
Result<void> say_none_match(const std::string& file, const store::Database& database,
                            const analyzer::EventFilter& filter);

}  // namespace uscope::cli
