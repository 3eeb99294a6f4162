// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cli/render/text_table.h"
#include "cli/render/units.h"
#include "support/text.h"

#include "cli/render/diff_render.h"

namespace uscope::cli {
namespace {

using analyzer::Diff;

constexpr std::size_t kInnermost = 12;  // functions of a stack that are shown

// Three digits are enough for comparison.
std::string short_number(double number) {
  if (number >= 1000) return group_digits(static_cast<std::uint64_t>(std::llround(std::min(number, 1e18))));
  return fmt::format("{:.3g}", number);
}

std::string factor(double effect) {
  return effect >= 1 ? "x " + short_number(effect) : "/ " + short_number(1 / effect);
}

std::string side(const std::string& head, const std::vector<analyzer::RunFacts>& runs) {
  std::string out;
  for (const auto& run : runs) {
    out +=
        fmt::format("{}{}  {} in {}{}\n", out.empty() ? head : std::string(head.size(), ' '), escape_terminal(run.file),
                    plural(run.events, "event"), human_duration(static_cast<double>(run.duration_ns)),
                    run.complete && run.lost == 0 ? "" : "  NOT COMPLETE");
  }
  return out;
}

std::string warnings(const Diff& diff, std::size_t width) {
  std::string out;
  for (const std::string& warning : diff.warnings) out += paragraph("  ! ", printable(warning), width);
  return out;
}

std::string caller(const analyzer::CellKey& key) {
  if (key.function.empty()) return "from no application function";
  const std::string function =
      key.function == analyzer::kNameless ? "functions without a name" : printable(key.function);
  return key.module.empty() ? "in " + function : fmt::format("in {} ({})", function, printable(key.module));
}

std::string errors(const std::map<std::int64_t, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [error, events] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", analyzer::outcome_name(error), group_digits(events));
  return text;
}

// A function without the types of its parameters, which fill lines in C++: "open_tables()" for "open_tables(THD*)".
// Parentheses that are followed by more of the name are part of it: "(anonymous namespace)::f", "operator()".
std::string short_function(const std::string& name) {
  std::size_t end = name.ends_with(") const") ? name.size() - 6 : name.size();
  if (end == 0 || name[end - 1] != ')') return name;
  std::size_t depth = 0;
  std::size_t at = end;
  do {
    at--;
    if (name[at] == ')') depth++;
    if (name[at] == '(') depth--;
  } while (at > 0 && depth > 0);
  return depth == 0 && at > 0 ? name.substr(0, at) + "()" : name;
}

// The innermost frames of a folded stack, outermost first.
std::string short_stack(const std::string& folded) {
  std::string text;
  std::size_t end = folded.size();
  for (std::size_t kept = 0; !folded.empty(); kept++) {
    if (kept == kInnermost) return "... > " + text;
    const std::size_t before = end == 0 ? std::string::npos : folded.rfind(';', end - 1);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    text.insert(0, short_function(folded.substr(start, end - start)) + (text.empty() ? "" : " > "));
    if (before == std::string::npos) break;
    end = before;
  }
  return text;
}

// The details of single events, below an entry.
std::string example(const analyzer::CellExample& example, std::size_t width) {
  std::string out;
  const std::string indent = "      ";
  if (!example.strings.empty()) {
    std::string text;
    for (const auto& string : example.strings)
      text += fmt::format("{}{} ({})", text.empty() ? "" : "  ", printable(string.value), group_digits(string.events));
    out += paragraph(indent + "arguments  ", text, width);
  }
  std::string first;
  if (example.first_ns)
    first = fmt::format("first at {} s of {}", seconds(*example.first_ns), escape_terminal(example.file));
  if (!example.threads.empty()) {
    first += first.empty() ? "threads " : ", threads ";
    for (std::size_t i = 0; i < example.threads.size(); i++) first += (i ? ", " : "") + printable(example.threads[i]);
  }
  if (!first.empty()) out += paragraph(indent + "seen       ", first, width);
  if (!example.stack.empty()) out += paragraph(indent + "stack      ", printable(short_stack(example.stack)), width);
  return out;
}

std::string only_entry(const analyzer::OnlyEntry& entry, std::size_t runs, const std::string& other) {
  const analyzer::OnlyCell& cell = entry.cell;
  const bool new_arguments = entry.new_arguments;
  std::string text = printable(cell.key.kind) + " ";
  const std::string where = caller(cell.key);
  if (cell.error) {
    if (*cell.error == analyzer::kUnconnected) {
      text += fmt::format("{} begins connections that never come about: {}, none in {}", where,
                          group_digits(cell.events), other);
    } else {
      text += fmt::format("fails with {} {}: {}{}{}", analyzer::outcome_name(*cell.error), where,
                          plural(cell.events, "time"),
                          new_arguments ? " on what it never failed on in " : ", never in ", other);
    }
  } else if (cell.never_returned) {
    text += fmt::format("never returned {}: {}, none in {}", where, plural(cell.events, "call"), other);
  } else {
    text += fmt::format("{}: {}", where, plural(cell.events, "call"));
    if (!cell.errors.empty()) text += fmt::format(" ({})", errors(cell.errors));
    if (cell.open != 0) text += fmt::format(", {} never returned", group_digits(cell.open));
    text += ", none in " + other;
  }
  if (runs > 1) text += fmt::format("; in {} of {} runs", cell.runs, runs);
  return text;
}

// "9.73 ms", of several runs "9.73 ms (9.1 ms to 10.2 ms)".
std::string time_of_side(const analyzer::TimeOfSide& time, std::size_t runs) {
  const std::string text = human_duration(time.mean);
  const std::string least = human_duration(time.least);
  const std::string most = human_duration(time.most);
  return runs < 2 || least == most ? text : fmt::format("{} ({} to {})", text, least, most);
}

std::string time_shift(const Diff& diff, const analyzer::TimeShift& time) {
  return time_of_side(time.normal, diff.normal.size()) + " -> " + time_of_side(time.abnormal, diff.abnormal.size());
}

std::string signed_duration(double ns) {
  return (ns < 0 ? "- " : "+ ") + human_duration(std::abs(ns));
}

std::string place_text(const analyzer::TimePlace& place) {
  const auto call = [](const analyzer::CellKey& key) { return printable(key.kind) + " " + caller(key); };
  const auto end = [](analyzer::GapEdge edge, const char* what) {
    if (edge == analyzer::GapEdge::kLeft) return std::string("the thread left the trace");
    return std::string(edge == analyzer::GapEdge::kTracing ? "tracing " : "the thread ") + what;
  };
  if (!place.outside) return "inside of " + call(place.call);
  return "outside of calls, after " + (place.call.kind.empty() ? end(place.since, "began") : call(place.call)) +
         ", before " + (place.next.kind.empty() ? end(place.until, "ended") : call(place.next));
}

std::string time_entry(const Diff& diff, const analyzer::PlaceShift& shift) {
  const analyzer::TimeShift& time = shift.time;
  std::string text = fmt::format("{} {}: {}, {} -> {} {}", signed_duration(time.change()), place_text(shift.place),
                                 time_shift(diff, time), short_number(time.normal.times),
                                 short_number(time.abnormal.times), shift.place.outside ? "times" : "calls");
  if (time.q) text += ", q = " + short_number(*time.q);
  return text;
}

// Whether the lengths of the two sides differ so much that rates say less than counts.
bool lengths_differ(const Diff& diff) {
  constexpr double kMuch = 1.1;
  const double before = diff.time.length.normal.mean;
  const double after = diff.time.length.abnormal.mean;
  return std::max(before, after) > kMuch * std::min(before, after);
}

std::string time_section(const Diff& diff, std::size_t width) {
  const analyzer::TimeChanges& time = diff.time;
  const std::string length = "a run took " + time_shift(diff, time.length);
  if (!time.notable) return "\n" + paragraph("WHERE THE TIME WENT  ", "no notable change: " + length, width);
  std::string out = std::string("\nWHERE THE TIME WENT, normal -> abnormal") + (diff.tested ? "\n" : ", not tested\n");
  const double ratio = std::max(1.0, time.length.abnormal.mean) / std::max(1.0, time.length.normal.mean);
  out += paragraph("      ", length + (lengths_differ(diff) ? ", " + factor(ratio) : ""), width);
  out += paragraph("      ",
                   fmt::format("all threads together: inside of calls {}, outside of calls {}",
                               time_shift(diff, time.inside), time_shift(diff, time.outside)),
                   width);
  double rest = time.inside.change() + time.outside.change();
  for (std::size_t i = 0; i < diff.places.entries.size(); i++) {
    const analyzer::TimeEntry& entry = diff.places.entries[i];
    rest -= entry.shift.time.change();
    out += paragraph(fmt::format("{:>6}", fmt::format("{}. ", i + 1)), time_entry(diff, entry.shift), width);
    if (!entry.stack.empty()) out += paragraph("      stack      ", printable(short_stack(entry.stack)), width);
  }
  return out + "      the rest: " + signed_duration(rest) + "\n";
}

std::string changed_entry(const analyzer::ChangedCell& cell, bool by_work, bool counts) {
  std::string text = fmt::format("{} {}: ", printable(cell.key.kind), caller(cell.key));
  const auto share = [](double value) { return short_number(100 * value) + " %"; };
  switch (cell.what) {
    case analyzer::Shift::kRate:
      text += fmt::format("calls {} -> {}{}", short_number(cell.before), short_number(cell.after),
                          by_work ? " for each piece of work" : " a second");
      break;
    case analyzer::Shift::kLatency:
      text += fmt::format("half take up to {} -> {}", human_duration(cell.before), human_duration(cell.after));
      break;
    case analyzer::Shift::kErrors:
      text += fmt::format("fails with {} {} -> {} of calls", analyzer::outcome_name(cell.error.value_or(0)),
                          share(cell.before), share(cell.after));
      break;
    case analyzer::Shift::kNeverReturned:
      text += fmt::format("never returned {} -> {} of calls", share(cell.before), share(cell.after));
      break;
    case analyzer::Shift::kBytes:
      text += fmt::format("moves {} -> {} bytes a call", short_number(cell.before), short_number(cell.after));
      break;
  }
  text += ", " + factor(cell.effect);
  if (counts && cell.what == analyzer::Shift::kRate)
    text += fmt::format(" ({} -> {} calls a run)", short_number(cell.calls_before), short_number(cell.calls_after));
  if (cell.q) text += ", q = " + short_number(*cell.q);
  return text;
}

template <typename Entry, typename Line>
std::string section(const std::string& title, const analyzer::RankedList<Entry>& list, std::size_t width,
                    const Line& line) {
  std::string out = "\n" + title + "  ";
  if (list.total == 0) return out + "nothing\n";
  out += group_digits(list.total);
  if (list.entries.size() < list.total) out += fmt::format(", the first {}", list.entries.size());
  out += "\n";
  for (std::size_t i = 0; i < list.entries.size(); i++) {
    const std::string number = fmt::format("{:>6}", fmt::format("{}. ", i + 1));
    out += paragraph(number, line(list.entries[i]), width) + example(list.entries[i].example, width);
  }
  return out;
}

std::string processes(const analyzer::EndedProcesses& side) {
  return fmt::format("{} of {}", group_digits(side.ended), group_digits(side.processes));
}

// Empty if all programs ended alike.
std::string endings(const Diff& diff, std::size_t width) {
  std::string out;
  for (const analyzer::ChangedEnding& change : diff.endings) {
    const auto& [program, code, signal] = change.ending;
    std::string text = fmt::format("{} {}: {} -> {} processes", printable(program), describe_exit(code, signal),
                                   processes(change.normal), processes(change.abnormal));
    if (diff.normal.size() + diff.abnormal.size() > 2)
      text += fmt::format(", in {} of {} -> {} of {} runs", change.normal.runs, diff.normal.size(),
                          change.abnormal.runs, diff.abnormal.size());
    out += paragraph("      ", text, width);
  }
  return out.empty() ? "" : fmt::format("\nENDED DIFFERENTLY, normal -> abnormal  {}\n", diff.endings.size()) + out;
}

// Empty if runs moved as many bytes.
std::string objects(const Diff& diff, std::size_t width) {
  if (diff.objects.total == 0) return "";
  std::string out = "\nBYTES MOVED, normal -> abnormal  " + group_digits(diff.objects.total);
  if (diff.objects.entries.size() < diff.objects.total)
    out += fmt::format(", the first {}", diff.objects.entries.size());
  out += "\n";
  for (const analyzer::ChangedObject& change : diff.objects.entries)
    out += paragraph("      ",
                     fmt::format("{} {}: {} -> {} bytes{}, {}",
                                 change.direction == analyzer::Direction::kRead ? "read from" : "written to",
                                 printable(change.object), short_number(change.before), short_number(change.after),
                                 diff.by_work ? " for each piece of work" : " a run", factor(change.effect)),
                     width);
  return out;
}

}  // namespace

std::string diff_text(const Diff& diff, std::size_t width) {
  const std::size_t normal = diff.normal.size();
  const std::size_t abnormal = diff.abnormal.size();
  return side("NORMAL    ", diff.normal) + side("ABNORMAL  ", diff.abnormal) + warnings(diff, width) +
         time_section(diff, width) + endings(diff, width) +
         section("ONLY IN ABNORMAL RUNS", diff.abnormal_only, width,
                 [&](const analyzer::OnlyEntry& entry) {
                   return only_entry(entry, abnormal, normal == 1 ? "the normal run" : "the normal runs");
                 }) +
         section("CHANGED, normal -> abnormal", diff.changed, width,
                 [&](const analyzer::ChangedEntry& entry) {
                   return changed_entry(entry.cell, diff.by_work, diff.by_work || lengths_differ(diff));
                 }) +
         section("ONLY IN NORMAL RUNS", diff.normal_only, width,
                 [&](const analyzer::OnlyEntry& entry) {
                   return only_entry(entry, normal, abnormal == 1 ? "the abnormal run" : "the abnormal runs");
                 }) +
         objects(diff, width);
}

}  // namespace uscope::cli
