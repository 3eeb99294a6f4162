// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What stands above the lists of a report: losses, what was traced, how the stacks ended.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/read/completeness.h"
#include "cli/render/no_calls.h"
#include "cli/render/part_text.h"
#include "cli/render/text_table.h"
#include "cli/render/units.h"
#include "cli/render/wall_time.h"
#include "support/text.h"
#include "trace/loss_class.h"
#include "trace/names.h"
#include "trace/process_setting.h"
#include "trace/trigger.h"

#include "cli/render/report_render.h"

namespace uscope::cli {
namespace {

using analyzer::Summary;

constexpr std::size_t kProcessesNamed = 4;  // in one line

// Of a part of the recording.
constexpr const char* kWhatBelongs =
    "a call counts where it begins, with its whole duration; LOST, walks, UNWIND, DEBUG, VERIFIED, and when and how "
    "processes began and ended, are of the whole recording";

std::string meta(const Summary& summary, const std::string& key) {
  const auto at = summary.trace.meta.find(key);
  return at == summary.trace.meta.end() ? "" : printable(at->second);
}

// The first word of a line, and blanks up to the column in which the line goes on.
std::string heading(const std::string& word, Ink ink, TextWidth width) {
  constexpr std::size_t kColumns = 11;
  return width.paint(ink, word) + std::string(kColumns - word.size(), ' ');
}

// A heading and what stands behind it; broken only where lines are.
std::string facts_line(const std::string& word, const std::string& text, TextWidth width) {
  const std::string head = heading(word, Ink::kHeading, width);
  return width.cuts ? paragraph(head, text, width.columns) : head + text + "\n";
}

// The processes that had the loss: "(pid 12: 34, 13: 2, unknown: 1)".
std::string owners(const analyzer::LossLine& loss) {
  std::string text;
  for (std::size_t i = 0; i < std::min(loss.processes.size(), kProcessesNamed); i++) {
    const auto& share = loss.processes[i];
    if (i) text += ", ";
    text += share.pid ? fmt::format("pid {}", *share.pid) : "unknown process";
    text += ": " + group_digits(share.count);
  }
  if (loss.processes.size() > kProcessesNamed)
    text += fmt::format(" and {} more", loss.processes.size() - kProcessesNamed);
  return text;
}

// What can be done about the losses: a sentence for all causes that have the same.
std::string remedies(const Summary& summary, TextWidth width) {
  std::vector<std::pair<std::string_view, std::string>> texts;  // and the causes
  for (const auto& loss : summary.losses) {
    const std::string_view text = trace::loss_remedy(loss.cause);
    if (text.empty() || loss.count == 0) continue;
    const auto same = std::find_if(texts.begin(), texts.end(), [&](const auto& one) { return one.first == text; });
    if (same == texts.end())
      texts.emplace_back(text, loss.cause);
    else
      same->second += ", " + loss.cause;
  }
  std::string out;
  for (const auto& [text, causes] : texts) {
    const std::string line = causes + ": " + std::string(text);
    out += width.cuts ? paragraph("    ", line, width.columns) : "    " + line + "\n";
  }
  return out.empty() ? "" : "  What helps:\n" + out;
}

std::string losses(const Summary& summary, TextWidth width) {
  const bool missing = std::any_of(summary.losses.begin(), summary.losses.end(),
                                   [](const analyzer::LossLine& loss) { return loss.events_missing; });
  if (summary.losses.empty()) {
    return heading("LOST", Ink::kHeading, width) + "nothing: no loss was counted" +
           (summary.part ? " in the whole recording" : " in " + plural(summary.trace.processes, "process")) + "\n";
  }
  std::string out = heading("LOST", missing ? Ink::kBad : Ink::kDoubt, width);
  out += missing ? width.paint(Ink::kBad, analyzer::kNotComplete) + ":\n" : "no event; but:\n";
  TextTable table({{"count", Align::kRight},
                   {"cause"},
                   {"what it means", Align::kLeft, Shrink::kEnd},
                   {"where", Align::kLeft, Shrink::kEnd, 12, 1}});
  std::set<std::string, std::less<>> harmless;
  for (const auto& loss : summary.losses) {
    table.add_row({group_digits(loss.count), loss.cause, loss.meaning, owners(loss)});
    if (!loss.events_missing) harmless.insert(printable(loss.cause));
  }
  table.set_ink("cause", [&](std::string_view cause) { return harmless.contains(cause) ? Ink::kDoubt : Ink::kBad; });
  return out + table.render(width) + remedies(summary, width) + "\n";
}

// The name of the scope: "all-all" for "4".
std::string mode_name(const std::string& mode) {
  if (mode.size() != 1 || mode[0] < '1' || mode[0] > '9') return mode;
  const std::string_view name = trace::mode_name(static_cast<std::uint32_t>(mode[0] - '0'));
  return name.empty() ? mode : std::string(name);
}

// A list of facts below a heading, broken at commas.
std::string wrapped_facts(const std::string& list, TextWidth width) {
  const std::string indent(11, ' ');
  std::string out;
  std::string line = indent;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(", ", at), list.size());
    const std::string item = list.substr(at, comma - at) + (comma < list.size() ? "," : "");
    if (line != indent && display_width(line) + 1 + display_width(item) > width.columns) {
      out += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : " ") + item;
    at = comma + 2;
  }
  return out + line + "\n";
}

// Reports clock changes and suspension, which wall-clock times do not show: the trace's own clock runs evenly.
std::string clock_lines(const Summary& summary) {
  constexpr std::int64_t kNoise = 1'000'000;
  const auto number = [&](const std::string& key) -> std::int64_t {
    const std::string value = meta(summary, key);
    std::int64_t parsed = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    return problem == std::errc() && end == value.data() + value.size() ? parsed : 0;
  };
  std::string out;
  const std::string indent(11, ' ');
  const std::int64_t set = number("clock_set_ns");
  if (set <= -kNoise || set >= kNoise)
    out += fmt::format(
        "{}the system clock was set {} by {} meanwhile: wall-clock times are by what it showed at the start\n", indent,
        set < 0 ? "back" : "forward", human_duration(std::abs(static_cast<double>(set))));
  const std::int64_t suspended = number("suspended_ns");
  if (suspended >= kNoise)
    out += fmt::format("{}the machine was suspended for {} meanwhile: no time or duration here counts that\n", indent,
                       human_duration(static_cast<double>(suspended)));
  return out;
}

std::string trace_line(const Summary& summary, TextWidth width) {
  const auto& facts = summary.trace;
  const std::string figures =
      fmt::format("{} in {} ({}/s), {}, {}, {}, {}", plural(facts.events, "event"),
                  human_duration(static_cast<double>(facts.duration_ns)),
                  group_digits(static_cast<std::uint64_t>(facts.events_per_second)), plural(facts.processes, "process"),
                  plural(facts.threads, "thread"), plural(facts.program_starts, "program start"),
                  plural(facts.stacks, "distinct stack"));
  const std::string out = facts_line("TRACED", figures, width);
  std::string how = facts.began_ns ? "began " + date_and_time(*facts.began_ns) : "";
  const auto add = [&](const std::string& label, const std::string& key) {
    const std::string value = key == "mode" ? mode_name(meta(summary, key)) : meta(summary, key);
    if (!value.empty()) how += fmt::format("{}{} {}", how.empty() ? "" : ", ", label, value);
  };
  add("target", "target");
  add("scope", "mode");
  add("at most", "frames");
  if (const std::string frames = meta(summary, "frames"); !frames.empty())
    how += frames == "1" ? " frame a stack" : " frames a stack";
  if (meta(summary, "calls") != "all") add("calls", "calls");
  add("paths", "paths");
  add("backend", "backend");
  add("host", "host");
  add("kernel", "kernel");
  add("uscope", "uscope_version");
  const std::string none = facts.events == 0 && summary.losses.empty() ? no_calls_text(meta(summary, "calls")) : "";
  return out + (none.empty() ? "" : wrapped_facts(none, width)) + (how.empty() ? "" : wrapped_facts(how, width));
}

// One process's user, folder, PATH, open files, and how many variables it has. A long word that does not fit is
// shortened.
std::string setting_text(const trace::ProcessSetting& setting, TextWidth width) {
  std::string text;
  constexpr std::size_t kIndent = 12;  // and the comma behind it
  const auto add = [&](const std::string& part) {
    text += (text.empty() ? "" : ", ") +
            (width.cuts && width.columns > kIndent ? shorten(part, width.columns - kIndent, Shrink::kMiddle) : part);
  };
  if (setting.pid != 0) add(fmt::format("process {}", setting.pid));
  if (setting.uid) add(fmt::format("by uid {}", *setting.uid));
  if (setting.gid) add(fmt::format("gid {}", *setting.gid));
  if (setting.cwd) add("in " + printable(*setting.cwd));
  for (const auto& [name, value] : setting.values) add(printable(name) + "=" + printable(value));
  if (const auto files = setting.limits.find("NOFILE"); files != setting.limits.end())
    add(files->second.first == trace::ProcessSetting::kUnlimited
            ? "no limit of open files"
            : fmt::format("at most {} open files", group_digits(files->second.first)));
  if (setting.environment) add(plural(setting.environment->size(), "environment variable"));
  return text;
}

// In which settings the command or the processes that ran already were; empty if the trace does not tell.
std::string setting_lines(const Summary& summary, TextWidth width) {
  const auto found = summary.trace.meta.find("settings");
  if (found == summary.trace.meta.end()) return "";
  std::string out;
  for (const trace::ProcessSetting& setting : trace::settings_of(found->second)) {
    const std::string text = setting_text(setting, width);
    if (!text.empty()) out += out.empty() ? facts_line("STARTED", text, width) : wrapped_facts(text, width);
  }
  return out;
}

// What to record with where the budget of frames cut stacks; empty if it did not, or is as large as it may be.
std::string budget_hint(const Summary& summary) {
  const bool cut = std::any_of(summary.stack_ends.begin(), summary.stack_ends.end(), [](const auto& line) {
    return line.events > 0 && trace::stack_end(line.ended) == trace::StackEnd::kBudget;
  });
  constexpr int kMore = 256;
  int budget = 0;
  const std::string text = meta(summary, "frames");
  std::from_chars(text.data(), text.data() + text.size(), budget);
  if (!cut || budget <= 0 || budget >= USC_MAX_FRAMES) return "";
  return fmt::format("           `record -S {}` keeps deeper stacks whole\n", budget < kMore ? kMore : USC_MAX_FRAMES);
}

std::string stack_line(const Summary& summary, TextWidth width) {
  const std::uint64_t events = summary.trace.events;
  std::string parts;
  TextTable broken({{"events", Align::kRight}, {"ended"}, {"what it means", Align::kLeft, Shrink::kEnd}});
  broken.set_ink("ended", Ink::kDoubt);
  for (const auto& line : summary.stack_ends) {
    const bool is_broken = line.ended.starts_with("broken:");
    if (is_broken && line.events > 0) broken.add_row({group_digits(line.events), line.ended, line.meaning});
    if (is_broken) continue;
    const std::string share = percent(line.events, events);
    parts += parts.empty() ? "" : ", ";
    if (line.ended == "root") {
      parts += share + " are complete";
    } else if (line.ended == "budget") {
      parts += share + " stop at the budget of frames";
    } else if (line.ended == "scope") {
      parts += share + " stop at the scope";
    } else if (line.ended == "none") {
      parts += plural(line.events, "event") + " without a stack";
    } else {
      parts += share + " " + printable(line.ended);
    }
  }
  std::string out = facts_line("STACKS", parts.empty() ? "none" : parts, width);
  out += budget_hint(summary);
  const std::uint64_t guessed =
      std::accumulate(summary.stack_ends.begin(), summary.stack_ends.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const analyzer::EndedLine& line) { return sum + line.guessed; });
  if (guessed > 0)
    out += fmt::format(
        "           {} go through code without unwind data by a frame pointer it may not keep: callers may be "
        "missing\n",
        percent(guessed, events));
  if (summary.walks) {
    std::string walks = fmt::format("{}, {} of them finished in user space", plural(summary.walks->walks, "walk"),
                                    group_digits(summary.walks->deferred));
    if (summary.walks->stopped_early)
      walks += fmt::format(", {} stopped early by the scope", group_digits(summary.walks->stopped_early));
    out += paragraph("           ", walks, width.columns);
  }
  return broken.empty() ? out : out + broken.render(width);
}

std::string unwind_line(const Summary& summary, TextWidth width) {
  const auto& tables = summary.unwind;
  if (tables.files == 0 && tables.without == 0) return "";
  std::string out = fmt::format("{}data of {}: {}, {} in the kernel", heading("UNWIND", Ink::kHeading, width),
                                plural(tables.files, "file"), plural(tables.rows, "row"), human_bytes(tables.bytes));
  if (tables.without == 0) return out + "\n";
  out += fmt::format("; {} without:\n", plural(tables.without, "file"));
  TextTable table({{"file", Align::kLeft, Shrink::kMiddle}, {"why", Align::kLeft, Shrink::kEnd}});
  for (const auto& file : tables.troubles) table.add_row({file.path, file.trouble});
  return out + table.render(width);
}

std::string debug_line(const Summary& summary, TextWidth width) {
  const auto& troubles = summary.debug_troubles;
  if (troubles.total == 0) return "";
  TextTable table({{"file", Align::kLeft, Shrink::kMiddle}, {"why", Align::kLeft, Shrink::kEnd}});
  for (const auto& file : troubles.lines) table.add_row({file.path, file.why});
  return fmt::format("{}debug information of {} was not read, or not wholly:\n", heading("DEBUG", Ink::kDoubt, width),
                     plural(troubles.total, "file")) +
         table.render(width);
}

std::string verify_line(const Summary& summary, TextWidth width) {
  if (!summary.verify) return "";
  const auto& result = *summary.verify;
  const std::string out =
      fmt::format("{}{} compared with libdwfl's walk: {} equal ({})\n",
                  heading("VERIFIED", result.equal == result.samples ? Ink::kHeading : Ink::kBad, width),
                  plural(result.samples, "stack"), group_digits(result.equal), percent(result.equal, result.samples));
  TextTable table({{"event", Align::kRight},
                   {"call"},
                   {"uscope's frames", Align::kRight},
                   {"libdwfl's", Align::kRight},
                   {"first difference at", Align::kRight},
                   {"in", Align::kLeft, Shrink::kMiddle}});
  for (const auto& difference : result.differences)
    table.add_row({difference.event_id ? to_string(*difference.event_id) : "lost", difference.call,
                   std::to_string(difference.uscope_depth), std::to_string(difference.oracle_depth),
                   difference.first_difference ? std::to_string(*difference.first_difference) : "",
                   difference.function});
  return table.empty() ? out : out + table.render(width);
}

std::string io_uring_line(const Summary& summary, TextWidth width) {
  if (summary.io_uring.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(summary.io_uring.size(), kProcessesNamed); i++) {
    const auto& process = summary.io_uring[i];
    names += fmt::format("{}{} {}", i ? ", " : "", process.pid, printable(process.name));
  }
  if (summary.io_uring.size() > kProcessesNamed)
    names += fmt::format(" and {} more", summary.io_uring.size() - kProcessesNamed);
  return fmt::format("{}used by {}: operations sent that way are not system calls and not in this trace\n",
                     heading("IO_URING", Ink::kDoubt, width), names);
}

}  // namespace

std::string report_title(const analyzer::Summary& summary, TextWidth width) {
  const auto command = summary.trace.meta.find("command");
  std::string name = command == summary.trace.meta.end() ? "" : printable(command_line(command->second));
  if (name.empty()) name = meta(summary, "target");
  const std::string whole = "uscope report  " + name;
  return (width.cuts ? shorten(whole, width.columns, Shrink::kEnd) : whole) + "\n\n";
}

std::string report_head(const analyzer::Summary& summary, TextWidth width) {
  const std::string part =
      summary.part ? part_line(*summary.part, summary.trace.whole_ns, kWhatBelongs, width) : std::string();
  return losses(summary, width) + part + trace_line(summary, width) + setting_lines(summary, width) +
         clock_lines(summary) + stack_line(summary, width) + unwind_line(summary, width) + debug_line(summary, width) +
         verify_line(summary, width) + io_uring_line(summary, width);
}

}  // namespace uscope::cli
