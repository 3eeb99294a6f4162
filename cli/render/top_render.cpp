// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "support/text.h"
#include "trace/names.h"
#include "trace/trigger.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kMedian = 50;
constexpr double kNearlyAll = 99;
constexpr std::size_t kLeast = 8;  // columns of a name, where no other column can be left out

std::string rate(std::uint64_t count, double seconds) {
  if (count == 0 || seconds <= 0) return "";
  const double each = static_cast<double>(count) / seconds;
  return each < 1 ? "< 1" : group_digits(static_cast<std::uint64_t>(std::llround(each)));
}

std::string time_rate(std::uint64_t time_ns, double seconds) {
  return seconds <= 0 ? "" : human_duration(static_cast<double>(time_ns) / seconds);
}

std::string time_of(const live::CallLine& line, std::uint64_t nanoseconds) {
  return line.times.count() == 0 ? "" : human_duration(static_cast<double>(nanoseconds));
}

// A column, and after how many others it is left out where there is too little room; 0: it stays.
struct Column {
  TableColumn column;
  unsigned leaves = 0;
};

const std::vector<Column>& function_columns() {
  static const std::vector<Column> kColumns = {{{"calls/s", Align::kRight}},
                                               {{"errors/s", Align::kRight}},
                                               {{"time/s", Align::kRight}},
                                               {{"median", Align::kRight}, 3},
                                               {{"99 %", Align::kRight}, 1},
                                               {{"longest", Align::kRight}, 2},
                                               {{"call", Align::kLeft, Shrink::kEnd, 15}},
                                               {{"from function", Align::kLeft, Shrink::kEnd, 20}},
                                               {{"in", Align::kLeft, Shrink::kMiddle, 8}, 4}};
  return kColumns;
}

std::vector<std::string> cells(const live::CallLine& line, double seconds) {
  return {rate(line.calls, seconds),
          rate(line.errors, seconds),
          line.times.count() == 0 ? "" : time_rate(line.times.total(), seconds),
          time_of(line, line.times.percentile(kMedian)),
          time_of(line, line.times.percentile(kNearlyAll)),
          time_of(line, line.times.max()),
          top_call(line.call, line.abi),
          top_function(line),
          std::string(base_name(line.module))};
}

const std::vector<Column>& thread_columns() {
  static const std::vector<Column> kColumns = {{{"calls/s", Align::kRight}},
                                               {{"errors/s", Align::kRight}},
                                               {{"time/s", Align::kRight}},
                                               {{"pid", Align::kRight}},
                                               {{"tid", Align::kRight}},
                                               {{"name", Align::kLeft, Shrink::kEnd, 8}},
                                               {{"most often", Align::kLeft, Shrink::kEnd}}};
  return kColumns;
}

std::vector<std::string> cells(const live::ThreadLine& line, double seconds) {
  const auto number = [](std::uint32_t id) { return id == 0 ? std::string("?") : std::to_string(id); };
  return {rate(line.calls, seconds),
          rate(line.errors, seconds),
          line.time_ns == 0 ? "" : time_rate(line.time_ns, seconds),
          line.others ? "" : number(line.pid),
          line.others ? "" : number(line.tid),
          line.others ? "(other threads)" : line.name,
          top_call(line.call, line.abi)};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// With the columns that fit.
std::vector<std::string> fitting_table(const std::vector<Column>& columns,
                                       const std::vector<std::vector<std::string>>& rows, TextWidth width) {
  const unsigned most = std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
                          return a.leaves < b.leaves;
                        })->leaves;
  std::vector<std::string> lines;
  for (unsigned left_out = 0; left_out <= most; left_out++) {
    const auto stays = [&](const Column& column) { return column.leaves == 0 || column.leaves > left_out; };
    std::vector<TableColumn> shown;
    for (const Column& column : columns) {
      if (!stays(column)) continue;
      shown.push_back(column.column);
      if (left_out == most) shown.back().narrowest = std::min(kLeast, shown.back().narrowest);
    }
    TextTable table(shown);
    table.set_ink("errors/s", Ink::kBad);
    for (const auto& row : rows) {
      std::vector<std::string> kept;
      for (std::size_t i = 0; i < row.size(); i++)
        if (stays(columns[i])) kept.push_back(row[i]);
      table.add_row(std::move(kept));
    }
    lines = split_lines(table.render(width));
    const auto fits = [&](const std::string& line) { return display_width(line) <= width.columns; };
    if (!width.cuts || std::all_of(lines.begin(), lines.end(), fits)) return lines;
  }
  for (std::string& line : lines) line = shorten(line, width.columns, Shrink::kEnd);
  return lines;
}

ordered_json json_line(const live::CallLine& line, double seconds) {
  const auto spent = [&](std::uint64_t value) {
    return line.times.count() == 0 ? ordered_json() : ordered_json(value);
  };
  return {{"call", line.call},
          {"abi", line.abi},
          {"function", line.function.empty() ? ordered_json() : json_value(line.function)},
          {"module", line.module.empty() ? ordered_json() : json_value(line.module)},
          {"fallback", line.fallback},
          {"waits", line.waits},
          {"calls", line.calls},
          {"errors", line.errors},
          {"total_ns", line.times.total()},
          {"time_per_s_ns", seconds <= 0 ? 0 : static_cast<double>(line.times.total()) / seconds},
          {"median_ns", spent(line.times.percentile(kMedian))},
          {"p99_ns", spent(line.times.percentile(kNearlyAll))},
          {"max_ns", spent(line.times.max())}};
}

ordered_json json_line(const live::ThreadLine& line, double seconds) {
  const auto number = [](std::uint32_t id) { return id == 0 ? ordered_json() : ordered_json(id); };
  return {{"pid", number(line.pid)},
          {"tid", number(line.tid)},
          {"name", line.others ? ordered_json() : json_value(line.name)},
          {"calls", line.calls},
          {"errors", line.errors},
          {"total_ns", line.time_ns},
          {"time_per_s_ns", seconds <= 0 ? 0 : static_cast<double>(line.time_ns) / seconds},
          {"most_frequent_call", line.call},
          {"abi", line.abi}};
}

}  // namespace

std::string order_name(live::Order order) {
  return order == live::Order::kTime ? "time" : order == live::Order::kErrors ? "errors" : "calls";
}

std::string waits_name(live::Waits waits) {
  if (waits == live::Waits::kApart) return "apart";
  return waits == live::Waits::kNone ? "no" : "only";
}

std::string by_name(TopBy by) {
  return by == TopBy::kThread ? "thread" : "function";
}

std::string top_call(const std::string& call, const std::string& abi) {
  return abi.empty() || trace::is_native_abi(abi) ? call : call + " (" + abi + ")";
}

std::string top_function(const live::CallLine& line) {
  if (line.function.empty()) return "(no application frame)";
  return line.function + (line.fallback && line.function != trace::kCutName ? " *" : "");
}

std::vector<std::size_t> top_places(const TopPicture& picture, const TopChoice& choice) {
  return choice.by == TopBy::kThread ? live::chosen(picture.threads, choice.lines)
                                     : live::chosen(picture.lines, choice.lines);
}

std::size_t top_line_count(const TopPicture& picture, TopBy by) {
  return by == TopBy::kThread ? picture.threads.size() : picture.lines.size();
}

std::string top_title(const TopPicture& picture, const std::string& more, std::size_t width) {
  const std::string calls = rate(picture.calls, picture.seconds);
  const std::string figures =
      fmt::format("  {} s  {}  {} calls/s{}", group_digits(static_cast<std::uint64_t>(picture.at_s)),
                  plural(picture.processes, "process"), calls.empty() ? "0" : calls, more);
  const std::size_t room = width - std::min(width, display_width(figures));
  return shorten(shorten(escape_terminal(picture.target), room, Shrink::kEnd) + figures, width, Shrink::kEnd);
}

std::vector<std::string> top_table(const TopPicture& picture, TopBy by, const std::vector<std::size_t>& places,
                                   TextWidth width) {
  if (places.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(places.size());
  for (const std::size_t place : places)
    rows.push_back(by == TopBy::kThread ? cells(picture.threads[place], picture.seconds)
                                        : cells(picture.lines[place], picture.seconds));
  return fitting_table(by == TopBy::kThread ? thread_columns() : function_columns(), rows, width);
}

std::optional<std::size_t> first_wait(const TopPicture& picture, TopBy by, const std::vector<std::size_t>& places) {
  if (by == TopBy::kThread) return std::nullopt;
  const auto found =
      std::find_if(places.begin(), places.end(), [&](std::size_t place) { return picture.lines[place].waits; });
  if (found == places.end()) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

std::string top_empty(const TopPicture& picture, const TopChoice& choice) {
  const bool nothing_runs = picture.processes == 0 && picture.calls == 0;
  if (nothing_runs && !picture.waiting.empty()) return picture.waiting;
  if (nothing_runs && picture.at_s > 0)
    return "nothing of " + escape_terminal(picture.target) + " runs: waiting for it";
  if (picture.seconds <= 0) return "counting";
  if (top_line_count(picture, choice.by) != 0) {
    if (!choice.lines.filter.empty()) return "no line has " + in_quotes(choice.lines.filter);
    return choice.lines.waits == live::Waits::kOnly ? "no call that ended in this time waits"
                                                    : "all calls that ended in this time wait";
  }
  std::string none = "no call ended in this time";
  if (picture.processes == 0) return none;
  const std::uint64_t stopped = std::min(picture.stopped, picture.processes);
  const std::uint64_t others = picture.processes - stopped;
  if (others > 0) none += "; " + plural(others, "process") + (others == 1 ? " computes or waits" : " compute or wait");
  if (stopped > 0) none += "; " + plural(stopped, "process") + (stopped == 1 ? " is stopped" : " are stopped");
  return none;
}

std::string top_text(const TopPicture& picture, const TopChoice& choice, std::size_t most, TextWidth width) {
  const std::string lost = group_digits(picture.lost) + " lost";
  const std::string shown = "  " + width.paint(picture.lost == 0 ? Ink::kPlain : Ink::kBad, lost);
  std::string text = top_title(picture, shown, width.columns) + "\n\n";
  std::vector<std::size_t> places = top_places(picture, choice);
  const std::size_t matching = places.size();
  if (places.empty() && choice.lines.filter.empty())
    text += shorten("  " + top_empty(picture, choice), width.columns, Shrink::kEnd) + "\n";
  places.resize(std::min(most, matching));
  const auto waits = first_wait(picture, choice.by, places);
  std::size_t at = 0;  // the first line has the titles
  for (const std::string& line : top_table(picture, choice.by, places, width)) {
    if (waits && *waits != 0 && at == *waits + 1) text += fmt::format("{}\n", kWaitsTitle);
    text += line + "\n";
    at++;
  }
  if (places.size() < matching) text += "  " + group_digits(matching - places.size()) + " more\n";
  if (!choice.lines.filter.empty())
    text += shorten(fmt::format("  {} of {} match {}", group_digits(matching),
                                plural(top_line_count(picture, choice.by), "line"), in_quotes(choice.lines.filter)),
                    width.columns, Shrink::kEnd) +
            "\n";
  return text;
}

std::string top_json(const TopPicture& picture, const TopChoice& choice, std::size_t most) {
  const std::vector<std::size_t> places = top_places(picture, choice);
  ordered_json lines = ordered_json::array();
  for (std::size_t i = 0; i < std::min(most, places.size()); i++)
    lines.push_back(choice.by == TopBy::kThread ? json_line(picture.threads[places[i]], picture.seconds)
                                                : json_line(picture.lines[places[i]], picture.seconds));
  const ordered_json document = {
      {"target", json_value(picture.target)},
      {"at_s", picture.at_s},
      {"seconds", picture.seconds},
      {"processes", picture.processes},
      {"stopped", picture.stopped},
      {"calls", picture.calls},
      {"lost", picture.lost},
      {"by", by_name(choice.by)},
      {"sort", order_name(choice.lines.order)},
      {"reverse", choice.lines.reverse},
      {"waits", waits_name(choice.lines.waits)},
      {"filter", choice.lines.filter.empty() ? ordered_json() : json_value(choice.lines.filter)},
      {"line_count", places.size()},
      {"lines", std::move(lines)}};
  return dump(document, false) + "\n";
}

}  // namespace uscope::cli
