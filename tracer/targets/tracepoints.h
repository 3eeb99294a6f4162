// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel's tracepoints, as tracefs shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "tracer/host/host.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

struct TracepointName {
  std::string system;
  std::string event;
};

// Where tracefs is mounted, below the host's root; an error that says how to mount it.
[[nodiscard]] Result<std::string> tracefs_folder(const Host& host);

// All of them, sorted by system and event. `folder`: as tracefs_folder() says.
[[nodiscard]] Result<std::vector<TracepointName>> tracepoints(const std::string& folder);

// One of them, with its id and its arguments, without kind.
[[nodiscard]] Result<Probe> read_tracepoint(const std::string& folder, const TracepointName& name);

// The fields that a tracepoint's `format` file describes, without those that all tracepoints have (common_…). Arguments
// are the first six that are numbers of at most 8 bytes or texts (type "char[16]": the text lies at the offset;
// "__data_loc char[]": its place lies there).
struct TracepointFields {
  std::vector<ProbeArgument> arguments;
  std::vector<std::string> too_many;    // names of those that could be a seventh argument
  std::vector<std::string> unreadable;  // of those that are neither a number nor a text
};
[[nodiscard]] TracepointFields parse_tracepoint_format(std::string_view format);

// What is the matter with one field, and with several.
struct WhyUnreadable {
  const char* one = "it is neither a number nor a text";
  const char* several = "they are neither numbers nor texts";
};
// "next_prio is not kept: an event holds six arguments"; empty: all are.
[[nodiscard]] std::string what_is_not_kept(const std::vector<std::string>& too_many,
                                           const std::vector<std::string>& unreadable, WhyUnreadable why = {});

}  // namespace uscope::tracer
