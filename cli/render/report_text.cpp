// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/render/files_render.h"
#include "cli/render/histogram.h"
#include "cli/render/text_table.h"
#include "cli/render/time_render.h"
#include "cli/render/trigger_cell.h"
#include "cli/render/units.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "trace/names.h"
#include "trace/trigger.h"

#include "cli/render/report_render.h"

namespace uscope::cli {
namespace {

using analyzer::Summary;

constexpr std::size_t kGapEdgeWidth = 22;  // "until the thread ended"

std::string duration(std::uint64_t nanoseconds) {
  return human_duration(static_cast<double>(nanoseconds));
}

bool has_fallback(const analyzer::GapLine& line) {
  const auto starred = [](const std::optional<analyzer::CallInstance>& call) {
    return call && call->fallback && !call->function.empty() && call->function != trace::kCutName;
  };
  return starred(line.before) || starred(line.after) || (line.within && line.within->fallback);
}

bool any_gap_fallback(const Summary& summary) {
  return std::any_of(summary.gaps.lines.begin(), summary.gaps.lines.end(), has_fallback) ||
         std::any_of(summary.gap_places.list.lines.begin(), summary.gap_places.list.lines.end(),
                     [](const analyzer::GapPairLine& line) { return has_fallback(line.longest); });
}

bool any_signal_fallback(const Summary& summary) {
  const auto starred = [](const std::vector<analyzer::SignalLine::Place>& places) {
    return !places.empty() && places.front().fallback && places.front().function != trace::kCutName;
  };
  return std::any_of(summary.signals.lines.begin(), summary.signals.lines.end(),
                     [&](const auto& line) { return starred(line.sent_from) || starred(line.interrupted_in); });
}

std::string legend(const Summary& summary) {
  const auto any = [&](const auto& fits) {
    const auto in = [&](const auto& list) { return std::any_of(list.lines.begin(), list.lines.end(), fits); };
    return in(summary.triggers) || in(summary.errors) || in(summary.slowest) || in(summary.longest_waits) ||
           in(summary.open);
  };
  const auto cut = [](const auto& line) { return line.function == trace::kCutName; };
  std::string out;
  if (any_gap_fallback(summary) || any_signal_fallback(summary) || shows_fallback(summary.time) ||
      any([&](const auto& line) { return line.fallback && !line.function.empty() && !cut(line); }))
    out += kFallbackLegend;
  if (any(cut) || shows_cut(summary.time)) out += kCutLegend;
  return out;
}

template <typename Line>
std::string section(const std::string& name, const analyzer::TopList<Line>& list, const std::string& order,
                    TextTable table, TextWidth width) {
  if (list.lines.empty()) return "";
  table.set_ink("errors", Ink::kBad);
  table.set_ink("error", Ink::kBad);
  table.set_ink("open", Ink::kDoubt);
  table.set_ink("doubtful", Ink::kDoubt);
  table.set_ink("ended", ending_ink);
  return "\n" + section_head(name, list, order, width.paint) + table.render(width);
}

std::string files_section(const analyzer::TopList<analyzer::FileLine>& files, bool several_processes, TextWidth width) {
  return section("FILES", files, "with most time inside calls", files_table(files, several_processes), width);
}

std::string party_cell(const analyzer::SignalParty& party) {
  return party.pid ? fmt::format("{}[{}]", party.name.empty() ? "?" : party.name, *party.pid)
                   : std::string("the kernel");
}

std::string ending_cell(const analyzer::ProcessLine& line) {
  if (line.executed) return "executed " + *line.executed;
  if (!line.exit_code && !line.exit_signal && line.lifetime_ns) return "not known";
  if (line.stopped) return "stopped";
  const std::string how = describe_exit(line.exit_code, line.exit_signal);
  return line.ended_by ? how + " by " + party_cell(*line.ended_by) : how;
}

std::string uids_cell(const analyzer::ProcessLine& line) {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < line.uids.size() && i < kMost; i++)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", line.uids[i]);
  return line.uids.size() > kMost ? out + ", …" : out;
}

// Did a process change its user, or have another one than the others?
bool has_several_users(const Summary& summary) {
  const auto& lines = summary.processes.lines;
  return std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
    return line.uids.size() > 1 || (!line.uids.empty() && line.uids != lines.front().uids);
  });
}

std::string processes(const Summary& summary, TextWidth width) {
  TextTable table({{"pid", Align::kRight},
                   {"uid", Align::kLeft},
                   {"name", Align::kLeft, Shrink::kMiddle},
                   {"lived", Align::kRight},
                   {"ended", Align::kLeft, Shrink::kEnd},
                   {"threads", Align::kRight},
                   {"events", Align::kRight},
                   {"errors", Align::kRight},
                   {"command", Align::kLeft, Shrink::kEnd}});
  const bool shows_users = has_several_users(summary);
  for (const auto& line : summary.processes.lines)
    table.add_row({std::to_string(line.pid), shows_users ? uids_cell(line) : "", line.name,
                   line.lifetime_ns ? human_duration(static_cast<double>(*line.lifetime_ns)) : "", ending_cell(line),
                   count_cell(line.threads), count_cell(line.events), count_cell(line.errors),
                   command_line(line.argv)});
  return section("PROCESSES", summary.processes, "with most events", table, width);
}

std::string threads(const Summary& summary, TextWidth width) {
  TextTable table({{"pid/tid", Align::kRight},
                   {"process", Align::kLeft, Shrink::kMiddle},
                   {"thread", Align::kLeft, Shrink::kMiddle},
                   {"events", Align::kRight},
                   {"errors", Align::kRight, Shrink::kNever, 0, 1},
                   {"in calls", Align::kRight},
                   {"% waiting", Align::kRight},
                   {"between calls", Align::kRight}});
  for (const auto& line : summary.threads.lines)
    table.add_row({fmt::format("{}/{}", line.pid, line.tid), line.process, line.thread, count_cell(line.events),
                   count_cell(line.errors), line.total_ns ? duration(line.total_ns) : "",
                   line.total_ns ? percent(line.wait_ns, line.total_ns) : "",
                   line.between_ns ? duration(line.between_ns) : ""});
  return section("THREADS", summary.threads, "with most events", table, width);
}

std::string calls(const std::string& name, const analyzer::TopList<analyzer::CallLine>& list, TextWidth width) {
  TextTable table({{"call"},
                   {"abi"},
                   {"events", Align::kRight},
                   {"errors", Align::kRight, Shrink::kNever, 0, 1},
                   {"open", Align::kRight, Shrink::kNever, 0, 1},
                   {"total", Align::kRight},
                   {"mean", Align::kRight, Shrink::kNever, 0, 5},
                   {"median", Align::kRight, Shrink::kNever, 0, 3},
                   {"95 % below", Align::kRight, Shrink::kNever, 0, 4},
                   {"99 % below", Align::kRight, Shrink::kNever, 0, 2},
                   {"longest", Align::kRight},
                   {"bytes", Align::kRight}});
  for (const auto& line : list.lines) {
    const auto time = [&](std::uint64_t value) { return line.timed ? duration(value) : ""; };
    table.add_row({line.call, trace::is_native_abi(line.abi) ? "" : line.abi, count_cell(line.events),
                   count_cell(line.errors), count_cell(line.open), time(line.total_ns), time(line.mean_ns),
                   time(line.p50_ns), time(line.p95_ns), time(line.p99_ns), time(line.max_ns),
                   line.bytes ? human_bytes(*line.bytes) : ""});
  }
  return section(name, list, "with most time inside", table, width);
}

// What the figures of CALLS do not show: several kinds of calls in one, and how rare the long ones are.
std::string latencies(const Summary& summary, TextWidth width) {
  Spread spread;
  for (const auto* list : {&summary.calls, &summary.waits})
    for (const auto& line : list->lines) spread.include(line.spread);
  TextTable table({{"call"}, {"abi"}, {spread.scale()}});
  for (const auto* list : {&summary.calls, &summary.waits})
    for (const auto& line : list->lines)
      if (line.timed > 1)
        table.add_row({line.call, trace::is_native_abi(line.abi) ? "" : line.abi, spread.draw(line.spread)});
  if (table.empty()) return "";
  return "\n" + width.paint(Ink::kHeading, "LATENCIES") +
         "  how many calls took how long: each column doubles the time\n" + table.render(width);
}

std::string before_gap(const analyzer::GapLine& line) {
  if (line.before) return line.before->call + " in " + trigger_cell(*line.before);
  if (line.since == analyzer::GapEdge::kTracing) return line.after ? "since tracing began" : "no call while traced";
  return line.after ? "since the thread began" : "no call of the thread";
}

std::string after_gap(const analyzer::GapLine& line) {
  if (line.after) return line.after->call + " in " + trigger_cell(*line.after);
  if (line.until == analyzer::GapEdge::kLeft) return "until it left the trace";
  return line.until == analyzer::GapEdge::kTracing ? "until tracing ended" : "until the thread ended";
}

// Where the thread stayed; nothing if the stacks do not tell.
std::string within_gap(const analyzer::GapLine& line) {
  return line.within ? trigger_cell(*line.within) : "";
}

// Functions of one name in two programs are told apart by it.
std::string module_beside(const analyzer::GapLine& line) {
  if (line.within) return std::string(base_name(line.within->module));
  const auto& call = line.after ? line.after : line.before;
  return call ? std::string(base_name(call->module)) : "";
}

// The one by which its stack is found.
std::string event_beside(const analyzer::GapLine& line) {
  if (line.after) return to_string(line.after->event_id);
  return line.before ? to_string(line.before->event_id) : "";
}

std::string gap_time(std::int64_t nanoseconds) {
  return duration(static_cast<std::uint64_t>(std::max<std::int64_t>(0, nanoseconds)));
}

std::string gaps(const Summary& summary, TextWidth width) {
  TextTable table({{"lasted", Align::kRight},
                   {"from", Align::kRight, Shrink::kNever, 0, 2},
                   {"pid/tid", Align::kRight},
                   {"process", Align::kLeft, Shrink::kMiddle, 12, 3},
                   {"after", Align::kLeft, Shrink::kMiddle, kGapEdgeWidth},
                   {"before", Align::kLeft, Shrink::kMiddle, kGapEdgeWidth},
                   {"within", Align::kLeft, Shrink::kMiddle, 12, 1},
                   {"event", Align::kRight},
                   {"doubtful"}});
  bool any_doubtful = false;
  for (const auto& line : summary.gaps.lines) {
    any_doubtful = any_doubtful || line.doubtful;
    table.add_row({gap_time(line.dur_ns), seconds(line.ts_ns), fmt::format("{}/{}", line.pid, line.tid), line.process,
                   before_gap(line), after_gap(line), within_gap(line), event_beside(line),
                   line.doubtful ? "yes" : ""});
  }
  std::string out = section("GAPS BETWEEN CALLS", summary.gaps, "longest", table, width);
  if (any_doubtful) out += "  doubtful: events were lost meanwhile, and calls may be missing there\n";
  if (!out.empty() && summary.calls_left_out) out += "  not all calls were recorded: others may lie within\n";
  return out;
}

std::string gap_pairs(const Summary& summary, TextWidth width) {
  TextTable table({{"total", Align::kRight},
                   {"gaps", Align::kRight},
                   {"longest", Align::kRight},
                   {"after", Align::kLeft, Shrink::kMiddle, kGapEdgeWidth},
                   {"before", Align::kLeft, Shrink::kMiddle, kGapEdgeWidth},
                   {"within", Align::kLeft, Shrink::kMiddle, 12, 1},
                   {"in", Align::kLeft, Shrink::kMiddle, 12, 2},
                   {"event", Align::kRight}});
  for (const auto& line : summary.gap_places.list.lines)
    table.add_row({gap_time(line.total_ns), group_digits(line.gaps), gap_time(line.longest.dur_ns),
                   before_gap(line.longest), after_gap(line.longest), within_gap(line.longest),
                   module_beside(line.longest), event_beside(line.longest)});
  std::string out = section("GAPS BY PAIR OF CALLS", summary.gap_places.list, "with most time", table, width);
  if (!out.empty() && !summary.gap_places.all)
    out += fmt::format("  of the {} pairs of stacks with most time, out of {}\n", group_digits(analyzer::kGapPairsRead),
                       group_digits(summary.gap_pairs.total));
  return out;
}

std::string triggers(const Summary& summary, TextWidth width) {
  TextTable table({{"events", Align::kRight},
                   {"errors", Align::kRight},
                   {"open", Align::kRight},
                   {"total", Align::kRight},
                   {"call"},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"in", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : summary.triggers.lines)
    table.add_row({count_cell(line.events), count_cell(line.errors), count_cell(line.open), duration(line.total_ns),
                   line.call, trigger_cell(line), std::string(base_name(line.module))});
  return section("TRIGGERS", summary.triggers, "with most events", table, width);
}

std::string errors(const Summary& summary, TextWidth width) {
  TextTable table({{"events", Align::kRight},
                   {"call"},
                   {"error"},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"in", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : summary.errors.lines)
    table.add_row(
        {count_cell(line.events), line.call, line.name, trigger_cell(line), std::string(base_name(line.module))});
  return section("ERRORS", summary.errors, "most frequent", table, width);
}

std::string failed(const Summary& summary, TextWidth width) {
  TextTable table(
      {{"events", Align::kRight}, {"call"}, {"error"}, {"path, address or kind", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : summary.failed.lines.lines) {
    std::string name = line.name.value_or(kUnknownObject);
    if (line.objects.size() > 1) name += " in " + plural(line.objects.size(), "folder");
    table.add_row({count_cell(line.events), line.call, line.error, name});
  }
  std::string out = section("ERRORS BY FILE", summary.failed.lines, "most telling", table, width);
  if (summary.failed.left_out != 0)
    out += fmt::format("  {} at further objects: `uscope files --sort failures` lists these\n",
                       plural(summary.failed.left_out, "failed call"));
  if (summary.failed.searched_events == 0) return out;
  if (out.empty()) out = "\n" + width.paint(Ink::kHeading, "ERRORS BY FILE") + "  none but those of searches\n";
  return out + fmt::format("  {} whose file was found in another folder\n",
                           plural(summary.failed.searched_events, "failed call"));
}

std::string instances(const std::string& name, const analyzer::TopList<analyzer::CallInstance>& list,
                      const std::string& order, const std::string& time_title, TextWidth width) {
  TextTable table({{time_title, Align::kRight},
                   {"at", Align::kRight},
                   {"pid/tid", Align::kRight},
                   {"process", Align::kLeft, Shrink::kMiddle},
                   {"call"},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"event", Align::kRight}});
  for (const auto& line : list.lines)
    table.add_row({human_duration(static_cast<double>(line.dur_ns)), seconds(line.ts_ns),
                   fmt::format("{}/{}", line.pid, line.tid), line.process, line.call, trigger_cell(line),
                   to_string(line.event_id)});
  return section(name, list, order, table, width);
}

std::string time_spent(const Summary& summary, TextWidth width) {
  const std::string sections = time_sections(summary.time, false, width);
  return sections.empty() ? "" : "\n" + sections;
}

std::string receivers_cell(const analyzer::SignalLine& line) {
  std::set<std::int64_t> pids;
  std::vector<analyzer::SignalParty> receivers;
  for (const auto& pair : line.pairs)
    if (pids.insert(pair.receiver.pid.value_or(0)).second) receivers.push_back(pair.receiver);
  return first_of(receivers, party_cell);
}

// A line for each sender and receiver of each signal; where these are too many, a line for each signal.
std::string signals(const Summary& summary, TextWidth width) {
  TextTable table({{"signal"},
                   {"sent", Align::kRight},
                   {"ignored", Align::kRight},
                   {"delivered", Align::kRight},
                   {"by", Align::kLeft, Shrink::kMiddle},
                   {"to", Align::kLeft, Shrink::kMiddle},
                   {"sent from", Align::kLeft, Shrink::kMiddle},
                   {"delivered in", Align::kLeft, Shrink::kMiddle}});
  const auto sender = [](const analyzer::SignalLine::Sender& by) { return party_cell({by.pid, by.name}); };
  const auto place = [](const analyzer::SignalLine::Place& at) { return trigger_cell(at); };
  const auto row = [&](int signal, const auto& line, const std::string& by, const std::string& to) {
    table.add_row({syscalls::signal_name(signal), count_cell(line.sent), count_cell(line.ignored),
                   count_cell(line.delivered), by, to, first_of(line.sent_from, place),
                   first_of(line.interrupted_in, place)});
  };
  for (const auto& line : summary.signals.lines) {
    if (!summary.signal_pairs_fit) {
      row(line.number, line, first_of(line.senders, sender), receivers_cell(line));
      continue;
    }
    for (const auto& pair : line.pairs)
      row(line.number, pair, pair.sent == 0 ? "" : party_cell(pair.sender), party_cell(pair.receiver));
  }
  return section("SIGNALS", summary.signals, "most frequent", table, width);
}

std::string hints(const Summary& summary, const std::string& file, TextWidth width) {
  const std::string name = escape_terminal(file);
  std::vector<std::string> commands{"uscope tree " + name, "uscope files " + name};
  if (summary.time.recorded.any()) commands.push_back("uscope time " + name);
  commands.push_back(fmt::format("uscope events {} --stack", name));
  if (summary.trace.errors) commands.emplace_back("… --failed");
  if (summary.trace.open) commands.emplace_back("… --how open");
  std::string out = "\n";
  std::string line = "More: " + commands.front();
  for (std::size_t i = 1; i < commands.size(); i++) {
    line += ";";
    if (display_width(line) + 2 + display_width(commands[i]) <= width.columns) {
      line += " " + commands[i];
    } else {
      out += line + "\n";
      line = "      " + commands[i];
    }
  }
  return out + line + "\n";
}

}  // namespace

std::string report_text(const Summary& summary, const std::string& file, TextWidth width) {
  return report_title(summary, width) + report_head(summary, width) + processes(summary, width) +
         threads(summary, width) + time_spent(summary, width) + calls("CALLS", summary.calls, width) +
         calls("CALLS THAT WAIT", summary.waits, width) + latencies(summary, width) +
         files_section(summary.files, summary.trace.processes > 1, width) + triggers(summary, width) +
         errors(summary, width) + failed(summary, width) + signals(summary, width) +
         instances("SLOWEST CALLS", summary.slowest, "longest", "took", width) +
         instances("LONGEST WAITS", summary.longest_waits, "longest", "took", width) + gaps(summary, width) +
         gap_pairs(summary, width) + instances("NEVER RETURNED", summary.open, "longest waiting", "waited", width) +
         legend(summary) + hints(summary, file, width);
}

}  // namespace uscope::cli
