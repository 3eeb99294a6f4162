// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Moments by the system clock, in the time zone of the user (TZ, /etc/localtime). The zone is read once, by
// load_time_zone(), which is to be called before a process confines itself.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "support/result.h"

namespace uscope::cli {

void load_time_zone();

// Moments are nanoseconds since 1970.
[[nodiscard]] std::string time_of_day(std::int64_t moment_ns);    // "14:05:30.123456"
[[nodiscard]] std::string date_and_time(std::int64_t moment_ns);  // "2026-11-22 14:05:30 +0100 (CET)"
[[nodiscard]] std::string iso_time(std::int64_t moment_ns);       // "2026-11-22T13:05:30.123456789Z", always in UTC

// A time of the day, or of a day.
struct WallTime {
  int year = 0;  // 0: no date was given
  int month = 0;
  int day = 0;
  std::int64_t of_day_ns = 0;
  bool utc = false;  // a Z stands behind it; otherwise it is in the user's time zone
};

// A length of time, or a time by the clock.
using TimePoint = std::variant<std::int64_t, WallTime>;

// "1.5s" (as parse_duration), "14:05", "14:05:30.5", "2026-11-22 14:05", "2026-11-22T14:05:30", "2026-11-22T13:05:30Z".
[[nodiscard]] Result<TimePoint> parse_time_point(const std::string& text);

// Converts to time since the trace's start, which began at `began_ns` and lasted `duration_ns`. A time without a date
// is on the day on which the trace began, or on the next day if that is after its beginning and before its end.
[[nodiscard]] std::int64_t since_start(const WallTime& time, std::int64_t began_ns, std::int64_t duration_ns);

}  // namespace uscope::cli
