// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/wall_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>

#include "analyzer/read/catalog.h"
#include "cli/render/units.h"

namespace uscope::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Split {
  std::time_t seconds;
  std::int64_t nanoseconds;
};

Split split(std::int64_t moment_ns) {
  Split parts{moment_ns / kSecond, moment_ns % kSecond};
  if (parts.nanoseconds < 0) {
    parts.seconds--;
    parts.nanoseconds += kSecond;
  }
  return parts;
}

std::tm local(std::time_t seconds) {
  std::tm fields{};
  localtime_r(&seconds, &fields);
  return fields;
}

std::tm in_utc(std::time_t seconds) {
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  return fields;
}

std::optional<int> take_number(std::string_view& text, int most) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number < 0 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

bool is_date(int year, int month, int day) {
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

std::optional<WallTime> parse_wall_time(std::string_view text) {
  constexpr int kLastYear = 2261;  // the last whole one in 64-bit nanoseconds
  WallTime time;
  if (text.ends_with('Z')) {
    time.utc = true;
    text.remove_suffix(1);
  }
  if (text.find('-') != std::string_view::npos) {
    const auto year = take_number(text, kLastYear);
    if (!year || *year < 1970 || !take(text, '-')) return std::nullopt;
    const auto month = take_number(text, 12);
    if (!month || *month == 0 || !take(text, '-')) return std::nullopt;
    const auto day = take_number(text, 31);
    if (!day || !is_date(*year, *month, *day) || (!take(text, ' ') && !take(text, 'T'))) return std::nullopt;
    time = {*year, *month, *day, 0, time.utc};
  }
  const auto hours = take_number(text, 23);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 59);
  if (!minutes) return std::nullopt;
  time.of_day_ns = (std::int64_t{*hours} * 60 + *minutes) * 60 * kSecond;
  if (text.empty()) return time;
  if (!take(text, ':')) return std::nullopt;
  double seconds = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (problem != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds < 60))
    return std::nullopt;
  time.of_day_ns += std::llround(seconds * 1e9);
  return time;
}

// `days` after the day of `date`, whose other fields are ignored.
std::int64_t moment_of(const std::tm& date, int days, const WallTime& time) {
  const std::int64_t of_day_ns = time.of_day_ns;
  std::tm fields{};
  fields.tm_year = date.tm_year;
  fields.tm_mon = date.tm_mon;
  fields.tm_mday = date.tm_mday + days;
  const std::int64_t seconds = of_day_ns / kSecond;
  fields.tm_hour = static_cast<int>(seconds / 3600);
  fields.tm_min = static_cast<int>(seconds / 60 % 60);
  fields.tm_sec = static_cast<int>(seconds % 60);
  fields.tm_isdst = -1;
  constexpr std::time_t kLast = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
  return std::clamp<std::time_t>(time.utc ? timegm(&fields) : std::mktime(&fields), -kLast, kLast) * kSecond +
         of_day_ns % kSecond;
}

}  // namespace

void load_time_zone() {
  tzset();
}

std::string time_of_day(std::int64_t moment_ns) {
  const Split parts = split(moment_ns);
  const std::tm fields = local(parts.seconds);
  return fmt::format("{:02}:{:02}:{:02}.{:06}", fields.tm_hour, fields.tm_min, fields.tm_sec, parts.nanoseconds / 1000);
}

std::string date_and_time(std::int64_t moment_ns) {
  const std::tm fields = local(split(moment_ns).seconds);
  const long minutes = fields.tm_gmtoff / 60;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} {}{:02}{:02} ({})", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec, minutes < 0 ? '-' : '+',
                     std::abs(minutes) / 60, std::abs(minutes) % 60, fields.tm_zone ? fields.tm_zone : "?");
}

std::string iso_time(std::int64_t moment_ns) {
  const Split parts = split(moment_ns);
  const std::tm fields = in_utc(parts.seconds);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec, parts.nanoseconds);
}

Result<TimePoint> parse_time_point(const std::string& text) {
  if (text.find(':') == std::string::npos && text.find('-') == std::string::npos) {
    if (const auto nanoseconds = parse_duration(text)) return TimePoint(*nanoseconds);
  } else if (const auto time = parse_wall_time(text)) {
    return TimePoint(*time);
  }
  return Error{"'" + text + "' is not a time",
               "write a time of the day as 14:05 or 14:05:30.5, a moment as '2026-11-22 14:05', both with Z behind "
               "them for UTC, or a length of time since the trace's start as 1.5s"};
}

std::int64_t since_start(const WallTime& time, std::int64_t began_ns, std::int64_t duration_ns) {
  if (time.year != 0) {
    std::tm date{};
    date.tm_year = time.year - 1900;
    date.tm_mon = time.month - 1;
    date.tm_mday = time.day;
    return analyzer::difference(moment_of(date, 0, time), began_ns);
  }
  const auto day_of = [&](std::int64_t moment_ns) {
    const std::time_t seconds = split(moment_ns).seconds;
    return time.utc ? in_utc(seconds) : local(seconds);
  };
  const std::tm first_day = day_of(began_ns);
  const std::int64_t first = analyzer::difference(moment_of(first_day, 0, time), began_ns);
  if (first >= 0) return first;
  // Before the trace, unless the trace went on into the next day: then that day's.
  const std::tm last_day = day_of(began_ns + std::max<std::int64_t>(0, duration_ns));
  const bool one_day = first_day.tm_year == last_day.tm_year && first_day.tm_yday == last_day.tm_yday;
  return one_day ? first : analyzer::difference(moment_of(first_day, 1, time), began_ns);
}

}  // namespace uscope::cli
