// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/time_render.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/render/histogram.h"
#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "cli/render/trigger_cell.h"
#include "support/text.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::TimeFunction;
using analyzer::TimeParts;
using analyzer::TimeRecorded;
using analyzer::TimeShare;
using analyzer::TimeShares;
using analyzer::TimeUse;
using nlohmann::ordered_json;

constexpr const char* kOrder = "with most time";
constexpr std::size_t kStackFunctions = 4;  // of a line; the JSON has all

double percentage(std::uint64_t part, std::uint64_t whole) {
  constexpr double kPercent = 100;
  return whole == 0 ? 0 : kPercent * static_cast<double>(part) / static_cast<double>(whole);
}
std::string share_cell(std::uint64_t part, std::uint64_t whole) {
  return part == 0 || whole == 0 ? "" : fmt::format("{:.1f} %", percentage(part, whole));
}
std::string error_cell(std::uint64_t part, std::uint64_t whole) {
  return part == 0 || whole == 0 ? "" : fmt::format("±{:.1f}", percentage(part, whole));
}

std::string_view state_name(TimeUse state) {
  switch (state) {
    case TimeUse::kBlocked:
      return "blocked";
    case TimeUse::kStopped:
      return "stopped";
    default:
      return "sleeping";
  }
}

// "sleeping 7.90 s, blocked 100 ms"
std::string waiting_states(const TimeParts& parts) {
  std::string out;
  const auto add = [&](const char* state, std::uint64_t ns) {
    if (ns != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", state, time_cell(ns));
  };
  add("sleeping", parts.sleeping_ns);
  add("blocked", parts.blocked_ns);
  add("stopped", parts.stopped_ns);
  return out;
}

std::string running_text(const TimeShare& all, const TimeRecorded& recorded) {
  if (!recorded.samples) return "running: what remains, without samples";
  std::string out = "running";
  if (all.user_ns != 0) out += fmt::format(", the program's code {}", time_cell(all.user_ns));
  if (all.kernel_ns != 0) out += fmt::format(", the kernel {}", time_cell(all.kernel_ns));
  return out + " (" + plural(all.samples, "sample") + ")";
}

std::string together_text(const TimeShare& all) {
  const auto sum = static_cast<std::uint64_t>(static_cast<std::int64_t>(all.total_ns) + all.difference_ns());
  return fmt::format("sum: {:.1f} % of the threads' lifetime (samples: ±{:.1f} %)", percentage(sum, all.total_ns),
                     percentage(all.error_ns, all.total_ns));
}

std::string whole(const TimeShares& shares, TextWidth width) {
  const TimeShare& all = shares.all;
  const TimeRecorded& recorded = shares.recorded;
  TextTable table({{"time", Align::kRight},
                   {"share", Align::kRight},
                   {"±", Align::kRight},
                   {"", Align::kLeft, Shrink::kNever, 0, 1},
                   {"doing what", Align::kLeft, Shrink::kEnd, 40}});
  constexpr std::size_t kBar = 20;
  const auto add = [&](std::uint64_t ns, const std::string& what, const std::string& plus_minus, std::string drawn) {
    table.add_row({human_duration(static_cast<double>(ns)), fmt::format("{:.1f} %", percentage(ns, all.total_ns)),
                   plus_minus, std::move(drawn), what});
  };
  const auto row = [&](std::uint64_t ns, const std::string& what, std::uint64_t plus_minus = 0) {
    add(ns, what, error_cell(plus_minus, all.total_ns), bar(std::min(ns, all.total_ns), all.total_ns, kBar));
  };
  row(all.running_ns, running_text(all, recorded), all.error_ns);
  if (recorded.off_cpu) {
    const std::string states = waiting_states(all);
    row(all.waiting_ns(), "waiting" + (states.empty() ? "" : ": " + states));
    row(all.for_cpu_ns, "ready to run, waiting for a CPU");
  } else {
    row(all.not_running_ns, "not running: what remains (record -t offcpu tells more)");
  }
  if (recorded.samples && recorded.off_cpu) add(all.running_ns + all.not_running_ns, together_text(all), "", "");
  std::string out =
      fmt::format("{}       {} lived {} within the trace:\n", width.paint(Ink::kHeading, "TIME"),
                  plural(shares.threads.total, "thread"), human_duration(static_cast<double>(all.total_ns))) +
      table.render(width);
  if (shares.unsampled_ns != 0)
    out += width.paint(Ink::kBad, fmt::format("  samples show {} less than the {} for which the kernel says that these "
                                              "processes ran: the shares are not right",
                                              human_duration(static_cast<double>(shares.unsampled_ns)),
                                              human_duration(static_cast<double>(*shares.kernel_ran_ns)))) +
           "\n";
  if (all.calls != 0) {
    out += fmt::format("  in calls: {} ({:.1f} %)", human_duration(static_cast<double>(all.call_ns)),
                       percentage(all.call_ns, all.total_ns));
    if (recorded.off_cpu && all.call_off_ns != 0) out += ", of which " + time_cell(all.call_off_ns) + " off the CPU";
    out += recorded.all_calls ? "\n" : "; not all calls were recorded\n";
  }
  return out;
}

// The cells of what is not running: by state, or in all where that is not known. `cell` makes one of a time.
template <typename Cell>
void add_off(std::vector<std::string>& cells, const TimeShare& line, const TimeRecorded& recorded, const Cell& cell) {
  for (const std::uint64_t ns : {line.sleeping_ns, line.blocked_ns, line.stopped_ns, line.for_cpu_ns,
                                 recorded.off_cpu ? std::uint64_t{0} : line.not_running_ns})
    cells.push_back(cell(ns));
}
void add_off_columns(std::vector<TableColumn>& columns) {
  for (const char* title : {"sleeping", "blocked", "stopped", "for a CPU", "not running"})
    columns.push_back({title, Align::kRight});
}

// "main → worker"; of more than three names the first and the last.
std::string names_of(const analyzer::ThreadTime& line) {
  if (line.names.size() > 3) return line.names.front() + " → … → " + line.names.back();
  return fmt::format("{}", fmt::join(line.names, " → "));
}

std::string times_of_threads(const TimeShares& shares, TextWidth width) {
  std::vector<TableColumn> columns{
      {"lived", Align::kRight}, {"running", Align::kRight}, {"±", Align::kRight, Shrink::kNever, 0, 3}};
  add_off_columns(columns);
  for (const TableColumn& column : std::vector<TableColumn>{{"adds up to", Align::kRight, Shrink::kNever, 0, 1},
                                                            {"in calls", Align::kRight, Shrink::kNever, 0, 2},
                                                            {"most in", Align::kLeft, Shrink::kEnd, 8, 4},
                                                            {"pid/tid", Align::kRight},
                                                            {"thread", Align::kLeft, Shrink::kMiddle, 8}})
    columns.push_back(column);
  TextTable table(std::move(columns));
  const TimeRecorded& recorded = shares.recorded;
  for (const auto& line : shares.threads.lines) {
    std::vector<std::string> cells{time_cell(line.total_ns), share_cell(line.running_ns, line.total_ns),
                                   line.running_ns == 0 ? "" : error_cell(line.error_ns, line.total_ns)};
    add_off(cells, line, recorded, [&](std::uint64_t ns) { return share_cell(ns, line.total_ns); });
    cells.push_back(recorded.samples && recorded.off_cpu
                        ? fmt::format("{:.1f} %", percentage(line.running_ns + line.not_running_ns, line.total_ns))
                        : "");
    cells.push_back(share_cell(line.call_ns, line.total_ns));
    cells.push_back(line.inside.empty() ? "" : line.inside.front().call);
    cells.push_back(fmt::format("{}/{}", line.pid, line.tid));
    cells.push_back(names_of(line));
    table.add_row(std::move(cells));
  }
  return section_head("TIME OF THREADS", shares.threads, kOrder, width.paint) + table.render(width);
}

std::string times_of_calls(const TimeShares& shares, TextWidth width) {
  std::vector<TableColumn> columns{{"time", Align::kRight},
                                   {"share", Align::kRight, Shrink::kNever, 0, 1},
                                   {"on a CPU", Align::kRight},
                                   {"±", Align::kRight, Shrink::kNever, 0, 2}};
  add_off_columns(columns);
  columns.push_back({"calls", Align::kRight});
  columns.push_back({"call"});
  columns.push_back({"abi"});
  TextTable table(std::move(columns));
  for (const auto& line : shares.calls.lines) {
    std::vector<std::string> cells{time_cell(line.total_ns), share_cell(line.total_ns, shares.all.total_ns),
                                   time_cell(line.running_ns),
                                   line.error_ns == 0 ? "" : "±" + time_cell(line.error_ns)};
    add_off(cells, line, shares.recorded, time_cell);
    cells.push_back(count_cell(line.calls));
    cells.push_back(line.call);
    cells.push_back(trace::is_native_abi(line.abi) ? "" : line.abi);
    table.add_row(std::move(cells));
  }
  return section_head("TIME IN CALLS", shares.calls, kOrder, width.paint) + table.render(width);
}

std::string running(const TimeShares& shares, TextWidth width) {
  TextTable table({{"running", Align::kRight},
                   {"share", Align::kRight},
                   {"±", Align::kRight, Shrink::kNever, 0, 3},
                   {"in the kernel", Align::kRight, Shrink::kNever, 0, 2},
                   {"function", Align::kLeft, Shrink::kMiddle},
                   {"in", Align::kLeft, Shrink::kMiddle, 8, 1},
                   {"for", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : shares.running.lines) {
    const bool is_own = line.triggers == 1 && line.trigger.function == line.at.function;
    std::string caller = is_own ? "" : trigger_cell(line.trigger);
    if (line.triggers > 1) caller += fmt::format(" +{}", line.triggers - 1);
    table.add_row({time_cell(line.running_ns), share_cell(line.running_ns, shares.all.sampled_ns()),
                   error_cell(line.error_ns, shares.all.sampled_ns()), time_cell(line.kernel_ns),
                   line.at.function.empty() ? "(no stack)" : line.at.function, std::string(base_name(line.at.module)),
                   caller});
  }
  return section_head("RUNNING BY FUNCTION", shares.running, kOrder, width.paint) + table.render(width);
}

std::string functions(const TimeShares& shares, TextWidth width) {
  std::vector<TableColumn> columns{{"time", Align::kRight}, {"running", Align::kRight}};
  add_off_columns(columns);
  columns.push_back({"in calls", Align::kRight, Shrink::kNever, 0, 1});
  columns.push_back({"function", Align::kLeft, Shrink::kMiddle});
  columns.push_back({"in", Align::kLeft, Shrink::kMiddle, 8, 2});
  TextTable table(std::move(columns));
  for (const auto& line : shares.functions.lines) {
    std::vector<std::string> cells{time_cell(line.total_ns), time_cell(line.running_ns)};
    add_off(cells, line, shares.recorded, time_cell);
    cells.push_back(time_cell(line.call_ns));
    cells.push_back(trigger_cell(line.at));
    cells.emplace_back(base_name(line.at.module));
    table.add_row(std::move(cells));
  }
  return section_head("TIME BY TRIGGER", shares.functions, kOrder, width.paint) + table.render(width);
}

std::string waker_cell(const analyzer::Waker& waker) {
  switch (waker.who) {
    case analyzer::Waker::Who::kInterrupt:
      return "an interrupt";
    case analyzer::Waker::Who::kNobody:
      return "nobody yet";
    case analyzer::Waker::Who::kSomebody:
      return "others";
    default:
      return fmt::format("{}[{}/{}]", waker.thread.empty() ? "not traced" : waker.thread, waker.pid, waker.tid);
  }
}

// "leaf < work < main < …"
std::string stack_cell(const std::string& folded) {
  if (folded.empty()) return "(no stack)";
  std::string out;
  std::size_t end = folded.size();
  for (std::size_t i = 0; i < kStackFunctions; i++) {
    const std::size_t before = end == 0 ? std::string::npos : folded.rfind(';', end - 1);
    const std::size_t from = before == std::string::npos ? 0 : before + 1;
    out += (i == 0 ? "" : " < ") + folded.substr(from, end - from);
    if (before == std::string::npos) return out;
    end = before;
  }
  return out + " < …";
}

// States are left to other lists, so that the stack has room.
std::string stacks(const TimeShares& shares, TextWidth width) {
  const bool by_state = shares.recorded.off_cpu;
  TextTable table({{"time", Align::kRight},
                   {"running", Align::kRight},
                   {by_state ? "waiting" : "not running", Align::kRight},
                   {"for a CPU", Align::kRight},
                   {"call", Align::kLeft, Shrink::kNever, 0, 1},
                   {"stack", Align::kLeft, Shrink::kEnd, 24},
                   {"woken by", Align::kLeft, Shrink::kMiddle, 12, 2}});
  for (const auto& line : shares.stacks.lines)
    table.add_row({time_cell(line.total_ns), time_cell(line.running_ns),
                   time_cell(by_state ? line.waiting_ns() : line.not_running_ns), time_cell(line.for_cpu_ns), line.call,
                   stack_cell(line.folded), first_of(line.wakers, waker_cell)});
  return section_head("TIME BY STACK", shares.stacks, kOrder, width.paint) + table.render(width);
}

std::string waiting(const TimeShares& shares, TextWidth width) {
  TextTable table({{"waited", Align::kRight},
                   {"times", Align::kRight},
                   {"longest", Align::kRight, Shrink::kNever, 0, 2},
                   {"then for a CPU", Align::kRight, Shrink::kNever, 0, 3},
                   {"state"},
                   {"in call"},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"in", Align::kLeft, Shrink::kMiddle, 8, 1},
                   {"woken by", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : shares.waiting.lines)
    table.add_row({time_cell(line.waited_ns), count_cell(line.times), time_cell(line.longest_ns),
                   time_cell(line.for_cpu_ns), std::string(state_name(line.state)), line.call,
                   trigger_cell(line.trigger), std::string(base_name(line.trigger.module)),
                   first_of(line.wakers, waker_cell)});
  return section_head("WAITING BY FUNCTION", shares.waiting, kOrder, width.paint) + table.render(width);
}

// Whether any function that is shown as a trigger is such a one.
template <typename Is>
bool any_trigger(const TimeShares& shares, const Is& is) {
  const auto in = [&](const auto& list, const auto& trigger) {
    return std::any_of(list.lines.begin(), list.lines.end(), [&](const auto& line) { return is(trigger(line)); });
  };
  const auto of = [](const auto& line) { return line.trigger; };
  return in(shares.functions, [](const auto& line) { return line.at; }) || in(shares.waiting, of) ||
         in(shares.running, of);
}

ordered_json function_json(const TimeFunction& at) {
  return {{"function", json_value(at.function)}, {"module", json_value(at.module)}, {"fallback", at.fallback}};
}

// Fields of what was not recorded are null.
ordered_json share_json(const TimeShare& line, const TimeRecorded& recorded) {
  const auto known = [](bool is_known, std::uint64_t value) { return is_known ? ordered_json(value) : ordered_json(); };
  return {{"total_ns", line.total_ns},
          {"running_ns", line.running_ns},
          {"error_ns", line.error_ns},
          {"not_running_ns", line.not_running_ns},
          {"samples", known(recorded.samples, line.samples)},
          {"user_ns", known(recorded.samples, line.user_ns)},
          {"kernel_ns", known(recorded.samples, line.kernel_ns)},
          {"times_off", known(recorded.off_cpu, line.times_off)},
          {"sleeping_ns", known(recorded.off_cpu, line.sleeping_ns)},
          {"blocked_ns", known(recorded.off_cpu, line.blocked_ns)},
          {"stopped_ns", known(recorded.off_cpu, line.stopped_ns)},
          {"for_cpu_ns", known(recorded.off_cpu, line.for_cpu_ns)},
          {"calls", known(recorded.calls, line.calls)},
          {"in_calls_ns", known(recorded.calls, line.call_ns)},
          {"in_calls_off_ns", known(recorded.calls && recorded.off_cpu, line.call_off_ns)},
          {"in_calls_sampled_ns", known(recorded.calls && recorded.samples, line.call_sampled_ns)}};
}

ordered_json wakers_json(const std::vector<analyzer::Waker>& wakers) {
  ordered_json list = ordered_json::array();
  for (const auto& waker : wakers) {
    const bool is_thread = waker.who == analyzer::Waker::Who::kThread;
    const char* who = "others";
    if (is_thread) who = "thread";
    if (waker.who == analyzer::Waker::Who::kInterrupt) who = "interrupt";
    if (waker.who == analyzer::Waker::Who::kNobody) who = "nobody";
    list.push_back({{"who", who},
                    {"pid", is_thread ? ordered_json(waker.pid) : ordered_json()},
                    {"tid", is_thread ? ordered_json(waker.tid) : ordered_json()},
                    {"thread", waker.thread.empty() ? ordered_json() : json_value(waker.thread)},
                    {"times", waker.times},
                    {"waited_ns", waker.waited_ns}});
  }
  return list;
}

template <typename Line, typename Render>
ordered_json list_json(const analyzer::TopList<Line>& list, const Render& render) {
  ordered_json lines = ordered_json::array();
  for (const Line& line : list.lines) lines.push_back(render(line));
  return {{"total", list.total}, {"lines", lines}};
}

}  // namespace

std::string time_sections(const TimeShares& shares, bool with_stacks, TextWidth width) {
  if (!shares.recorded.any()) return "";
  std::string out = whole(shares, width);
  const auto add = [&](const auto& list, const auto& render) {
    if (!list.lines.empty()) out += "\n" + render(shares, width);
  };
  add(shares.threads, times_of_threads);
  add(shares.calls, times_of_calls);
  add(shares.running, running);
  add(shares.functions, functions);
  if (with_stacks) add(shares.stacks, stacks);
  add(shares.waiting, waiting);
  return out;
}

bool shows_fallback(const TimeShares& shares) {
  return any_trigger(shares, [](const TimeFunction& at) {
    return at.fallback && !at.function.empty() && at.function != trace::kCutName;
  });
}

bool shows_cut(const TimeShares& shares) {
  return any_trigger(shares, [](const TimeFunction& at) { return at.function == trace::kCutName; });
}

ordered_json time_json(const TimeShares& shares) {
  const TimeRecorded& recorded = shares.recorded;
  const auto call = [&](const analyzer::CallTime& line) {
    ordered_json out{{"call", json_value(line.call)}, {"abi", json_value(line.abi)}};
    out.update(share_json(line, recorded));
    return out;
  };
  const auto thread = [&](const analyzer::ThreadTime& line) {
    ordered_json out{{"pid", line.pid},
                     {"tid", line.tid},
                     {"process", json_value(line.process)},
                     {"thread", json_value(line.thread)},
                     {"thread_names", ordered_json::array()}};
    for (const auto& name : line.names) out["thread_names"].push_back(json_value(name));
    out.update(share_json(line, recorded));
    out["inside"] = ordered_json::array();
    for (const auto& inside : line.inside) out["inside"].push_back(call(inside));
    return out;
  };
  const auto function = [&](const analyzer::FunctionTime& line) {
    ordered_json out = function_json(line.at);
    out.update(share_json(line, recorded));
    return out;
  };
  const auto hot = [&](const analyzer::RunningTime& line) {
    return ordered_json{{"function", json_value(line.at.function)},
                        {"module", json_value(line.at.module)},
                        {"running_ns", line.running_ns},
                        {"error_ns", line.error_ns},
                        {"samples", line.samples},
                        {"user_ns", line.user_ns},
                        {"kernel_ns", line.kernel_ns},
                        {"trigger", function_json(line.trigger)},
                        {"triggers", line.triggers}};
  };
  const auto stack = [&](const analyzer::StackTime& line) {
    ordered_json out{{"stack_id", line.stack ? ordered_json(line.stack.value()) : ordered_json()},
                     {"folded", json_value(line.folded)},
                     {"trigger", function_json(line.trigger)},
                     {"call", line.call.empty() ? ordered_json() : json_value(line.call)}};
    out.update(share_json(line, recorded));
    out["wakers"] = wakers_json(line.wakers);
    return out;
  };
  const auto waiting_line = [&](const analyzer::WaitingTime& line) {
    return ordered_json{{"state", state_name(line.state)},
                        {"call", line.call.empty() ? ordered_json() : json_value(line.call)},
                        {"trigger", function_json(line.trigger)},
                        {"times", line.times},
                        {"waited_ns", line.waited_ns},
                        {"longest_ns", line.longest_ns},
                        {"for_cpu_ns", line.for_cpu_ns},
                        {"wakers", wakers_json(line.wakers)}};
  };
  const char* which_calls = recorded.all_calls ? "all" : "some";
  ordered_json all = share_json(shares.all, recorded);
  all["difference_ns"] =
      recorded.samples && recorded.off_cpu ? ordered_json(shares.all.difference_ns()) : ordered_json();
  all["kernel_ran_ns"] = shares.kernel_ran_ns ? ordered_json(*shares.kernel_ran_ns) : ordered_json();
  all["unsampled_ns"] = shares.unsampled_ns;
  return {{"recorded",
           {{"samples", recorded.samples},
            {"off_cpu", recorded.off_cpu},
            {"calls", recorded.calls ? which_calls : "none"}}},
          {"all", all},
          {"threads", list_json(shares.threads, thread)},
          {"calls", list_json(shares.calls, call)},
          {"running", list_json(shares.running, hot)},
          {"triggers", list_json(shares.functions, function)},
          {"stacks", list_json(shares.stacks, stack)},
          {"waiting", list_json(shares.waiting, waiting_line)}};
}

std::string time_text(const TimeShares& shares, TextWidth width) {
  if (!shares.recorded.any())
    return width.paint(Ink::kHeading, "TIME") +
           "       not known: neither samples nor times off the CPU are in this trace\n"
           "           `uscope record -t sample:99 -t offcpu` records them\n";
  std::string out = time_sections(shares, true, width);
  if (shows_fallback(shares)) out += kFallbackLegend;
  if (shows_cut(shares)) out += kCutLegend;
  return out;
}

}  // namespace uscope::cli
