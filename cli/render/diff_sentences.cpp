// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/diff_sentences.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analyzer/diff/call_traits.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::Diff;

constexpr std::size_t kInnermost = 12;  // functions of a stack that are shown

// Three digits are enough for comparison.
std::string short_number(double number) {
  if (number >= 1000) return group_digits(static_cast<std::uint64_t>(std::llround(std::min(number, 1e18))));
  return fmt::format("{:.3g}", number);
}

std::string factor(double before, double after, double effect) {
  if (const std::string_view nothing = effect_word(before, after); !nothing.empty()) return std::string(nothing);
  return effect >= 1 ? short_number(effect) + "×" : "1/" + short_number(1 / effect);
}

std::string list_of_errors(const std::map<std::int64_t, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [error, events] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", analyzer::outcome_name(error), group_digits(events));
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

// Whether the lengths of the two sides differ so much that rates say less than counts.
bool lengths_differ(const Diff& diff) {
  constexpr double kMuch = 1.1;
  const double before = diff.time.length.normal.mean;
  const double after = diff.time.length.abnormal.mean;
  return std::max(before, after) > kMuch * std::min(before, after);
}

std::string ended_processes(const analyzer::EndedProcesses& side) {
  return fmt::format("{} of {}", group_digits(side.ended), group_digits(side.processes));
}

}  // namespace

std::string_view effect_word(double before, double after) {
  if (before == after) return "";
  return before == 0 ? "none before" : after == 0 ? "none now" : "";
}

std::string caller(const analyzer::CellKey& key) {
  if (key.function.empty()) return "from no application function";
  const std::string function =
      key.function == analyzer::kNameless ? "functions without a name" : printable(key.function);
  return key.module.empty() ? "in " + function : fmt::format("in {} ({})", function, printable(key.module));
}

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

std::string only_sentence(const Diff& diff, const analyzer::OnlyEntry& entry, bool abnormal) {
  const std::size_t runs = (abnormal ? diff.abnormal : diff.normal).size();
  const std::size_t others = (abnormal ? diff.normal : diff.abnormal).size();
  const std::string other = fmt::format("the {} {}", abnormal ? "normal" : "abnormal", others == 1 ? "run" : "runs");
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
    const bool is_call = analyzer::is_call_kind(cell.key.kind);
    text += fmt::format("{}: {}", where, plural(cell.events, is_call ? "call" : "event"));
    if (!cell.errors.empty()) text += fmt::format(" ({})", list_of_errors(cell.errors));
    if (cell.open != 0) text += fmt::format(", {} never returned", group_digits(cell.open));
    text += ", none in " + other;
  }
  if (runs > 1) text += fmt::format("; in {} of {} runs", cell.runs, runs);
  return text;
}

std::string time_sentence(const Diff& diff, const analyzer::PlaceShift& shift) {
  const analyzer::TimeShift& time = shift.time;
  std::string text = fmt::format("{} {}: {}, {} -> {} {}", signed_duration(time.change()), place_text(shift.place),
                                 time_shift(diff, time), short_number(time.normal.times),
                                 short_number(time.abnormal.times), shift.place.outside ? "times" : "calls");
  if (time.q) text += ", q = " + short_number(*time.q);
  return text;
}

std::string changed_sentence(const Diff& diff, const analyzer::ChangedCell& cell) {
  std::string text = fmt::format("{} {}: ", printable(cell.key.kind), caller(cell.key));
  const auto share = [](double value) { return short_number(100 * value) + " %"; };
  switch (cell.what) {
    case analyzer::Shift::kRate:
      text += fmt::format("{} {} -> {}{}", analyzer::is_call_kind(cell.key.kind) ? "calls" : "events",
                          short_number(cell.before), short_number(cell.after),
                          diff.by_work ? " for each piece of work" : " a second");
      break;
    case analyzer::Shift::kLatency:
      text += fmt::format("median {} -> {}", human_duration(cell.before), human_duration(cell.after));
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
  text += ", " + factor(cell.before, cell.after, cell.effect);
  if ((diff.by_work || lengths_differ(diff)) && cell.what == analyzer::Shift::kRate)
    text += fmt::format(" ({} -> {} {} a run)", short_number(cell.calls_before), short_number(cell.calls_after),
                        analyzer::is_call_kind(cell.key.kind) ? "calls" : "events");
  if (cell.q) text += ", q = " + short_number(*cell.q);
  return text;
}

std::string length_sentence(const Diff& diff) {
  const analyzer::TimeShift& length = diff.time.length;
  const double ratio = std::max(1.0, length.abnormal.mean) / std::max(1.0, length.normal.mean);
  return "a run took " + time_shift(diff, length) + (lengths_differ(diff) ? ", " + factor(1, 1, ratio) : "");
}

std::string no_change_sentence(const Diff& diff) {
  const analyzer::TimeShift& length = diff.time.length;
  const std::string lengths = length_sentence(diff);
  const double ratio = std::max(1.0, length.abnormal.mean) / std::max(1.0, length.normal.mean);
  if (length.q) return "no notable change: " + lengths + ", q = " + short_number(*length.q);
  if (std::max(ratio, 1 / ratio) < analyzer::kLeastUntested || analyzer::differ_untested(length))
    return "no notable change: " + lengths;
  return fmt::format(
      "too little to tell: {}; with fewer than {} runs on a side, the nearest runs of the sides must differ "
      "by a factor of {} and {} more",
      lengths, analyzer::kRunsToTest, analyzer::kLeastUntested, human_duration(analyzer::kUntestedNs));
}

std::string threads_sentence(const Diff& diff) {
  return fmt::format("all threads together: inside of calls {}, outside of calls {}",
                     time_shift(diff, diff.time.inside), time_shift(diff, diff.time.outside));
}

std::string rest_sentence(const Diff& diff) {
  double rest = diff.time.inside.change() + diff.time.outside.change();
  for (const analyzer::TimeEntry& entry : diff.places.entries) rest -= entry.shift.time.change();
  return "the rest: " + signed_duration(rest);
}

std::string argument_sentence(const analyzer::ChangedArgument& change) {
  std::string text = fmt::format("{} {}: ", printable(change.key.kind), caller(change.key));
  if (change.name.empty()) {
    const auto numbers = [](const std::vector<std::int64_t>& values) {
      return fmt::format("{}", fmt::join(values, " or "));
    };
    return text + fmt::format("argument {} is {} -> {}", change.arg + 1, numbers(change.numbers_before),
                              numbers(change.numbers_after));
  }
  text += fmt::format("{} in {} of {} -> {} of {} calls", change.name, group_digits(change.normal.calls),
                      group_digits(change.normal.examined), group_digits(change.abnormal.calls),
                      group_digits(change.abnormal.examined));
  for (const std::string& object : change.objects) text += ", " + printable(object);
  return text;
}

std::string setting_sentence(const analyzer::ChangedSetting& change) {
  const auto listed = [](const std::vector<std::string>& values, const char* between) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : between) + printable(value);
    return text;
  };
  const std::string name = printable(analyzer::setting_name(change)) + ": ";
  if (change.what != analyzer::ChangedSetting::What::kVariables)
    return name + listed(change.normal, " or ") + " -> " + listed(change.abnormal, " or ");
  std::string text;
  if (!change.abnormal.empty()) text = "only in abnormal runs " + listed(change.abnormal, ", ");
  if (!change.normal.empty())
    text += (text.empty() ? "" : "; ") + std::string("only in normal runs ") + listed(change.normal, ", ");
  return name + text;
}

std::string ending_sentence(const Diff& diff, const analyzer::ChangedEnding& change) {
  const auto& [program, code, signal] = change.ending;
  std::string text = fmt::format("{} {}: {} -> {} processes", printable(program), describe_exit(code, signal),
                                 ended_processes(change.normal), ended_processes(change.abnormal));
  if (diff.normal.size() + diff.abnormal.size() > 2)
    text += fmt::format(", in {} of {} -> {} of {} runs", change.normal.runs, diff.normal.size(), change.abnormal.runs,
                        diff.abnormal.size());
  return text;
}

std::string object_sentence(const Diff& diff, const analyzer::ChangedObject& change) {
  return fmt::format(
      "{} {}: {} -> {} bytes{}, {}", change.direction == analyzer::Direction::kRead ? "read from" : "written to",
      printable(change.object), short_number(change.before), short_number(change.after),
      diff.by_work ? " for each piece of work" : " a run", factor(change.before, change.after, change.effect));
}

}  // namespace uscope::cli
