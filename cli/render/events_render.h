// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One event as a strace-like line and as JSON (docs/json/events.schema.json).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/event_row.h"
#include "analyzer/read/stack_reader.h"
#include "cli/terminal/paint.h"

namespace uscope::cli {

enum class Times {
  kRelative,  // seconds since the trace's start
  kWall,      // the time of the day
  kDelta,     // seconds since the event before
};

// The times of lines that follow each other.
class TimeColumn {
 public:
  // `began_ns`: when the trace began, since 1970; must be known for kWall.
  TimeColumn(Times times, std::optional<std::int64_t> began_ns) : times_(times), began_ns_(began_ns) {}

  [[nodiscard]] std::string text(std::int64_t ts_ns);
  // Since 1970; nullopt if that is not known.
  [[nodiscard]] std::optional<std::int64_t> moment(std::int64_t ts_ns) const;

 private:
  Times times_;
  std::optional<std::int64_t> began_ns_;
  std::optional<std::int64_t> before_;
};

// "name[pid/tid] time call(args) = result ERRNO (explanation) <duration>" and a newline.
[[nodiscard]] std::string event_text(const analyzer::EventRow& event, const std::string& time, Paint paint = {});

// The frames of an event, in the style of `strace -k`: " > module(function+0xoffset) [0xpc] file:line", innermost
// first.
[[nodiscard]] std::string frames_text(const std::vector<analyzer::StackFrame>& frames, const analyzer::EventRow& event,
                                      Paint paint = {});

[[nodiscard]] nlohmann::ordered_json event_json(const analyzer::EventRow& event, std::optional<std::int64_t> moment_ns);
[[nodiscard]] nlohmann::ordered_json frames_json(const std::vector<analyzer::StackFrame>& frames);

}  // namespace uscope::cli
